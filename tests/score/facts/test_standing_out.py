"""Is a change of a relation in no lexicon told by how it stands out among all that is said of the subject?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from adaptive_memory_core.cue.time.intent import NO_INTENT
from adaptive_memory_core.policy import Updates
from adaptive_memory_core.records import Hit, Record, Scored
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.standing_out import nearness
from adaptive_memory_core.score.facts.statement import statement
from adaptive_memory_core.score.facts.unknown_relation import may_change, may_replace
from adaptive_memory_core.score.newest_first import newest_first

CUE = "Who is my barber?"
BARBER, WALKS, CHESS = "My barber is Kofi.", "I walk by the river.", "I have taken up chess now."
LATE = "I'm often late these days."
NEW = "I get my hair done at Luigi's now."
ABOUT = {  # what all share, barbers, walks, chess
    BARBER: (0.6, 0.8, 0.0, 0.0),
    NEW: (0.8, 0.6, 0.0, 0.0),
    WALKS: (0.8, 0.0, 0.6, 0.0),
    CHESS: (0.8, 0.0, 0.0, 0.6),
    LATE: (0.8, -0.3, 0.4, 0.3),
}
NEAR = {BARBER: 0.9, NEW: 0.6, WALKS: 0.3, CHESS: 0.3, LATE: 0.2}


def found(texts: Sequence[str], cue: str = CUE, vectors: Mapping[str, Sequence[float]] = ABOUT) -> Sequence[Scored]:
    """What comes of these texts, told a day after one another, when the cue is asked."""
    order = sorted(texts, key=lambda text: -NEAR[text])
    hits = [Hit(Record(text, text, created_at=float(texts.index(text))), NEAR[text], text) for text in order]
    ranked = [Scored(hit, hit.similarity, {"similarity": hit.similarity}, {}) for hit in hits]
    return newest_first(ranked, cue, Updates(), NO_INTENT, speaker="speaker", vectors=vectors)


def test_a_change_in_other_words_that_stands_out_comes_first() -> None:
    first, second, *_ = found([BARBER, WALKS, CHESS, NEW])
    assert (first.text, second.text) == (NEW, BARBER)
    assert second.hit.older_than == NEW
    assert second.hit.older_perhaps


def test_what_replaced_that_in_turn_comes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    last = "Mona cuts my hair these days."
    vectors = {**ABOUT, last: (0.8, 0.55, 0.05, 0.0)}
    monkeypatch.setitem(NEAR, last, 0.5)
    first, second, third, *_ = found([BARBER, WALKS, CHESS, NEW, last], vectors=vectors)
    assert (first.text, second.text, third.text) == (last, NEW, BARBER)
    assert third.hit.older_than == last


def test_an_event_that_says_of_no_change_does_where_it_gives_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    swapped, met = "I swapped him for Luigi.", "I met Luigi on Monday."
    for event in (swapped, met):
        monkeypatch.setitem(NEAR, event, NEAR[NEW])
        vectors = {**ABOUT, event: ABOUT[NEW]}
        assert (found([BARBER, WALKS, CHESS, event], vectors=vectors)[0].text == event) is (event == swapped)


def test_a_change_of_something_else_does_not() -> None:
    after = found([BARBER, WALKS, CHESS, LATE])
    assert after[0].text == BARBER
    assert all(one.older_than is None for one in after)


def test_what_was_said_before_does_not() -> None:
    assert found([NEW, WALKS, CHESS, BARBER])[0].text == BARBER


def test_without_vectors_it_is_left_where_it_is() -> None:
    assert found([BARBER, WALKS, CHESS, NEW], vectors={})[0].text == BARBER


def test_one_whose_vector_is_missing_is_left_where_it_is() -> None:
    some = {text: vector for text, vector in ABOUT.items() if text != NEW}
    assert found([BARBER, WALKS, CHESS, NEW], vectors=some)[0].text == BARBER


def test_few_texts_of_a_subject_do_not_tell_what_they_share() -> None:
    assert found([BARBER, WALKS, NEW])[0].text == BARBER


def test_a_cue_for_what_was_gets_it() -> None:
    assert found([BARBER, WALKS, CHESS, NEW], cue="Who was my barber?")[0].text == BARBER


def test_the_length_of_vectors_does_not_count() -> None:
    rows = [list(ABOUT[text]) for text in ABOUT]
    longer = [[3.0 * number for number in row] for row in rows]
    close = list(NEAR.values())
    assert nearness(longer, close, 0) == pytest.approx(nearness(rows, close, 0))


def test_equal_vectors_divide_by_nothing() -> None:
    assert nearness([[1.0, 0.0]] * 4, [1.0] * 4, 0) == pytest.approx([0.0] * 4)
    assert nearness([[0.0, 0.0]] * 4, [0.0] * 4, 0) == pytest.approx([0.0] * 4)


@pytest.mark.parametrize(
    ("old", "cue"),
    [
        ("I like Kofi.", "who do I like?"),
        ("I read Dune.", "which book do I read?"),
        ("I went to Kofi.", "who is my barber?"),
        ("My barber may be Kofi.", "who is my barber?"),
        ("Ilse is here.", "who is Ilse's barber?"),
    ],
)
def test_lists_events_and_guesses_have_no_newer_version(old: str, cue: str) -> None:
    assert not may_change(statement(old), asked(cue))


@pytest.mark.parametrize(
    "new",
    [
        "I go to Luigi.",  # announces nothing
        "I painted a harbour.",
        "I might go to Luigi's now.",
        "I don't go to Luigi's now.",
        "Do I go to Luigi's now?",
        "I used to go to Luigi's.",
        "My sister has switched to Luigi's.",
    ],
)
def test_what_announces_no_change_of_mine_replaces_nothing(new: str) -> None:
    assert not may_replace(statement(BARBER), statement(new), asked(CUE), Updates())


@pytest.mark.parametrize(
    "new", ["Ilse's son now drives a Tesla.", "Ilse\N{RIGHT SINGLE QUOTATION MARK}s son now drives a Tesla."]
)
def test_a_relative_of_the_one_who_was_asked_for_replaces_nothing(new: str) -> None:
    old = statement("Ilse drives a Volvo.")
    assert not may_replace(old, statement(new), asked("what car does Ilse drive?"), Updates())
    assert may_replace(old, statement("Ilse now drives a Tesla."), asked("what car does Ilse drive?"), Updates())


@pytest.mark.parametrize("new", ["Kofi has become Ilse's boss.", "Ilse's boss is now Kofi."])
def test_who_a_relative_or_boss_is_says_something_of_the_one_who_was_asked_for(new: str) -> None:
    assert may_replace(statement("Ilse reports to Ana."), statement(new), asked("who does Ilse report to?"), Updates())
