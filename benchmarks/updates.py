"""Is the newest version of a fact found first? Facts that changed twice, without anyone saying what replaced what.

    python -m benchmarks.updates
    python -m benchmarks.updates --embedder minilm --half "held out"
    python -m benchmarks.updates --parts scenes
    python -m benchmarks.updates --parts relations "same values" --without-lexicon

Each fact has three versions, about 90 days apart, and is asked for after the last one. `same`: all in the same words.
`praised`: the first one was read and called helpful twice before it changed. `other`: the newest one is worded
otherwise than the two before it. `all other`: each one is worded otherwise. `unchanged`: the asked fact has one
version, and half of the others changed as in `other`. In "one relation", a user's records are about one relation of
many subjects, in "all relations" about all of them, so that a subject has many other facts; and there is other talk.
`newest@1` is the share of questions whose first hit is the newest version, `fact@1` the share whose first hit is any
version of it. Relations with an even number were tuned on; the others are held out. The part "scenes" is small memories
of what changed and of what only looks alike (`benchmarks/look_alikes.py`), the part "same values" other facts that have
values of the kind that is asked for (`benchmarks/same_values.py`), the part "chats" everyday sentences about three
persons (`benchmarks/changed_in_chats.py`), the part "events" what happened to a fact and what has changed it
(`benchmarks/events_about_facts.py`). `--without-lexicon` measures what is told of relations that are not among the
common ones.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.evaluate.metrics import mean
from benchmarks.changed_in_chats import rows_of_chats
from benchmarks.embedders import EMBEDDERS
from benchmarks.events_about_facts import rows_of_events
from benchmarks.look_alikes import rows_of_scenes
from benchmarks.memory_in_a_folder import memory_in_a_folder
from benchmarks.report import print_table, write_json
from benchmarks.rot import DAY, Clock
from benchmarks.same_values import rows_of_same_values
from benchmarks.update_facts import PEOPLE, RELATIONS, TALK, THINGS, Relation

START, APART, LAST = 1_700_000_000.0, 90 * DAY, 220 * DAY
MODES = ("same", "praised", "other", "all other", "unchanged")
PARTS = ("relations", "scenes", "same values", "chats", "events")
CROWDS = {"one relation": 1, "four relations": 4, "all relations": len(RELATIONS)}
HALVES = {"tuned": RELATIONS[::2], "held out": RELATIONS[1::2]}
POLICIES: dict[str, Policy] = {
    "default": Policy(),
    "without": Policy().replace(newest_first=False),
    "composite": Policy.preset("composite"),
    "equal": Policy.preset("equal"),
}


class Fact(NamedTuple):
    """A relation of a subject, with its versions, oldest first."""

    relation: Relation
    subject: str
    texts: tuple[str, ...]
    times: tuple[float, ...]

    @property
    def ids(self) -> list[str]:
        return [f"{self.relation.name} of {self.subject}, {number}" for number in range(len(self.texts))]

    @property
    def question(self) -> str:
        return self.relation.question.format(s=self.subject)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument("--parts", nargs="+", default=["relations", "scenes"], choices=PARTS)
    parser.add_argument("--policies", nargs="+", default=["default", "without"], choices=list(POLICIES))
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=MODES)
    parser.add_argument("--crowds", nargs="+", default=list(CROWDS), choices=list(CROWDS))
    parser.add_argument("--half", nargs="+", default=list(HALVES), choices=list(HALVES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    embed = EMBEDDERS[arguments.embedder]()
    rows: list[dict[str, Any]] = []
    if "relations" in arguments.parts:
        rows += rows_of(arguments, embed)
        print_table(rows, title=f"The newest version first, embedder {arguments.embedder}")
    if "scenes" in arguments.parts:
        found = list(rows_of_scenes(embed, arguments.half))
        print_table(found, title=f"What changed, and what only looks alike, embedder {arguments.embedder}")
        rows += found
    if "same values" in arguments.parts:
        found = list(rows_of_same_values(embed))
        print_table(found, title=f"Other facts with values of the same kind, embedder {arguments.embedder}")
        rows += found
    if "chats" in arguments.parts:
        found = list(rows_of_chats(embed))
        print_table(found, title=f"What changed in three chats, embedder {arguments.embedder}")
        rows += found
    if "events" in arguments.parts:
        found = list(rows_of_events(embed, arguments.half))
        print_table(found, title=f"Events about facts, embedder {arguments.embedder}")
        rows += found
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(arguments: argparse.Namespace, embed: Any) -> Iterator[dict[str, Any]]:
    for crowd in arguments.crowds:
        for mode in arguments.modes:
            facts = facts_of(mode, random.Random(arguments.seed))
            for name in arguments.policies:
                found = list(measure(facts, crowd, POLICIES[name], embed, praised=mode == "praised"))
                for half in arguments.half:
                    own = [pair for fact, *pair in found if fact.relation in HALVES[half]]
                    newest, right = ([pair[place] for pair in own] for place in (0, 1))
                    said = {"newest@1": round(mean(newest), 3), "fact@1": round(mean(right), 3)}
                    yield {"records": crowd, "mode": mode, "half": half, "policy": name, "questions": len(own), **said}


def facts_of(mode: str, chance: random.Random) -> list[Fact]:
    """Every relation of every subject, each with values of its own."""
    return [
        _fact(relation, subject, mode, chance)
        for relation in RELATIONS
        for subject in (THINGS if relation.of_things else PEOPLE)
    ]


def _fact(relation: Relation, subject: str, mode: str, chance: random.Random) -> Fact:
    values, others = chance.sample(relation.values, 3), chance.sample(relation.others, 2)
    changed = [relation.plain, relation.plain, others[0]]
    forms = {"other": changed, "unchanged": changed, "all other": [relation.plain, *others]}
    begun = chance.uniform(0, 30 * DAY)
    times = [START + begun + APART * number + chance.uniform(-5, 5) * DAY for number in range(3)]
    texts = [
        _said(form, subject, value) for form, value in zip(forms.get(mode, [relation.plain] * 3), values, strict=True)
    ]
    kept = 1 if mode == "unchanged" and chance.random() < 0.5 else 3
    return Fact(relation, subject, tuple(texts[:kept]), tuple(times[:kept]))


def _said(form: str, subject: str, value: str) -> str:
    text = form.format(s=subject, v=value)
    return text[0].upper() + text[1:]


def measure(
    facts: Sequence[Fact], crowd: str, policy: Policy, embed: Any, *, praised: bool
) -> Iterator[tuple[Fact, float, float]]:
    """For each fact that is asked for, whether its newest version came first, and whether any of its versions did."""
    clock = Clock(START)
    with memory_in_a_folder(embed, clock, policy) as memory:
        for user, own in _users(facts, crowd).items():
            yield from _asked(memory, clock, user, own, praised=praised)


def _users(facts: Sequence[Fact], crowd: str) -> dict[str, list[Fact]]:
    users: dict[str, list[Fact]] = {}
    for fact in facts:
        users.setdefault(f"user {RELATIONS.index(fact.relation) // CROWDS[crowd]}", []).append(fact)
    return users


def _asked(
    memory: AdaptiveMemory, clock: Clock, name: str, facts: Sequence[Fact], *, praised: bool
) -> Iterator[tuple[Fact, float, float]]:
    user, clock.now = memory.for_user(name), START
    if praised:
        user.remember_many([_record(fact, 0) for fact in facts])
        _praise(user, clock, facts)
    user.remember_many([_record(fact, number) for fact in facts for number in range(praised, len(fact.texts))])
    user.remember_many(_talk(facts))
    clock.now = START + LAST
    for fact in facts:
        if len(fact.ids) == min(len(one.ids) for one in facts):  # where some did not change, those are asked for
            first = user.recall(fact.question, k=5, reinforce=False).ids[:1]
            yield fact, float(first == (fact.ids[-1],)), float(bool(set(first) & set(fact.ids)))


def _record(fact: Fact, number: int) -> dict[str, Any]:
    return {"text": fact.texts[number], "id": fact.ids[number], "created_at": fact.times[number]}


def _talk(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    """Something else about every subject, at times that lie between the others'."""
    subjects = list(dict.fromkeys(fact.subject for fact in facts))
    return [
        {"text": _said(TALK[number % len(TALK)], subject, ""), "created_at": START + (50 + 7 * number) * DAY}
        for number, subject in enumerate(subjects)
    ]


def _praise(user: Any, clock: Clock, facts: Sequence[Fact]) -> None:
    for _ in range(2):
        clock.now += 5 * DAY
        for fact in facts:
            recall = user.recall(fact.question, k=5)
            user.feedback(recall, helpful=[one for one in recall.ids if one in fact.ids])


if __name__ == "__main__":
    main()
