"""Does a newer text stay behind one that says more of what was asked for, unless it gives another value?"""

from __future__ import annotations

import pytest

from tests.score.facts.test_versions import found, newest, untouched


@pytest.mark.parametrize(
    ("cue", "old", "new"),
    [
        ("Ben guitar", "Ben bought a guitar in Brno.", "Ben lost a piano competition in Lyon."),
        ("Ben guitar", "Ben bought a guitar in Brno.", "Ben sold his piano in Lyon."),
        ("Ben guitar", "Ben plays the guitar.", "Ben plays the piano now."),
        ("Ben piano", "Ben bought a guitar in Brno.", "Ben lost a piano competition in Lyon."),
        ("Ana cat", "Ana adopted a cat.", "Ana walked the neighbour's dog."),
    ],
)
def test_an_event_that_says_nothing_of_what_was_asked_for_is_left_alone(cue: str, old: str, new: str) -> None:
    assert untouched(cue, old, new)


@pytest.mark.parametrize(
    ("cue", "old", "new"),
    [
        ("Ana dentist", "Ana's dentist is Dr. Weber.", "Ana now goes to Dr. Yoon for dental care."),
        ("Ana pet", "Ana has a pet cat.", "Ana has adopted a parrot."),
        ("which instrument does Ben play?", "Ben plays the guitar.", "Ben has taken up the piano."),
    ],
)
def test_another_value_in_its_place_comes_first(cue: str, old: str, new: str) -> None:
    assert newest(cue, old, new) == new


def test_two_things_of_which_one_name_is_asked_are_never_said_to_be_one_for_sure() -> None:
    after = found("what is the name of Tom's pet?", "Tom has a cat called Miso.", "Tom has a dog called Rex.")
    assert all(one.hit.older_perhaps for one in after if one.older_than)
    again = found("what is the name of Tom's cat?", "Tom's cat is called Miso.", "Tom's cat is called Rex.")
    assert [(one.older_than is None, one.hit.older_perhaps) for one in again] == [(True, False), (False, False)]
