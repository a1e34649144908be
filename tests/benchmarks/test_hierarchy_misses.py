"""Does the benchmark of misses tell what is crowded out from what is not found, and where the question's words are?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.evaluate.tokens_shown import Texts
from benchmarks.baselines import Ranking
from benchmarks.data import Dataset, Item, Question
from benchmarks.hierarchy_misses import BEHIND, NOT_FOUND, WHERE, Miss, Telling, by, misses

TURNS = tuple(Item(id=f"t{number}", text="x" * 30, speaker="Ana", session="s", seq=number) for number in range(30))
ROOM = 30  # tokens: for the heading and two of the turns
SINGLE, MULTI = {"category": 4}, {"category": 1}
RANKING = [one.id for one in TURNS]
TALK = ("It rained.", "Which bird is it?", "An owl, Ben!", "Nice.", "Oh.", "Well.", "So.", "Yes.", *("No.",) * 20)


def found(questions: list[Question], rankings: list[Ranking]) -> list[Miss]:
    return misses(Texts(Dataset("", TURNS, ())), Telling(TURNS), questions, rankings, ROOM)


def test_evidence_is_counted_by_how_far_behind_the_cut_it_stands() -> None:
    crowded_out = Question("q1", "?", gold_ids=("t0", "t3"), more=SINGLE)
    far_behind = Question("q2", "?", gold_ids=("t29",), more=MULTI)
    missed = found([crowded_out, far_behind], [RANKING, RANKING])
    rows = list(by(missed, "turns behind", [*(name for name, _ in BEHIND), NOT_FOUND], ROOM))
    told = {row["turns behind"]: (row["all"], row["single-hop"], row["multi-hop"], row["tokens"]) for row in rows}
    assert told["1 to 5"] == ("0.250", "0.250", "0.000", "9")
    assert told["21 to 100"] == ("0.500", "0.000", "0.500", "9")
    assert told["6 to 20"] == told[NOT_FOUND] == ("0.000", "0.000", "0.000", "")


def test_what_no_candidate_is_was_not_found() -> None:
    question = Question("q", "?", gold_ids=("t29",), more=SINGLE)
    assert [one.behind for one in found([question], [RANKING[:2]])] == [NOT_FOUND]


@pytest.mark.parametrize(("turn", "where"), [(1, 0), (2, 1), (0, 2), (4, 3), (5, 4)])
def test_it_says_where_the_nearest_telling_word_stands(turn: int, where: int) -> None:
    items = [Item(id=f"t{n}", text=text, speaker="Ben", session="s", seq=n) for n, text in enumerate(TALK)]
    assert Telling(items).where(Question("q", "What bird did Ben see?", gold_ids=()), f"t{turn}") == WHERE[where]


def test_a_speakers_name_and_a_word_that_many_turns_have_tell_nothing() -> None:
    items = [Item(id=f"t{n}", text=text, speaker="Ben", session="s", seq=n) for n, text in enumerate(TALK)]
    assert Telling(items).where(Question("q", "Ben, no?", gold_ids=()), "t2") == WHERE[-1]
