"""Why did a retriever find nothing? Records that it looked past are named once, as a warning and in the trace."""

from __future__ import annotations

from typing import Any

from adaptive_memory_core import Recall, UserMemory
from adaptive_memory_core.store.named_users import explain_empty, is_unexpected
from langchain_adaptive_memory.source import whole_memory

ADVICE = {
    False: 'Give over="everyone" to read them; or user_key=None and user_id=EVERYONE if no user matters to this store.',
    True: "Say whose are meant: user_id=..., or config={'configurable': {'user_id': ...}}.",
}


def with_reason(scope: UserMemory, recall: Recall, where: Any) -> Recall:
    """The recall, with a note on what it looked past where that is odd."""
    memory = whole_memory(scope)
    if not is_unexpected(memory, recall, where):
        return recall
    return explain_empty(memory, recall, ADVICE, stacklevel=7)
