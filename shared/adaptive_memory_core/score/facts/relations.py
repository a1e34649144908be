"""Of which common relations does a text speak: where somebody lives, works, what something costs? A small lexicon.

So "Ilse has moved to Turin" is known to answer "where does Ilse live?", and "Ilse has a new boss" is known not to. It
is English, with the commonest words of other languages. What is not in it is left to similarity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

# Words and phrases, by commas; `*` at the end of a word: whatever follows; `_`: any word; `.`: the end of the text.
_LEXICON = {
    "home": (
        "moved from, based in, based ., live in, live at, live ., live now, live today, live these,"
        " lives in, lives at, lives .,"
        " living in, lives now, move to, moved to, moved into, moved back, moved house, moving to, settled in, settled"
        " there, settled down, relocated to, resid*, new home, my new place, our new place, the new"
        " place is, my home, our home, new flat, new apartment, new house, flat in, apartment in, house in, a flat,"
        " wohn*, gezogen, umgezogen, umzug, habite*, déménag*,"
        " vit à, vive, vivo, mudado, 住, 搬, 引 っ 越"
    ),
    "work": (
        "work at, work for, work as, work in, work ., work now, works at, works for, works as, works in, works now,"
        " working at, working for, working as, job*, employ*, hire*, position*, career, profession*, workplace, a"
        " living, became a, become a, became an, become an, arbeite*, stelle, job, travaill*, emploi, embauch*,"
        " trabaj*, empleo, 工 作, 上 班, 入 职"
    ),
    "address": "address*, my new place, our new place, the new place is, adresse*, dirección, 地 址",
    "email": "email*, e-mail*",
    "teeth": "dentist*, dental*, teeth, tooth, filling*, zahnarzt*, 牙",
    "doctor": "doctor*, physician*, gp, therapist*",
    "pet": (
        "pet, pets, cat, cats, dog, dogs, puppy, kitten, hamster, parrot, rabbit, tortoise, turtle, beagle, terrier,"
        " goldfish, adopted a, adopted an, animal shelter, keeps _ company"
    ),
    "car": (
        "car, cars, drives a, drives an, drive ., vehicle*, traded, gets around, van, truck, motorbike*, auto, fährt,"
        " coche, voiture"
    ),
    "database": "database*, db, persistence, rows, sql*, postgres*, mysql, sqlite, data store, datastore, migrated to",
    "drink": "drink*, beverage*, tea, coffee, espresso, juice, wine, beer, lemonade, cocoa, cider",
    "food": (
        "eat, eats, food*, meal*, diet*, dish, dishes, vegan, vegetarian, pescatarian, keto, paleo, kosher, halal,"
        " gluten-free, meat, fish"
    ),
    "instrument": (
        "instrument*, piano, guitar, violin, drums, flute, cello, trumpet, saxophone, clarinet, harp, accordion,"
        " banjo, oboe, taken up, learning the, practises the, practices the, a band, orchestra"
    ),
    "date": (
        "deadline*, due, hand in, handed in, postponed, put off, delayed, rescheduled, brought forward, launch*,"
        " release date, submit*, moved to"
    ),
    "boss": "manager*, boss, reports to, report to, supervisor*, chef, jefe",
    "owner": (
        "own, owns, owned, owner*, belongs to, handed over, taken over, took over, takes over, responsib*, maintains,"
        " maintained, maintainer*, in charge"
    ),
    "phone": "phone*, telephone*, new number, call _ at, reached at, reach _ at, telefon*, téléphone, teléfono, 电 话",
    "price": (
        "cost, costs, how much is, price*, billed, pay, pays, fee, fees, rent, charge*, expensive, salary, earn, earns,"
        " wage*"
    ),
    "sport": (
        "sport*, trains for, training for, judo, rowing, fencing, badminton, climbing, handball, tennis, football,"
        " soccer, swimming, yoga, boxing, karate, cycling, basketball, volleyball, hockey, golf, skiing, club"
    ),
    "school": (
        "school*, pupil*, enrolled, enroled, universit*, college*, kindergarten, transferred to, attend, attends"
    ),
    "studies": "study, studies, studying, transferred to, enrolled, major, degree, subject, thesis",
    "partner": (
        "partner*, husband, wife, spouse, girlfriend, boyfriend, fianc*, single, dating, engaged, married, wedding,"
        " divorced, separated, broke up, widowed"
    ),
    "children": "child, children, kid, kids, baby, twins, son, sons, daughter, daughters",
    "name": "name, names, surname, called, renamed, heißt, s'appelle, llama, 叫",
    "age": "years old, year old, how old, birthday, turned, age, jahre alt, 岁",
    "bank": "bank, account",
    "language": "written in, rewritten, ported to, framework*",
    "office": "office*, headquarter*, located, relocated, premises",
    "trainer": "coach*, trainer*, teacher*, teaches, taught",
    "smoking": "smok*, cigarette*",
    "plan": "plan, subscription*, upgraded to, downgraded to, tier",
    "version": "version*, upgraded, downgraded, bumped, rolled back, rolled _ back, rolled _ _ back",
    "server": "server*, hosted, hosting, data center, data centre, deployed",
    "height": "tall, height, cm",
    "weight": "weigh, weighs, weight, kg, kilos, pounds",
    "hobby": "hobby, hobbies",
}
_BESIDES = frozenset("with of about because although while who whose that which".split())
_LEAST = 3  # letters of a word that is told by its beginning
Phrases = dict[str, list[tuple[tuple[str, ...], str]]]


def relations_in(said: Sequence[str]) -> frozenset[str]:
    """The relations that a text speaks of, whose words are given in order, in lower case.

    >>> sorted(relations_in("where does ilse live".split())), sorted(relations_in("ilse has moved to turin".split()))
    (['home'], ['date', 'home'])
    >>> sorted(relations_in("ilse has a new boss lena".split())), sorted(relations_in("how do i get there".split()))
    (['boss'], [])
    """
    found = frozenset(_found(_alone(said)))
    return found - {"address"} if "email" in found else found


def _alone(said: Sequence[str]) -> Sequence[str]:
    """Without what is said besides: "has moved to Turin with her dog" is not about a pet."""
    for place, word in enumerate(said):
        if place > 1 and word in _BESIDES:
            return [*said[:place], ""]
    return said


def _found(said: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(said):
        for key in (word, word[:_LEAST] + "*"):
            for phrase, relation in _PHRASES.get(key, ()):
                if all(_is(part, place + step, said) for step, part in enumerate(phrase)):
                    yield relation


def _is(part: str, place: int, said: Sequence[str]) -> bool:
    if place >= len(said):
        return part == "."
    word = said[place]
    return part in ("_", word) or (part.endswith("*") and word.startswith(part[:-1]))


def _indexed() -> Phrases:
    found: Phrases = {}
    for relation, listed in _LEXICON.items():
        for one in listed.split(", "):
            phrase = tuple(one.split())
            key = phrase[0][:_LEAST] + "*" if phrase[0].endswith("*") else phrase[0]
            found.setdefault(key, []).append((phrase, relation))
    return found


_PHRASES = _indexed()
