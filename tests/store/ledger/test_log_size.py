"""What does a logged recall cost, and does a line keep its numbers?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy
from adaptive_memory_core.learn.logged_state import STRUCK_OUT
from adaptive_memory_core.store.ledger.recall_encoding import PackedColumns, pack, unpack, with_keys
from tests.conftest import Clock, Open

RECORDS, RECALLS, WARM_UP = 200, 150, 50  # at first every record that is seen takes a row of its own, once
MOST_BYTES = 1_500


@pytest.mark.parametrize("channels", [("dense",), ("dense", "lexical")])
@pytest.mark.hard("large")
def test_a_recall_costs_at_most_1500_bytes(open_memory: Open, clock: Clock, channels: tuple[str, ...]) -> None:
    random = np.random.default_rng(1)
    memory = open_memory(policy=Policy(channels=channels))
    alice = memory.for_user("alice")
    alice.remember_many([" ".join(f"word{one}" for one in random.integers(0, 300, 12)) for _ in range(RECORDS)])
    cues = [" ".join(f"word{one}" for one in random.integers(0, 300, 8)) for _ in range(WARM_UP + RECALLS)]
    for cue in cues[:WARM_UP]:
        alice.recall(cue)
    ledger: Any = memory.ports().ledger

    def size() -> int:
        with ledger.file.reading() as sql:
            sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(ledger.file.place.stat().st_size)

    before = size()
    for cue in cues[WARM_UP:]:
        clock.pass_seconds(3_600.0)
        alice.recall(cue)
    assert (size() - before) / RECALLS <= MOST_BYTES
    assert len(alice.recalls()[0].candidates) >= 20


NUMBERS = st.integers(1, 5).flatmap(
    lambda rows: st.integers(0, 12).flatmap(
        lambda scored: st.lists(
            st.lists(st.integers(-(10**12), 10**12) | st.integers(-3, 300), min_size=scored, max_size=scored),
            min_size=rows,
            max_size=rows,
        )
    )
)


@given(numbers=NUMBERS, unscored=st.integers(0, 300), title=st.text(max_size=300))
def test_any_numbers_and_reasons_come_out_as_they_went_in(numbers: list[list[int]], unscored: int, title: str) -> None:
    scored = len(numbers[0])
    reasons = [*[None] * scored, *(f"superseded by {one} {title}" for one in range(unscored))]
    titles = [("score",), tuple(f"{title}{row}" for row in range(len(numbers) - 1))]
    columns = PackedColumns(reasons, titles, np.array(numbers, dtype=np.int64).reshape(len(numbers), scored))
    keys, found = unpack(with_keys(pack(columns), range(5, 5 + scored + unscored)))
    assert keys == list(range(5, 5 + scored + unscored))
    assert (found.reasons, found.titles) == (reasons, titles)
    assert found.numbers.tolist() == numbers


def test_what_a_floor_left_out_keeps_its_numbers_also_after_another_one_was_forgotten(
    open_memory: Open, clock: Clock
) -> None:
    alice = open_memory().for_user("alice")
    alice.remember_many(
        [{"id": "a", "text": "tea"}, {"id": "b", "text": "tea cup"}, {"id": "c", "text": "quite other"}]
    )
    alice.recall("tea", policy=Policy(min_similarity=0.5))
    clock.pass_days(1)
    alice.recall("tea", policy=Policy(min_similarity=0.99))
    last, first = alice.recalls()
    assert [(one.id, one.score, one.parts, one.reason) for one in first.candidates][-1] == (
        ("c", None, {}, "below the similarity floor")
    )
    assert set(last.candidates[-1].signals) == set(first.candidates[-1].signals) >= {"similarity", "words"}
    kept = [one for line in (last, first) for one in line.candidates if one.id != "b"]
    alice.forget("b")
    struck = [replace(one, then={**one.then, STRUCK_OUT: 1}) for one in kept]
    assert [one for line in alice.recalls() for one in line.candidates] == struck
    assert all(one.then for one in kept)
