"""Are the sentences that say most kept, whole and once, and shown with names that are not embedded?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.hierarchy.nodes import HierarchyMessage, distinctive_terms
from adaptive_memory_core.hierarchy.semantics import Stated, distil, in_third_person, replaced

TALK = [
    HierarchyMessage("1", "Ana", "Hey! How are you?", 0.0),
    HierarchyMessage("2", "Ben", "Great, thanks!", 1.0),
    HierarchyMessage("3", "Ana", "I adopted a beagle puppy named Rex in May. He chews shoes.", 2.0),
    HierarchyMessage("4", "Ben", "My sister lives in Oslo with two cats.", 3.0),
]


def test_statements_are_kept_and_small_talk_is_not() -> None:
    kept = distil(TALK, 2)
    assert [one.messages for one in kept] == [("3",), ("4",)]
    assert [one.text for one in kept] == [
        "I adopted a beagle puppy named Rex in May.",
        "My sister lives in Oslo with two cats.",
    ]


def test_what_is_embedded_has_no_name_that_was_not_said() -> None:
    first, *_ = distil(TALK, 2)
    assert "Ana" not in first.text
    assert first.shown == "Ana adopted a beagle puppy named Rex in May."


@pytest.mark.parametrize(
    ("statement", "leans"),
    [
        ("Ich habe im Mai einen Hund adoptiert.", "Und das war im Mai mit einem Hund adoptiert."),
        ("J'ai adopté un chien au mois de mai.", "Et cela avec un chien adopté au mois de mai."),
        ("Yo adopté un perro en mayo.", "Pero eso del perro adopté en mayo."),
    ],
)
def test_what_can_be_understood_by_itself_is_kept_in_other_languages_too(statement: str, leans: str) -> None:
    kept = distil([HierarchyMessage("1", "Ana", leans, 0.0), HierarchyMessage("2", "Ana", statement, 1.0)], 1)
    assert [one.text for one in kept] == [statement]


def test_a_long_message_may_have_several_sentences_and_a_short_one_has_one() -> None:
    facts = [
        f"The server number {n} runs the database of the {w} team." for n, w in enumerate(["blue", "red", "green"])
    ]
    short = HierarchyMessage("s", None, " ".join(facts), 0.0)
    long = HierarchyMessage("l", None, " ".join(facts) + " x" * 500, 0.0)
    assert len(distil([short], 3)) == 1
    assert len(distil([long], 3)) == 3


@pytest.mark.parametrize("text", ["", "...", "Ok!", "yes yes yes"])
def test_what_says_nothing_gives_nothing(text: str) -> None:
    assert distil([HierarchyMessage("1", "Ana", text, 0.0)], 3) == []


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("I\u2019m a nurse and I don't smoke.", "Ana is a nurse and Ana doesn't smoke."),
        ("I really miss my mother.", "Ana really misses Ana's mother."),
        ("Yeah, I study law.", "Ana studies law."),
        ("She gave me a book.", "She gave Ana a book."),
        ("It rained.", "Ana: It rained."),
        ("iPhones are mine.", "iPhones are Ana's."),
        ("I start a new job on Monday.", "Ana starts a new job on Monday."),
        ("I finally finished it, so I rarely worry.", "Ana finally finished it, so Ana rarely worries."),
        ("I can't swim, but I need to.", "Ana can't swim, but Ana needs to."),
        ("I went home and I slept, and I learnt it.", "Ana went home and Ana slept, and Ana learnt it."),
        ("Ben and I met at work.", "Ben and Ana met at work."),
        ("A mí me gusta mucho el té.", "Ana: A mí me gusta mucho el té."),
        ("Ich wohne jetzt in Berlin.", "Ana: Ich wohne jetzt in Berlin."),
    ],
)
def test_a_sentence_is_shown_with_its_speakers_name(said: str, shown: str) -> None:
    assert in_third_person(said, "Ana") == shown


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Ana lives in Oslo.", "Ana lives in Turin now.", True),
        ("Ana's phone number is 1234.", "Ana's phone number is 9876.", True),
        ("Ana lives in Oslo.", "Ben lives in Turin.", False),
        ("Ana likes tea.", "Ana sold the car.", False),
        ("Ana lives in Oslo.", "Does Ana live in Turin?", False),
        ("Ana lives in Oslo.", "Ana has moved to Turin.", False),  # other words are not known for it
        ("Ana lives in Oslo.", "Ana moved the sofa to Turin.", False),
        ("Ana lives in Oslo.", "Ana might move to Turin.", False),
        ("Ana is considering a new career in a museum.", "Ana has left Ana's job.", False),
        ("Ana lives in Oslo.", "Ben has moved to Turin.", False),
        ("Ana has a dog called Rex.", "Ana has adopted a cat.", False),
    ],
)
def test_a_newer_version_is_told_from_another_fact(old: str, new: str, same: bool) -> None:
    found = replaced(Stated(2, new, 20.0), [Stated(1, old, 10.0)])
    assert found == (1 if same else None)


def test_a_theme_is_named_by_what_tells_it_from_others() -> None:
    usual = {"puppi": 3, "rex": 2, "work": 40}
    named = distinctive_terms(["Rex the puppy works.", "A puppy at work.", "The puppy Rex."], usual, 100)
    assert named.startswith("puppy, Rex")
