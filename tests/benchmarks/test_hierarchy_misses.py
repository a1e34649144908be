"""Does the benchmark of misses tell what is crowded out from what is not found?"""

from __future__ import annotations

from adaptive_memory_core.evaluate.tokens_shown import Texts
from benchmarks.data import Dataset, Item, Question
from benchmarks.hierarchy_misses import NOT_FOUND, missed

TURNS = tuple(Item(id=f"t{number}", text="x" * 30, speaker="Ana", session="s") for number in range(30))
ROOM = 30  # tokens: for the heading and two of the turns
SINGLE, MULTI = {"category": 4}, {"category": 1}
RANKING = [one.id for one in TURNS]


def test_evidence_is_counted_by_how_far_behind_the_cut_it_stands() -> None:
    crowded_out = Question("q1", "?", gold_ids=("t0", "t3"), more=SINGLE)
    far_behind = Question("q2", "?", gold_ids=("t29",), more=MULTI)
    rows = list(missed(Texts(Dataset("", TURNS, ())), [crowded_out, far_behind], [RANKING, RANKING], ROOM))
    told = {row["turns behind"]: (row["all"], row["single-hop"], row["multi-hop"], row["tokens"]) for row in rows}
    assert told["1 to 5"] == ("0.250", "0.250", "0.000", "9")
    assert told["21 to 100"] == ("0.500", "0.000", "0.500", "9")
    assert told["6 to 20"] == told[NOT_FOUND] == ("0.000", "0.000", "0.000", "")


def test_what_no_candidate_is_was_not_found() -> None:
    question = Question("q", "?", gold_ids=("t29",), more=SINGLE)
    rows = list(missed(Texts(Dataset("", TURNS, ())), [question], [RANKING[:2]], ROOM))
    assert [row["turns behind"] for row in rows if row["all"] == "1.000"] == [NOT_FOUND]
