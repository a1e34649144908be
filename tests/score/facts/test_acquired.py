"""Are events by which somebody got another one of what was asked for told from all else that happened to it?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.policy import Updates
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.statement import statement
from adaptive_memory_core.score.facts.unknown_relation import may_replace

CAR, PHONE, ANIMAL = "what does Ilse drive?", "which phone do I use?", "what animal guards the farm?"
FACTS = {CAR: "Ilse drives a Volvo.", PHONE: "I use a Nokia phone.", ANIMAL: "A goose guards the farm."}


def replaces(cue: str, event: str) -> bool:
    """Whether the event may be a newer version of the fact that answers, as far as its words tell."""
    return may_replace(statement(FACTS[cue]), statement(event), asked(cue), Updates())


@pytest.mark.parametrize(
    ("cue", "event"),
    [
        (CAR, "Ilse traded the old vehicle for a Fiat."),
        (CAR, "Ilse bought a Fiat at the dealer's."),
        (CAR, "Ilse sold it and leased a Fiat."),
        (PHONE, "I traded the phone for a Sony."),
        (PHONE, "I got a Sony in Leeds."),
        (PHONE, "I picked up the phone Xperia in Leeds."),
        (PHONE, "I changed the phone for a Sony."),
        (ANIMAL, "We adopted a mastiff."),
    ],
)
def test_who_got_another_one_may_have_it_in_the_place_of_the_old_one(cue: str, event: str) -> None:
    assert replaces(cue, event)


@pytest.mark.parametrize(
    ("cue", "event"),
    [
        (CAR, "Ilse washed a Fiat."),  # no such verb
        (CAR, "Ilse bought a lamp."),  # gives no name, as the old one did
        (CAR, "Ilse bought a Fiat for her aunt."),
        (CAR, "Ilse bought a Fiat for Ravi."),
        (PHONE, "I bought a Spigen case for the phone."),
        (PHONE, "I got a Spigen phone case."),
        (PHONE, "I got a scratch on the phone in Leeds."),
        (PHONE, "I bought my brother a Sony."),
        (PHONE, "I paid Sony twenty euros."),
        (PHONE, "I took a photo of Leeds with the phone."),  # though something taken may be a change
        (PHONE, "I changed the password of the phone."),
        (ANIMAL, "I forgot the feed."),
        (ANIMAL, "We bought a tractor for 900 euros."),
    ],
)
def test_what_happened_else_replaces_nothing(cue: str, event: str) -> None:
    assert not replaces(cue, event)
