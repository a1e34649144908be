"""What do the tools do when a model calls them? Find the user, ask the memory, and answer in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException

from adaptive_memory_core import AdaptiveMemoryError, InvalidInputError, PolicyError, Recall, ScopeError, UserMemory
from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.model_tools import NOTHING, OUT_OF_ORDER, OnError, forgotten, remembered
from langchain_adaptive_memory.convert import documents_of
from langchain_adaptive_memory.empty_answers import with_reason
from langchain_adaptive_memory.source import in_threads
from langchain_adaptive_memory.turns import current_turn

Find = Callable[[RunnableConfig], UserMemory]
SET_UP_WRONGLY = (ScopeError, FilterError, PolicyError)  # the program's mistake, which no model can mend


@dataclass(frozen=True, slots=True)
class Recalling:
    """What the recall tool does when it is called."""

    find: Find
    asked: Mapping[str, Any]
    max_tokens: int | None
    show_ids: bool
    with_artifact: bool
    on_error: OnError

    def recall(self, query: str, config: RunnableConfig) -> Any:
        return self._recalled(self.find(config), query, config)

    async def arecall(self, query: str, config: RunnableConfig) -> Any:
        scope = self.find(config)
        return await in_threads(scope, self._recalled, scope, query, config)

    def _recalled(self, scope: UserMemory, query: str, config: RunnableConfig) -> Any:
        try:
            recall: Recall = scope.recall(query, turn=current_turn(config), **self.asked)
            return self._told(scope, with_reason(scope, recall, self.asked["filter"]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return self._failed(error)

    def _told(self, scope: UserMemory, recall: Recall) -> Any:
        content = recall.render(max_tokens=self.max_tokens, ids=self.show_ids) or NOTHING
        return (content, documents_of(recall, scope.memory.fields)) if self.with_artifact else content

    def _failed(self, error: Exception) -> Any:
        said = _excused(error, self.on_error)
        return (said, []) if self.with_artifact else said


@dataclass(frozen=True, slots=True)
class Remembering:
    """What the remember tool does when it is called."""

    find: Find
    kind: str
    metadata: Mapping[str, Any] | None
    on_error: OnError

    def remember(self, text: str, config: RunnableConfig, importance: float = 0.5, replaces: str | None = None) -> str:
        scope = self.find(config)
        try:
            return remembered(*scope.observe([self._fact(scope, text, importance, replaces)]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def aremember(
        self, text: str, config: RunnableConfig, importance: float = 0.5, replaces: str | None = None
    ) -> str:
        scope = self.find(config)
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

    def forget(self, memory_id: str, config: RunnableConfig) -> str:
        scope = self.find(config)
        try:
            return forgotten(scope.forget(memory_id).id)
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def aforget(self, memory_id: str, config: RunnableConfig) -> str:
        scope = self.find(config)
        try:
            return forgotten((await scope.aforget(memory_id)).id)
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)


def _excused(error: Exception, on_error: OnError) -> str:
    """What the model is told: of its own mistake what is wrong, of ours to go on without."""
    if on_error == "raise" or isinstance(error, SET_UP_WRONGLY):
        raise error
    if isinstance(error, AdaptiveMemoryError) and isinstance(error, InvalidInputError | LookupError):
        raise ToolException(str(error)) from error
    warnings.warn(f"A tool's memory failed, and the agent went on without: {error}", RuntimeWarning, stacklevel=3)
    return OUT_OF_ORDER
