"""What do the tools do when a model calls them? Find the user, ask the memory, and answer in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adaptive_memory_core import AdaptiveMemoryError, InvalidInputError, Recall, UserMemory
from adaptive_memory_core.model_tools import NOTHING, OUT_OF_ORDER, OnError, forgotten, remembered
from llama_adaptive_memory.turns import this_question

Find = Callable[[], UserMemory]


class Told(str):
    """What the model is told, and the recall that it is of: so that feedback on an agent's output finds it."""

    __slots__ = ("recall",)
    recall: Recall


@dataclass(frozen=True, slots=True)
class Recalling:
    """What the recall tool does when it is called."""

    find: Find
    asked: Mapping[str, Any]
    max_tokens: int | None
    show_ids: bool
    on_error: OnError

    def recall(self, query: str) -> str:
        scope = self.find()
        try:
            return self._told(scope.recall(query, turn=this_question(), **self.asked))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def arecall(self, query: str) -> str:
        scope = self.find()
        try:
            return self._told(await scope.arecall(query, turn=this_question(), **self.asked))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    def _told(self, found: Recall) -> str:
        told = Told(found.render(max_tokens=self.max_tokens, ids=self.show_ids) or NOTHING)
        told.recall = found
        return told


@dataclass(frozen=True, slots=True)
class Remembering:
    """What the remember tool does when it is called."""

    find: Find
    kind: str
    metadata: Mapping[str, Any] | None
    on_error: OnError

    def remember(self, text: str, importance: float = 0.5, replaces: str | None = None) -> str:
        scope = self.find()
        try:
            return remembered(*scope.observe([self._fact(scope, text, importance, replaces)]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def aremember(self, text: str, importance: float = 0.5, replaces: str | None = None) -> str:
        scope = self.find()
        try:
            return remembered(*await scope.aobserve([self._fact(scope, text, importance, replaces)]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    def _fact(self, scope: UserMemory, text: str, importance: float, replaces: str | None) -> dict[str, Any]:
        more = {"kind": self.kind, "metadata": self.metadata, "supersedes": replaces or None}  # models say "" for none
        return {"id": scope.memory.new_id(), "text": text, "importance": importance, **more}


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What the forget tool does when it is called."""

    find: Find
    on_error: OnError

    def forget(self, memory_id: str) -> str:
        scope = self.find()
        try:
            return forgotten(scope.forget(memory_id).id)
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def aforget(self, memory_id: str) -> str:
        scope = self.find()
        try:
            return forgotten((await scope.aforget(memory_id)).id)
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)


def _excused(error: Exception, on_error: OnError) -> str:
    """What the model is told: of its own mistake what is wrong (LlamaIndex says it), of ours to go on without."""
    told = isinstance(error, AdaptiveMemoryError) and isinstance(error, InvalidInputError | LookupError)
    if on_error == "raise" or told:
        raise error
    warnings.warn(f"A tool's memory failed, and the agent went on without: {error}", RuntimeWarning, stacklevel=3)
    return OUT_OF_ORDER
