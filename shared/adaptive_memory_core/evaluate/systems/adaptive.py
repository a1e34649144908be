"""What does this project's memory find under a policy? Static, fading, with a graph or with episodes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.blocks import page
from adaptive_memory_core.evaluate.labelled import Item
from adaptive_memory_core.evaluate.systems.port import Asked, Found
from adaptive_memory_core.evaluate.tokens_shown import Unit
from adaptive_memory_core.memory import AdaptiveMemory
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.policy import Keeping, Policy
from adaptive_memory_core.reports import Stats


class Adaptive:
    """A memory in a directory; its clock is at the moment that is asked about. `settings["policy"]` is its policy."""

    def __init__(self, embedder: Embedder, settings: Mapping[str, Any]) -> None:
        self._policy: Policy = settings.get("policy", Policy())
        self._now, self._users = 0.0, list[str]()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # on Windows one may be open
        keeping = Keeping(log=False, lag_seconds=3600)  # nothing is written back meanwhile
        place = Path(self._folder.name, "memory")
        self.memory = AdaptiveMemory.open(
            place, embedder=embedder, policy=self._policy, clock=lambda: self._now, keeping=keeping
        )

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:
        self._now, whose = now, self.memory.for_user(user)
        self._users.append(user)
        if self._policy.shaping.form != "flat" and all(item.session is not None for item in items):
            whose.observe([_message(item) for item in items])
            whose.themes()
        else:
            alone = self._policy.channels == ("dense",)  # no channel reads metadata, so the speaker stands in the text
            whose.remember_many([_said(item) if alone else _record(item) for item in items])

    def prepare(self, asked: Asked) -> None:
        self._now = asked.now

    def ask(self, asked: Asked) -> Found:
        recall = self.memory.for_user(asked.user).recall(asked.text, k=asked.k, reinforce=asked.reading)
        return Found(recall.ids, lambda: units_of(recall), lambda tokens: recall.render(max_tokens=tokens))

    def figures(self) -> Sequence[Mapping[str, float]]:
        return [_told(self.memory.for_user(user).stats()) for user in self._users]

    def close(self) -> None:
        self.memory.close()
        self._folder.cleanup()


def units_of(recall: Recall) -> list[Unit]:
    """The units of a recall's page, in the order in which it is filled; each in the order in which it was said."""
    merge = recall.policy.shaping.joining(recall.policy.shown.merge)
    whole = page(list(recall), recall.beside, merge=merge, fields=recall.fields, outline=recall.outline)
    found = []
    for unit in whole.by_worth:
        if whole.lines[unit[0]].fact:
            continue
        lines = sorted((whole.lines[number] for number in unit), key=lambda line: line.order)
        found.append(Unit(lines[0].block, [line.record.id for line in lines]))
    return found


def _told(stats: Stats) -> dict[str, float]:
    """What the ARM paper records of a memory."""
    told = {"remembered": stats.remembered_fraction, "stale norm": stats.strengths.stale_norm}
    told |= {"reads per recall": stats.reads_per_recall} if stats.reads else {}
    told |= {"memory size": stats.strengths.size / stats.records} if stats.records else {}
    return told | ({} if stats.update_ms is None else {"update ms": stats.update_ms})


def _said(item: Item) -> dict[str, Any]:
    """As `remember_many` takes it, with a title or a speaker in the text."""
    return {"text": item.said, "id": item.id, "created_at": item.ts}


def _record(item: Item) -> dict[str, Any]:
    """As `remember_many` takes it; what a conversation knows of a turn is metadata, a title stands in the text."""
    if item.speaker is None:
        told = _said(item)
        return told if item.session is None else told | {"metadata": _known(item, ("session", "seq"))}
    known = _known(item, ("speaker", "session", "seq"))
    return {"text": item.text, "id": item.id, "created_at": item.ts, "metadata": known}


def _message(item: Item) -> dict[str, Any]:
    """As `observe` takes it."""
    known = _known(item, ("speaker", "session", "seq"))
    return {"id": item.id, "text": item.text} | known | ({} if item.ts is None else {"at": item.ts})


def _known(item: Item, names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(item, name)) is not None}
