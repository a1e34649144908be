"""Turns: the question that a read belongs to, which is the outermost LlamaIndex call in progress.

LlamaIndex passes no run id to a retriever, but each of its calls is a span with a parent, across threads, tasks and
workflow steps. The span without a parent is the user's call: `query_engine.query(...)`, `chat_engine.chat(...)`,
`agent.run(...)`, `retriever.retrieve(...)`. All reads within it belong to one question.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.span import BaseSpan, active_span_id
from llama_index_instrumentation.span_handlers import BaseSpanHandler

from adaptive_memory_core.arguments import name as checked

MOST_OPEN = 100_000  # spans under way; beyond it the oldest were left behind by calls that never ended
_named: ContextVar[str | None] = ContextVar("adaptive_memory_question", default=None)
_outermost: dict[str, str] = {}  # span under way -> the span the user's call began with


@contextmanager
def one_question(name: str | None = None) -> Iterator[str]:
    """Count all reads within the block as one question, and yield its name.

    For cases that LlamaIndex cannot recognise: several calls that answer one question, or one long-lived workflow that
    answers many. A name that was used before continues its question, in this process or another.

    >>> with one_question("ticket 7, message 3") as question:
    ...     question, this_question()
    ('ticket 7, message 3', 'ticket 7, message 3')
    >>> this_question() is None
    True
    """
    token = _named.set(str(uuid4()) if name is None else checked(name, "name of the question"))
    try:
        yield _named.get() or ""
    finally:
        _named.reset(token)


def this_question() -> str | None:
    """The name of the question being answered, or None if no call of LlamaIndex is in progress."""
    named = _named.get()
    if named is not None:
        return named
    span = active_span_id.get()
    return None if span is None else _outermost.get(span, span)


def watch() -> None:
    """Register for the dispatcher's spans, once, or again if its handlers were replaced."""
    root = get_dispatcher("root")
    if not any(isinstance(one, _Watcher) for one in root.span_handlers):
        root.add_span_handler(_Watcher())


class _Watcher(BaseSpanHandler[BaseSpan]):
    """Stores the outermost span of every span in progress."""

    @classmethod
    def class_name(cls) -> str:
        return "AdaptiveMemoryQuestions"

    def span_enter(  # the signature is LlamaIndex's
        self,
        id_: str,
        bound_args: Any,  # noqa: ARG002
        instance: Any = None,  # noqa: ARG002
        parent_id: str | None = None,
        tags: Any = None,  # noqa: ARG002
        **_: Any,
    ) -> None:
        _outermost[id_] = id_ if parent_id is None else _outermost.get(parent_id, parent_id)
        if len(_outermost) > MOST_OPEN:
            _outermost.pop(next(iter(_outermost)), None)

    def span_exit(self, id_: str, *_: Any, **__: Any) -> None:
        _outermost.pop(id_, None)

    def span_drop(self, id_: str, *_: Any, **__: Any) -> None:
        _outermost.pop(id_, None)

    def new_span(self, *_: Any, **__: Any) -> None:
        return None

    def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
        return None

    def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
        return None
