"""The rules that the mutation run takes out are in the code, each of them once, and their races in the table."""

from __future__ import annotations

import ast

from benchmarks.race_mutations import RULES, mutated
from tests.store.chroma.test_races import STEPS


def test_every_rule_that_is_taken_out_is_in_the_code_once_and_has_a_race() -> None:
    for rule in RULES:
        ast.parse(mutated(rule))
        assert rule.race.rpartition(" (")[0] in STEPS
