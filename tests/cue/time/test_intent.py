"""Is it understood when a question asks about? The table of questions in two halves, and what else may come along."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import English, Intent, Sign, Window
from adaptive_memory_core.cue.time.intent import LONGEST_READ, understand
from tests.cue.time.questions import ASKED_AT, FOUND, QUESTIONS, Question

CENTURY = 100 * 365 * 86_400.0


def asked(text: str, now: float = ASKED_AT) -> Intent:
    return understand(text, [English()], now=now)


def seconds(day: str) -> float | None:
    return datetime.fromisoformat(day).replace(tzinfo=timezone.utc).timestamp() if day else None


def same(one: Window, other: Window) -> bool:
    """Half of the shorter lies in the longer, which is at most four times as long; open ends count as a century."""
    ends = [
        (ASKED_AT - CENTURY if w.start is None else w.start, ASKED_AT + 86_400 if w.end is None else w.end)
        for w in (one, other)
    ]
    common = min(end for _, end in ends) - max(start for start, _ in ends)
    short, long = sorted(end - start for start, end in ends)
    if short == 0.0:  # a moment of the day
        return common >= 0 and long <= 3_600 * 13
    return common >= short / 2 and long <= 4 * short


def right(question: Question, intent: Intent) -> bool:
    if question.kind != "window":
        return (intent.lean or ("window" if intent.windows else "none")) == question.kind
    wanted = [Window(seconds(start), seconds(end)) for start, end in question.windows]
    return len(wanted) == len(intent.windows) and all(any(same(w, g) for g in intent.windows) for w in wanted)


def precision_and_recall(questions: list[Question]) -> tuple[float, float]:
    answers = [(question, asked(question.text)) for question in questions]
    found = sum(question.kind != "none" and right(question, intent) for question, intent in answers)
    fired = sum(bool(intent) for _, intent in answers)
    return found / fired, found / sum(question.kind != "none" for question in questions)


def test_the_table_has_enough_of_each_kind_in_both_halves() -> None:
    assert len(QUESTIONS) >= 160
    assert len({question.text for question in QUESTIONS}) == len(QUESTIONS)
    for half in (True, False):
        kinds = [question.kind for question in QUESTIONS if question.tuned_on is half]
        assert all(kinds.count(kind) >= 5 for kind in ("none", "window", "past", "earliest", "present"))


@pytest.mark.parametrize(("tuned_on", "least"), [(True, 0.98), (False, 0.95)], ids=["tuned on", "held out"])
def test_precision_and_recall_stay_above_the_floor(tuned_on: bool, least: float) -> None:
    precision, recall = precision_and_recall([one for one in QUESTIONS if one.tuned_on is tuned_on])
    assert precision >= least
    assert recall >= least


@pytest.mark.parametrize("question", [one for one in QUESTIONS if one.tuned_on], ids=lambda one: one.text[:50])
def test_what_the_rules_were_tuned_on_is_understood(question: Question) -> None:
    assert right(question, asked(question.text)), asked(question.text)


@pytest.mark.parametrize("question", FOUND, ids=lambda one: one.text[:50])
def test_what_was_misread_once_is_understood(question: Question) -> None:
    intent = asked(question.text)
    assert right(question, intent), intent
    for (start, end), window in zip(question.windows, intent.windows, strict=True):
        if "mid-" not in question.text and "ortnight" not in question.text:
            assert window == Window(seconds(start), seconds(end))


def test_words_that_only_look_like_time_are_no_time() -> None:
    for trap in ("you may march on", "the second one", "now that we know", "a present", "date fruit", "1984 by Orwell"):
        assert not asked(f"what about {trap}?"), trap


@pytest.mark.parametrize("text", ["what did we do on friday", "where was I in june", "which tasks from last week"])
def test_small_letters_are_as_good_as_capitals(text: str) -> None:
    assert asked(text).windows == asked(text.title()).windows != ()


@pytest.mark.parametrize("named", ["in May", "last week", "on 9 May 2025", "before March", "in Q1 2026", "3 days ago"])
def test_a_named_day_week_month_or_quarter_has_exact_ends(named: str) -> None:
    assert [window.soft_seconds for window in asked(f"what did we do {named}?").windows] == [0.0]


@pytest.mark.parametrize(
    ("vague", "days"),
    [
        *(("three weeks ago", 3.5), ("around June 2025", 15), ("in early April", 5), ("the other day", 5)),
        *(("in the last 30 days", 15), ("more than 20 days ago", 10), ("in the summer of 2025", 46)),
    ],
)
def test_the_ends_of_a_vague_time_are_as_soft_as_half_its_length(vague: str, days: float) -> None:
    assert [window.soft_seconds for window in asked(f"what did we do {vague}?").windows] == [days * 86_400]


def test_typographic_apostrophes_are_apostrophes() -> None:
    typographic = "what were yesterday\u2019s results?"
    assert asked(typographic).windows == asked("what were yesterday's results?").windows != ()


def test_a_date_in_quotes_is_a_title() -> None:
    assert not asked('who wrote "A summer in 2019"?')


def test_days_are_those_of_the_zone() -> None:
    east = timezone(timedelta(hours=10))
    utc, there = (
        understand("yesterday?", [English(zone=zone)], now=ASKED_AT).windows[0] for zone in (timezone.utc, east)
    )
    assert utc.start is not None
    assert there.start is not None
    assert utc.start - there.start == 10 * 3_600


@pytest.mark.parametrize(("day_first", "month"), [(False, 3), (True, 4)])
def test_whether_the_day_comes_first_can_be_said(day_first: bool, month: int) -> None:
    window = understand("on 3/4/2021?", [English(day_first=day_first)], now=ASKED_AT).windows[0]
    assert window.start is not None
    assert datetime.fromtimestamp(window.start, timezone.utc).month == month


def test_a_time_to_come_is_no_time_to_look_back_at() -> None:
    for text in (
        "what is due next week?",
        "who comes tomorrow?",
        "what will happen in 2031?",
        "what do I do on Friday, remind me",
    ):
        assert not asked(text), text


def test_a_pasted_document_says_nothing_of_when() -> None:
    assert asked("what did I do yesterday?")
    assert not asked("what did I do yesterday? " + "x" * LONGEST_READ)


def test_another_language_is_a_function() -> None:
    def german(text: str, now: float) -> Iterator[Sign]:
        if "gestern" in text.lower():
            yield Sign("gestern", Window(now - 86_400, now))
        if "damals" in text.lower():
            yield Sign("damals", lean="past")

    assert understand("Was war gestern?", [English(), german], now=ASKED_AT).windows == (
        Window(ASKED_AT - 86_400, ASKED_AT),
    )
    assert understand("Wo wohnte ich damals?", [german], now=ASKED_AT).lean == "past"
    assert understand("what happened yesterday?", [german], now=ASKED_AT) == Intent()


def test_a_named_time_counts_for_more_than_a_lean_and_opposites_cancel_out() -> None:
    assert asked("what did we originally plan in May 2020?").lean is None
    assert asked("what did we originally plan in May 2020?").windows
    assert not asked("what do I currently do that I previously hated?")


@pytest.mark.parametrize("now", [0.0, -1e15, 1e15, -62_000_000_000.0, 2.5e11])
def test_any_clock_will_do(now: float) -> None:
    for question in QUESTIONS[:60]:
        for window in asked(question.text, now).windows:
            assert all(end is None or math.isfinite(end) for end in (window.start, window.end))


HEAP = (
    "in on at the since before between and from to may March 2019 31 February last week years ago three a few now "
    "first summer 2020-02-30 99/99/2020 Q3 1990s yesterday of ' \" half couple early until 0 th 5th"
)
WORDS = st.sampled_from(HEAP.split())


@given(st.lists(WORDS, max_size=12))
def test_any_heap_of_such_words_is_survived_and_ends_come_after_beginnings(words: list[str]) -> None:
    for window in asked(" ".join(words)).windows:
        assert window.start is None or window.end is None or window.start < window.end
        assert window.start is None or window.start <= ASKED_AT


@given(st.text(max_size=200))
def test_any_text_is_survived(text: str) -> None:
    asked(text)


def test_a_long_heap_of_dates_is_read_and_does_not_hang() -> None:
    for text in (
        "between " * 120,
        "1 may " * 150,
        "last few " * 110,
        "in 2019 " * 120,
        "a " * 490,
        "-" * 990,
        "9/" * 490,
    ):
        asked(text)
