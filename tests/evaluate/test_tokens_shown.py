"""Does the benchmark count what a model reads as it says: tokens, blocks, headings, words of the answer?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.evaluate.tokens_shown import HEADING, MOST, ShownUnit, Texts, shown_measures
from benchmarks.chunks_and_windows import naive_chunks, sliding_windows
from benchmarks.data import Dataset, Item, Question
from benchmarks.embedders import trigrams
from benchmarks.means import beside, by_category, means

DAY = 1_683_500_000.0  # 7 May 2023
SAID = (
    ("a1", "Ana", "Where did you go?", "s1"),
    ("a2", "Ben", "I went to Oslo yesterday.", "s1"),
    ("b1", "Ana", "x" * 395, "s2"),
    ("b2", "Ben", "In Oslo I bought skis.", "s2"),
)
ITEMS = tuple(
    Item(id=one, text=text, speaker=who, session=of, seq=n, ts=DAY) for n, (one, who, text, of) in enumerate(SAID)
)
DATA = Dataset("talk", ITEMS, ())
TEXTS = Texts(DATA, trigrams([item.text for item in ITEMS]))


def ask(*gold: str, answer: str = "") -> Question:
    return Question(id="q", query="Where did Ben buy skis?", gold_ids=gold, answer=answer or None, more={"category": 1})


def test_a_turn_costs_its_line_and_the_first_of_a_session_a_heading() -> None:
    read = TEXTS.read([ShownUnit(0, ["a2"]), ShownUnit(0, ["a1", "a2"]), ShownUnit(1, ["b2"])])
    lines = [len(f"{who}: {text}\n") / 4 for one, who, text, _ in SAID if one in ("a2", "a1", "b2")]
    assert read.ids == ["a2", "a1", "b2"]
    assert read.tokens == [lines[1] + HEADING, lines[0] + lines[1] + HEADING, sum(lines) + 2 * HEADING]
    assert read.blocks == [0, 0, 1]


def test_evidence_counts_within_its_budget_and_what_is_never_shown_costs_everything() -> None:
    row = shown_measures(TEXTS, ask("a2", "b2"), [ShownUnit(0, ["a2"]), ShownUnit(1, ["b1"])])
    assert (row["r250"], row["r2000"], row["all 1000"], row["tokens to all"]) == (0.5, 0.5, 0.0, MOST)
    row = shown_measures(TEXTS, ask("a2", "b2"), [ShownUnit(0, ["a2"]), ShownUnit(1, ["b2"])])
    assert row["r250"] == 1.0
    assert row["tokens to all"] < 40


def test_an_answer_is_intact_with_its_question() -> None:
    assert shown_measures(TEXTS, ask("a2"), [ShownUnit(0, ["a2"])])["intact 500"] == 0.0
    assert shown_measures(TEXTS, ask("a2"), [ShownUnit(0, ["a1", "a2"])])["intact 500"] == 1.0


def test_an_answer_is_covered_by_words_and_by_the_day_that_yesterday_was() -> None:
    row = shown_measures(
        TEXTS, ask("a2", answer="6 May 2023, skis"), [ShownUnit(0, ["a2"]), ShownUnit(1, ["b1"]), ShownUnit(2, ["b2"])]
    )
    assert (row["covered"], row["blocks to cover"]) == (1.0, 3)
    assert shown_measures(TEXTS, ask("a2", answer="Rome"), [ShownUnit(0, ["a2"])])["covered"] == 0.0


def test_what_repeats_is_redundant() -> None:
    twice = shown_measures(TEXTS, ask("a2"), [ShownUnit(0, ["a2"]), ShownUnit(1, ["b2"])])["redundancy"]
    assert 0.0 < twice < 0.9
    assert shown_measures(TEXTS, ask("a2"), [ShownUnit(0, ["a2", "b2"])])["redundancy"] == 0.0


def test_comparisons_are_over_what_both_know() -> None:
    assert beside([{"a": 1.0}, {}], [{"a": 2.0}, {"a": 5.0}], "a") == 0.5
    assert beside([{}], [{"a": 5.0}], "a") is None
    assert means([{"a": 1.0, "b": 3.0}, {"a": 2.0}]) == {"a": 1.5, "b": 3.0}
    assert by_category([ask("a2")], [{"r500": 0.5}], "r500", lambda one: str(one.more["category"])) == {"1": 0.5}


@pytest.mark.parametrize("named", [True, False])
def test_the_nearest_chunk_and_window_come_first(named: bool) -> None:
    chunks = naive_chunks(DATA, trigrams, named=named)(ask("b2"))
    assert [list(unit.ids) for unit in chunks] == [["b1", "b2"], ["a1", "a2"]] or chunks[0].ids == ["a1", "a2"]
    windows = sliding_windows(DATA, trigrams)(ask("b2"))
    assert windows[0].ids == ["b2"]
