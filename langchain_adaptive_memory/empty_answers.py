"""Why did a retriever find nothing? Records that it looked past are named once, as a warning and in the trace."""

from __future__ import annotations

from typing import Any

from adaptive_memory_core import AdaptiveMemory, Recall, UserMemory
from adaptive_memory_core.store.empty_answers import explained, is_odd
from langchain_adaptive_memory.asking import Step, away
from langchain_adaptive_memory.source import whole_memory

ADVICE = {
    False: "Where the user around a shared store does not matter to it, say user_key=None and user_id=EVERYONE.",
    True: "Say whose are meant: user_id=..., or config={'configurable': {'user_id': ...}}.",
}


def with_reason(scope: UserMemory, recall: Recall, where: Any) -> Step[Recall]:
    """The recall, with a note on what it looked past where that is odd."""
    memory = whole_memory(scope)
    if not is_odd(memory, recall, where):
        return recall
    return (yield from away(_explained, memory, recall))


def _explained(memory: AdaptiveMemory, recall: Recall) -> Recall:
    return explained(memory, recall, ADVICE, stacklevel=6)
