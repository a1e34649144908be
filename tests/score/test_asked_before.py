"""A remembered question lifts what it was about, and not over something that this question stands nearer to by now."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive_memory_core.learn.asked_before import asked_before, fallen_behind, from_baseline
from adaptive_memory_core.policy.learning import AGAINST, AHEAD, NEAR, PART, TRUSTED
from adaptive_memory_core.records import Hit, Record
from adaptive_memory_core.score.ranking import as_candidates


def hit(name: str, similarity: float, *, near: float = 0.0, trusted: float = 0.0, ahead: float = 0.0) -> Hit:
    leads = {NEAR: near, TRUSTED: trusted, AGAINST: 0.0, AHEAD: 0.5 + 0.5 * ahead}
    return Hit(Record(name, name), similarity, name, leads)


def gains(*hits: Hit, unrelated: float = 0.0) -> list[float]:
    """Among others that have nothing to do with the query."""
    among = [*hits, *(hit(f"unrelated {number}", unrelated) for number in range(5))]
    these = as_candidates(among)
    shares = {"similarity": np.array(from_baseline(these.columns.similarities))}
    found = asked_before(shares, these.leads, these.columns.similarities, 1.0)[PART]
    return [float(one) for one in found[: len(hits)]]


def test_what_stands_as_it_stood_rises_in_full() -> None:
    assert gains(hit("asked", 0.4, near=0.8, trusted=1.0, ahead=-0.1), hit("other", 0.5)) == pytest.approx([0.4, 0.0])


def test_it_rises_less_by_half_as_much_again_as_something_else_has_come_before_it() -> None:
    rising = gains(hit("asked", 0.4, near=0.8, trusted=1.0, ahead=-0.1), hit("never asked", 0.6))
    assert rising == pytest.approx([0.25, 0.0])


def test_an_embedder_whose_similarities_are_all_high_changes_nothing() -> None:
    high = [hit("asked", 0.7 + 0.3 * 0.4, near=0.8, trusted=1.0, ahead=-0.1), hit("never asked", 0.7 + 0.3 * 0.6)]
    assert gains(*high, unrelated=0.7) == pytest.approx([0.25, 0.0])


def test_it_never_falls_for_that() -> None:
    assert gains(hit("asked", 0.1, near=0.4, trusted=1.0, ahead=0.3), hit("never asked", 0.9)) == [0.0, 0.0]


def test_where_nobody_knows_how_it_stood_it_rises_in_full() -> None:
    unknown = hit("asked", 0.4, near=0.8, trusted=1.0, ahead=-1.0)
    assert gains(unknown, hit("never asked", 0.9)) == pytest.approx([0.4, 0.0])


def test_one_by_itself_stands_behind_nobody() -> None:
    assert fallen_behind([0.2], [0.75]) == [0.0]
