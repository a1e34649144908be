"""Does the newest of what says the same come first, and does nothing else move?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from adaptive_memory_core.cue.time.intent import NO_INTENT, Intent, Window
from adaptive_memory_core.records import Hit, Record, Scored
from adaptive_memory_core.score.newest_first import NewestFirstQuery, newest_first
from adaptive_memory_core.score.ranking import Ranking, as_candidates

CUE = "Where does Ilse live?"


def ranked(*texts: str, days: Sequence[float | None] | None = None, speakers: Sequence[str] = ()) -> Ranking:
    """The texts, best first; each a day newer than the one before it, unless told otherwise."""
    times = list(range(len(texts))) if days is None else list(days)
    found = []
    for number, (text, time) in enumerate(zip(texts, times, strict=True)):
        stored = {"speaker": speakers[number]} if speakers else {}
        record = Record(text, text, created_at=None if time is None else float(time), stored=stored)
        found.append(Hit(record, 0.9 - 0.1 * number, text))
    return in_that_order(found)


def in_that_order(hits: Sequence[Hit], scores: Sequence[float] = ()) -> Ranking:
    """A ranking of hits that are given best first, by these scores or by similarity."""
    scores = scores or [one.similarity for one in hits]
    return Ranking(as_candidates(hits), range(len(hits)), scores, {"similarity": scores}, {})


def texts_of(found: Sequence[Scored]) -> list[str]:
    return [one.text for one in found]


def first(cue: str, *texts: str, **more: Any) -> str:
    intent = more.pop("intent", NO_INTENT)
    return newest_first(ranked(*texts, **more), NewestFirstQuery(cue, "speaker"), intent)[0].text


OSLO, ROME, TURIN = "Ilse lives in Oslo.", "Ilse lives in Rome.", "Ilse lives in Turin."


def test_three_versions_come_newest_first_and_the_older_ones_are_marked() -> None:
    given = ranked(OSLO, "Colm has a cat.", ROME, "Colm has a dog at home.", TURIN)
    found = newest_first(given, NewestFirstQuery(CUE, "speaker"), NO_INTENT)
    assert texts_of(found) == [TURIN, ROME, "Colm has a cat.", OSLO, "Colm has a dog at home."]
    assert [one.older_than for one in found] == [None, TURIN, None, TURIN, None]
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(sum(one.parts.values()) == pytest.approx(one.score) for one in found)


def test_any_order_of_the_candidates_gives_the_versions_in_the_order_of_time() -> None:
    """Whatever was read or praised before."""
    chance = random.Random(1)
    pairs = list(zip((OSLO, ROME, TURIN, "Ilse lives in Graz."), (1, 2, 3, 4), strict=True))
    for _ in range(24):
        chance.shuffle(pairs)
        given = ranked(*(text for text, _ in pairs), days=[day for _, day in pairs])
        found = newest_first(given, NewestFirstQuery(CUE, "speaker"), NO_INTENT)
        assert [one.record.created_at for one in found] == [4, 3, 2, 1]


def test_a_change_in_other_words_comes_first() -> None:
    assert first(CUE, OSLO, "Colm lives in Rome.", "Ilse has moved to Turin.", "Ilse has a cat.") == (
        "Ilse has moved to Turin."
    )


@pytest.mark.parametrize(
    ("cue", "newer"),
    [
        (CUE, "Colm lives in Turin."),  # another person
        ("who lives in Oslo?", "Colm lives in Oslo."),
        (CUE, "Ilse's brother lives in Turin."),
        (CUE, "Ilse works at Acme."),  # another thing about her
        (CUE, "Does Ilse live in Turin?"),
        (CUE, 'Colm said: "Ilse lives in Turin."'),  # what somebody said
        (CUE, "Ilse used to live in Turin."),
        (CUE, "Ilse lives"),  # nothing that is new
        ("did Ilse live in Oslo?", "Ilse lives in Turin."),
    ],
)
def test_what_says_something_else_does_not_pass(cue: str, newer: str) -> None:
    assert first(cue, OSLO, "Ilse has a cat.", "Ilse likes tea.", newer) == OSLO


@pytest.mark.parametrize(
    "cue",
    ["where did Ilse live?", "where did Ilse live before?", "Ilse's home over the years", "Ilse's first home in Oslo"],
)
def test_who_asks_for_the_past_gets_it(cue: str) -> None:
    assert first(cue, OSLO, TURIN) == OSLO


@pytest.mark.parametrize("intent", [Intent((Window(0.0, 1.0),)), Intent(lean="past"), Intent(lean="earliest")])
def test_a_time_that_is_asked_about_decides(intent: Intent) -> None:
    assert first(CUE, OSLO, TURIN, intent=intent) == OSLO
    assert first(CUE, OSLO, TURIN, intent=Intent(lean="present")) == TURIN


def test_no_longer_is_news() -> None:
    assert first(CUE, OSLO, "Ilse no longer lives in Oslo.") == "Ilse no longer lives in Oslo."


@pytest.mark.parametrize("days", [[5, 5], [None, None], [5, None], [None, 5], [5, 4]])
def test_one_time_or_an_unknown_one_changes_nothing(days: Sequence[float | None]) -> None:
    assert first(CUE, OSLO, TURIN, days=days) == OSLO


def test_what_began_later_is_newer_whenever_it_was_written() -> None:
    early = Record("a", OSLO, created_at=9.0, valid_from=1.0)
    late = Record("b", TURIN, created_at=5.0, valid_from=2.0)
    given = in_that_order([Hit(one, 0.5, one.id) for one in (early, late)])
    assert newest_first(given, NewestFirstQuery(CUE, "speaker"), NO_INTENT)[0].id == "b"


def test_i_is_somebody_else_in_anothers_words() -> None:
    home, new = "I live in Oslo.", "I live in Turin."
    assert first("where do I live?", home, new, speakers=("ana", "ana")) == new
    assert first("where do I live?", home, new, speakers=("ana", "ben")) == home
    assert first(CUE, OSLO, TURIN, speakers=("ana", "ben")) == TURIN  # both name whom they speak of


def test_who_speaks_is_not_whom_it_is_about() -> None:
    """As in transcripts, where the speaker stands before each line."""
    said = "Ilse: I live in Oslo, by the sea."
    assert first(CUE, said, "Ilse: That was nice.", "Ilse: I like it.", "Ilse: I have seen Turin now.") == said


@pytest.mark.parametrize(
    ("cue", "older", "newer", "is_newer"),
    [
        ("What is my phone number?", "My phone number is 456.", "My sister's phone number is 789.", False),
        ("What is my phone number?", "My sister's phone number is 789.", "My phone number is 456.", False),
        ("What is Ana's number?", "Ana's phone number is 456.", "Ana's sister's phone number is 789.", False),
        ("Whose is the red car?", "The red car is Ana's.", "The red car is Ben's.", True),
    ],
)
def test_what_is_said_of_somebodys_is_said_of_another(cue: str, older: str, newer: str, is_newer: bool) -> None:
    assert first(cue, older, newer) == (newer if is_newer else older)
    found = newest_first(ranked(older, newer), NewestFirstQuery(cue, "speaker"), NO_INTENT)
    assert [one.older_than for one in found] == ([None, newer] if is_newer else [None, None])


def test_a_callers_facts_replace_our_rules() -> None:
    given = ranked(OSLO, "She packed her things for Turin.", TURIN)
    facts = {OSLO: "home", "She packed her things for Turin.": "home", TURIN: None}
    found = newest_first(given, NewestFirstQuery(CUE, "speaker", facts), NO_INTENT)
    assert texts_of(found)[0] == "She packed her things for Turin."
