"""Is a fact about somebody left alone where the newer one is about a relative of theirs, or the other way round?"""

from __future__ import annotations

import itertools

import pytest

from tests.score.facts.test_versions import newest, untouched

PERSONS = ("mother", "brother", "ex", "flatmate", "best friend", "tenant")
FORMS = ("Maria's {}", "The {} of Maria")
ASKED = (
    ("where does {} live?", "{} lives in Porto.", "{} lives in Graz.", "{} has moved to Graz."),
    ("where does {} work?", "{} works at Bosch.", "{} works at Acme.", "{} has started a new job at Acme."),
    ("what does {} drive?", "{} drives a Golf.", "{} drives a Tesla.", "{} now drives a Tesla."),
    ("how old is {}?", "{} is 60 years old.", "{} is 30 years old.", "{} is 30 years old now."),
)
EVERYONE = [(form.format(person), person) for form, person in itertools.product(FORMS, PERSONS)]


def within(sentence: str, who: str) -> str:
    """The sentence of a question, where "The mother" does not begin it."""
    return sentence.format("the" + who[3:] if who.startswith("The ") else who)


@pytest.mark.parametrize(("cue", "plain", "again", "changed"), ASKED)
@pytest.mark.parametrize(("who", "person"), EVERYONE)
def test_of_whom_it_is_said_tells_two_facts_apart(
    cue: str, plain: str, again: str, changed: str, who: str, person: str
) -> None:
    other = who.replace(person, "father")
    for said in (again, changed):
        assert untouched(within(cue, who), plain.format(who), said.format("Maria"))
        assert untouched(within(cue, who), plain.format(who), said.format(other))
        assert untouched(cue.format("Maria"), plain.format("Maria"), said.format(who))


@pytest.mark.parametrize(("cue", "plain", "again", "changed"), ASKED)
@pytest.mark.parametrize(("who", "person"), EVERYONE)
def test_what_changed_of_the_same_one_comes_first(
    cue: str, plain: str, again: str, changed: str, who: str, person: str
) -> None:
    for said in (again, changed):
        assert newest(within(cue, who), plain.format(who), said.format(who)) == said.format(who)


@pytest.mark.parametrize(
    ("cue", "old", "new"),
    [
        ("which instrument does Ana's neighbour play?", "Ana's neighbour plays the harp.", "Ana plays the cello now."),
        ("what is Ana's boss's phone number?", "Ana's boss's phone number is 12.", "Ana's phone number is 34 now."),
        ("what is the phone number of Ana's boss?", "The phone number of Ana's boss is 12.", "Ana has a new number."),
        ("what diet does Ana's boss follow?", "Ana's boss eats only vegan food.", "Ana has gone keto."),
        ("where does Ana's mother live?", "Ana's mum lives in Oslo.", "Ana has moved to Rome."),
        ("where is Ana's garage?", "Ana's garage is in Oslo.", "Ana has moved to Rome."),
        ("where does her mother live?", "Her mother lives in Oslo.", "She has moved to Rome."),
        ("où habite la mère de Luc ?", "La mère de Luc habite à Lille.", "Luc a déménagé à Nantes."),
        ("¿dónde vive la madre de Juan?", "La madre de Juan vive en Cádiz.", "Juan vive en Vigo."),
        ("¿dónde vive Juan?", "Juan vive en Cádiz.", "La madre de Juan se ha mudado a Vigo."),
        ("wo wohnt die Mutter von Ilse?", "Die Mutter von Ilse wohnt in Oslo.", "Ilse ist nach Turin gezogen."),
    ],
)  # fmt: skip
def test_somebody_else_is_told_by_the_form(cue: str, old: str, new: str) -> None:
    assert untouched(cue, old, new)


@pytest.mark.parametrize(
    ("cue", "old", "new"),
    [
        ("who is Ana's boss?", "Ana's boss is Lena.", "Ana reports to Carmen now."),
        ("what is Ana's phone number?", "Ana's phone number is 12.", "Ana has a new number: 34."),
        ("how much is Ana's rent?", "Ana's rent is 500 euros.", "Ana pays 600 euros of rent now."),
        ("where does Ana's mother live?", "Ana's mum lives in Oslo.", "Ana's mum has moved to Rome."),
        ("where does Ana live?", "Ana lives in Oslo.", "Ana has moved to Rome with her mother."),
        ("where is Ana's office?", "Ana's office is in Oslo.", "Ana's office has moved to Rome."),
        ("where is the office of Acme?", "The office of Acme is in Mill Lane.", "Acme has relocated to the harbour."),
    ],
)
def test_who_is_asked_for_need_not_be_named_again(cue: str, old: str, new: str) -> None:
    assert newest(cue, old, new) == new
