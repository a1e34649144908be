"""How are several texts embedded in a flow? By the model's own coroutine, where it has one and a loop drives it."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.calls.foreign_calls import Question, Twins
from adaptive_memory_core.flow.calls.unanswered import Unanswered
from adaptive_memory_core.flow.ports.models import Embedder
from adaptive_memory_core.flow.ports.search import Vector


def embedded_texts(embedder: Embedder, texts: Sequence[str]) -> Flow[Sequence[Vector]]:
    """The vectors of the texts, in their order."""
    if not embedder.can_wait_for_documents:
        return (yield from ask(embedder.embed_documents, texts))
    blocking = Question(lambda: embedder.embed_documents(texts), 0.0, Unanswered())
    waiting = Question(lambda: embedder.aembed_documents(texts), 0.0, Unanswered(), coroutine=True)
    vectors: Sequence[Vector] = yield Twins(blocking, waiting)
    return vectors
