"""Do vectors count less where they cannot tell the candidates apart, whatever scale their similarities have?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.fuse import relevances
from adaptive_memory_core.channels.told_apart import AS_GIVEN, kept, stretch, told_apart
from adaptive_memory_core.policy.fusion import MEASURED, Fusion
from adaptive_memory_core.records import Hit, Record

KNOWN, UNKNOWN = Fusion(spread=0.0), Fusion()
PIECES = [0.80, 0.79, 0.79, 0.78, 0.78, 0.77, 0.77, 0.76, 0.76, 0.75, 0.74, 0.30, 0.10]  # of one page, and two others
SINGLED_OUT = [0.80, 0.55, *[0.40] * 10, 0.10]


def hits(close: list[float], words: list[float], chance: float) -> list[Hit]:
    leads = [{"words": one, "chance": chance} for one in words]
    return [Hit(Record(str(n), "x"), like, str(n), leads[n]) for n, like in enumerate(close)]


def best(close: list[float], chance: float, fusion: Fusion) -> int:
    """Which is ranked first, if words are a little more for the last but two, and vectors for the first."""
    words = [0.30, *[0.0] * (len(close) - 4), 0.33, 0.0, 0.0]
    found = relevances(hits(close, words, chance), fusion, {}, 0.0)
    worth = [sum(row) for row in zip(*found.values(), strict=True)]
    return worth.index(max(worth))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30), st.floats(0.0, 1.0))
def test_the_ranking_hardly_hangs_on_how_alike_an_embedder_finds_all_texts(close: list[float], offset: float) -> None:
    assert stretch([0.75 + 0.25 * one for one in close], UNKNOWN) >= stretch(close, UNKNOWN)
    assert abs(stretch([offset + one for one in close], UNKNOWN) - stretch(close, UNKNOWN)) < 1e-6


@given(st.lists(st.floats(0.0, 1.0), max_size=30), st.floats(0.01, 1.0), st.floats(0.0, 1.0))
def test_an_unknown_scale_does_not_change_what_vectors_keep(close: list[float], factor: float, offset: float) -> None:
    scaled = [offset + factor * one for one in close]
    assert 0.0 <= kept(close, UNKNOWN) <= 1.0
    if not close or max(close) - min(close) > 1e-3:  # less than that is lost in rounding
        assert abs(kept(scaled, UNKNOWN) - kept(close, UNKNOWN)) < 1e-6


def test_sure_words_decide_among_pieces_of_one_page() -> None:
    assert best(PIECES, 1e-6, Fusion(spread=0.0, apart=0.0)) == 0
    assert best(PIECES, 1e-6, KNOWN) == len(PIECES) - 3


@pytest.mark.parametrize("fusion", [KNOWN, UNKNOWN])
def test_vectors_that_single_one_out_keep_their_part(fusion: Fusion) -> None:
    assert told_apart(hits(SINGLED_OUT, [0.0] * 13, 1e-6), fusion).kept == 1.0


def test_where_words_are_not_sure_nothing_changes() -> None:
    assert told_apart(hits(PIECES, [0.0] * 13, 0.5), KNOWN) == AS_GIVEN


def test_a_handful_of_candidates_tells_nothing() -> None:
    assert kept(PIECES[:9], KNOWN) == 1.0


@given(st.lists(st.floats(-1.0, 0.0), min_size=10, max_size=20))
def test_similarities_below_nothing_tell_nothing(close: list[float]) -> None:
    assert kept(close, KNOWN) == 1.0


def test_for_the_bundled_embedder_everything_stays_as_measured() -> None:
    assert kept(PIECES, MEASURED["wordllama-l2-supercat-256"]) == 1.0
