"""Is a fact mistaken for a newer version of another one because its value is of the same kind? Part of `updates`.

Each subject has one fact that is asked for, and two newer ones of other relations with a place, a person, a day or a
price as well, most of them announced as changes: "Ilse lives in Oslo", "Ilse has opened an office in Turin".
`untouched` is the share of questions whose five best hits stay as they are; `newest@1`, where the fact has changed
too, in other words, the share whose first hit is its newest version. Relations with an even number were tuned on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from adaptive_memory_core import Policy
from adaptive_memory_core.evaluate.metrics import mean
from benchmarks.memory_in_a_folder import memory_in_a_folder
from benchmarks.rot import DAY, Clock

START, LATER = 1_700_000_000.0, 60 * DAY
WITHOUT = Policy().replace(newest_first=False)
SUBJECTS = ("Ilse", "Tomas", "Farida", "Bruno", "Noor", "Kenji", "Odile", "Piotr", "Ximena", "Anders", "Leila", "Marek")
PLACES = ("Oslo", "Turin", "Bergen", "Porto", "Lyon", "Graz", "Malaga", "Ghent")
PERSONS = ("Priya", "Gustav", "Lena", "Hiroshi", "Carmen", "Dmitri")
DAYS = ("3 March", "17 April", "9 May", "21 June", "5 July", "28 August")
PRICES = ("40 euros", "55 euros", "75 euros", "90 euros", "120 euros", "20 euros")


class Asked(NamedTuple):
    """A relation that is asked for, with other wordings, and what else may be said with such a value."""

    question: str
    plain: str
    values: tuple[str, ...]
    others: tuple[str, ...]
    elsewhere: tuple[str, ...]


ASKED = (
    Asked(
        "Where does {s} live?", "{s} lives in {v}.", PLACES,
        ("{s} has settled down in {v}.", "{s} has relocated to {v}."),
        ("{s} has opened an office in {v}.", "{s} now trains for a marathon in {v}.", "{s} has a new client in {v}.",
         "{s} has enrolled in a course in {v}.", "{s} has relatives in {v} now."),
    ),
    Asked(
        "Which town does {s} represent?", "{s} represents {v}.", PLACES,
        ("{s} now speaks for {v}.", "{s} has become the delegate of {v}."),
        ("{s} has moved to {v}.", "{s} now rents a garage in {v}.", "{s} has a new dentist in {v}.",
         "{s} has been elected to a board in {v}."),
    ),
    Asked(
        "Who is {s}'s mentor?", "{s}'s mentor is {v}.", PERSONS,
        ("{s} is now mentored by {v}.", "{s} has a new mentor, {v}."),
        ("{s} shares an office with {v} now.", "{s} has become friends with {v}.", "{s} now plays chess with {v}.",
         "{s} has started to date {v}."),
    ),
    Asked(
        "Who is {s}'s landlord?", "{s}'s landlord is {v}.", PERSONS,
        ("{s} now rents from {v}.", "{v} has become {s}'s landlord."),
        ("{s} reports to {v} now.", "{s} has married {v}.", "{s} has hired {v} as a cleaner.",
         "{s} now shares a car with {v}."),
    ),
    Asked(
        "When is {s}'s exam?", "{s}'s exam is on {v}.", DAYS,
        ("{s} now sits the exam on {v}.", "The exam of {s} has been moved to {v}."),
        ("{s} has booked a flight for {v}.", "{s} now starts the new job on {v}.", "{s} has moved the party to {v}.",
         "{s}'s new contract begins on {v}."),
    ),
    Asked(
        "When does {s} return?", "{s} returns on {v}.", DAYS,
        ("{s} is now back on {v}.", "{s} has delayed the return to {v}."),
        ("{s} has postponed the dinner to {v}.", "{s}'s visa now ends on {v}.", "{s} has a new appointment on {v}."),
    ),
    Asked(
        "How much does {s} pay for the gym?", "{s} pays {v} for the gym.", PRICES,
        ("{s}'s gym is now {v}.", "{s}'s gym has raised its price to {v}."),
        ("{s} now pays {v} for the phone.", "{s} has spent {v} on a lamp.", "{s} has raised the rent to {v}.",
         "{s} now earns {v} an hour."),
    ),
    Asked(
        "How much does {s}'s lunch cost?", "{s}'s lunch costs {v}.", PRICES,
        ("{s}'s lunch has gone up to {v}.", "{s} is now charged {v} for lunch."),
        ("{s}'s ticket now costs {v}.", "{s} has won {v}.", "{s} has lowered the fee to {v}."),
    ),
)  # fmt: skip


def rows_of_same_values(embed: Any) -> Iterator[dict[str, Any]]:
    """A row for each measure, number of relations of a subject, and half."""
    for changed in (False, True):
        for crowd in (1, len(ASKED)):
            right: dict[str, list[float]] = {"tuned": [], "held out": []}
            for start in range(0, len(ASKED), crowd):
                for number, one in _outcomes(range(start, start + crowd), embed, changed=changed):
                    right["held out" if number % 2 else "tuned"].append(one)
            for half, own in right.items():
                measure = "newest@1" if changed else "untouched"
                yield {"relations": crowd, "half": half, "questions": len(own), measure: round(mean(own), 3)}


def _outcomes(numbers: range, embed: Any, *, changed: bool) -> Iterator[tuple[int, float]]:
    """For each question the number of its relation, and 1.0 if all is as it should be."""
    with memory_in_a_folder(embed, Clock(START + 3 * LATER)) as memory:
        user = memory.for_user("ana")
        user.remember_many(list(_records(numbers, random.Random(numbers.start), changed=changed)))
        for number in numbers:
            for subject in SUBJECTS:
                question = ASKED[number].question.format(s=subject)
                found = user.recall(question, k=5, reinforce=False)
                before = user.recall(question, k=5, reinforce=False, policy=WITHOUT)
                same = found.ids == before.ids and all(hit.older_than is None for hit in found)
                yield number, float(found.ids[:1] == (f"{number} {subject} new",) if changed else same)


def _records(numbers: range, chance: random.Random, *, changed: bool) -> Iterator[dict[str, Any]]:
    for number in numbers:
        one = ASKED[number]
        for subject in SUBJECTS:
            begun = START + chance.uniform(0, 30 * DAY)
            first, second, *more = chance.sample(one.values, 4)
            yield _record(f"{number} {subject} old", one.plain, subject, first, begun)
            if changed:
                yield _record(f"{number} {subject} new", chance.choice(one.others), subject, second, begun + LATER)
            for place, form in enumerate(chance.sample(one.elsewhere, 2)):
                at = begun + LATER + 20 * place * DAY
                yield _record(f"{number} {subject} other {place}", form, subject, more[place], at)


def _record(record: str, form: str, subject: str, value: str, at: float) -> dict[str, Any]:
    return {"id": record, "text": form.format(s=subject, v=value), "created_at": at}
