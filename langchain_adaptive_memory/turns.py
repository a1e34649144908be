"""Turns: the user's question that a run belongs to. It is the root of the run's tree, since one question may cause many
inner calls.

LangChain gives a run its parent, but not the root. So a handler that every run inherits records the root of each run in
progress. It is installed when the first retriever, tool or middleware is created.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.tracers.context import register_configure_hook

MOST_RUNS = 100_000  # in progress at once; the oldest, whose end was never reported, are removed first


class Roots(BaseCallbackHandler):
    """The root of every run in progress."""

    run_inline = True  # switching threads would cost more than the dict lookup
    ignore_llm = True
    ignore_chat_model = True
    ignore_custom_event = True
    ignore_retry = True

    def __init__(self) -> None:
        self._roots: dict[UUID, UUID] = {}
        self._names: dict[UUID, str] = {}

    def root_of(self, run: UUID) -> UUID:
        """The root of a run; the run itself if it has no parent or is not in progress."""
        return self._roots.get(run, run)

    def turn_of(self, run: UUID) -> str:
        """The name given to the turn, or else the id of its root run."""
        root = self.root_of(run)
        return self._names.get(root, str(root))

    def name(self, run: UUID, turn: str) -> None:
        """Name the turn of a run in progress."""
        root = self.root_of(run)
        if root in self._roots:
            self._names[root] = turn

    @property
    def under_way(self) -> int:
        return len(self._roots)

    def _began(self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any) -> None:
        while len(self._roots) >= MOST_RUNS:
            self._ended(run_id=next(iter(self._roots), run_id))
        self._roots[run_id] = run_id if parent_run_id is None else self.root_of(parent_run_id)

    def _ended(self, *_: Any, run_id: UUID, **__: Any) -> None:
        self._roots.pop(run_id, None)
        self._names.pop(run_id, None)

    on_chain_start = on_tool_start = on_retriever_start = _began
    on_chain_end = on_tool_end = on_retriever_end = _ended
    on_chain_error = on_tool_error = on_retriever_error = _ended


_roots = Roots()
_everywhere: ContextVar[BaseCallbackHandler | None] = ContextVar("adaptive_memory_roots", default=_roots)
_watching = threading.Event()
_installing = threading.Lock()


def watch_runs() -> None:
    """Record runs from now on. Repeated calls change nothing."""
    with _installing:
        if not _watching.is_set():
            register_configure_hook(_everywhere, inheritable=True)
            _watching.set()


def turn_of(run: UUID) -> str:
    """The turn that a run belongs to."""
    return _roots.turn_of(run)


def name_turn(config: RunnableConfig | None, turn: str) -> None:
    """Name the turn of this config's run; all its later recalls belong to the named turn."""
    parent = _parent(config)
    if parent is not None:
        _roots.name(parent, turn)


def current_turn(config: RunnableConfig | None = None) -> str | None:
    """The turn of the run of this config or else of the context; None outside of a run."""
    parent = _parent(config)
    return None if parent is None else turn_of(parent)


def _parent(config: RunnableConfig | None) -> UUID | None:
    return getattr(ensure_config(config).get("callbacks"), "parent_run_id", None)
