"""Is what changed found where one says so as people do in a chat, among all else that was said? Part of `updates`.

Three memories, each about one person who is spoken of as "I", as "you", or by name, with twenty facts in everyday
words and eight things that hold of several at once. Half of the facts change, the other half does not, then the other
way round. `newest@1` is the share of the changed ones whose newer version comes first; `untouched` the share of those
that did not change, and `several` of the things that hold beside each other, where the five best hits are those that
come without the rules, none of them marked as older. All was written before anything was tuned; the first ten facts
of each person, and the first four of what holds of several, were looked at afterwards, the others were not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from adaptive_memory_core import UserMemory
from adaptive_memory_core.evaluate.metrics import mean
from benchmarks.look_alikes import untouched
from benchmarks.memory_in_a_folder import memory_in_a_folder
from benchmarks.rot import DAY, Clock
from benchmarks.update_scenes import FOLDER

START, LATER = 1_700_000_000.0, 120 * DAY
WHO = ("first", "second", "third")


class Told(NamedTuple):
    """A question, what was said first that answers it, and what was said later."""

    kind: str
    who: str
    question: str
    before: str
    after: str


def rows_of_chats(embed: Any) -> Iterator[dict[str, Any]]:
    """A row for each person, and one for all."""
    found = [(who, *one) for who in WHO for half in (0, 1) for one in _outcomes(_told(who), half, embed)]
    for who in (*WHO, "all"):
        own = [(measure, right) for person, measure, right in found if who in (person, "all")]
        shares = {name: [right for one, right in own if one == name] for name in ("newest@1", "untouched", "several")}
        yield {"person": who, **{name: round(mean(values), 3) for name, values in shares.items()}}


def _told(who: str) -> list[Told]:
    lines = (FOLDER / "chats.tsv").read_text(encoding="utf-8").splitlines()
    return [one for one in (Told(*line.split("\t")) for line in lines) if one.who == who]


def _outcomes(told: list[Told], half: int, embed: Any) -> Iterator[tuple[str, float]]:
    """What is measured of each question, and 1.0 if all is as it should be."""
    with memory_in_a_folder(embed, Clock(START + 2 * LATER)) as memory:
        user = memory.for_user("ana")
        user.remember_many(list(_records(told, half)))
        for number, one in enumerate(told):
            yield _outcome(user, one, number, changed=_changed(one, number, half))


def _changed(one: Told, number: int, half: int) -> bool:
    return one.kind == "changed" and number % 2 == half


def _records(told: list[Told], half: int) -> Iterator[dict[str, Any]]:
    for number, one in enumerate(told):
        at = START + number * DAY
        yield {"text": one.before, "id": f"{number} before", "created_at": at}
        if one.kind == "several" or _changed(one, number, half):
            yield {"text": one.after, "id": f"{number} after", "created_at": at + LATER}


def _outcome(user: UserMemory, one: Told, number: int, *, changed: bool) -> tuple[str, float]:
    if changed:
        found = user.recall(one.question, k=5, reinforce=False)
        return "newest@1", float(found.ids[:1] == (f"{number} after",))
    measure = "several" if one.kind == "several" else "untouched"
    return measure, float(untouched(user, one.question))
