"""Why did a retriever find nothing? Records that it looked past are named once, as a warning and in the trace."""

from __future__ import annotations

from typing import Any

from adaptive_memory_core import Recall, UserMemory
from adaptive_memory_core.store.named_users import explain_empty, is_unexpected

ADVICE = {
    False: 'Give over="everyone" to read them for this user; or leave user_id out.',
    True: "Say whose are meant: user_id='alice' for the retriever, or for a call.",
}


def with_reason(found: Recall, scope: UserMemory, filters: Any) -> Recall:
    """The recall; with a note on what it looked past, where it found nothing and that is odd."""
    if not is_unexpected(scope.memory, found, filters):
        return found
    return explain_empty(scope.memory, found, ADVICE, stacklevel=4)
