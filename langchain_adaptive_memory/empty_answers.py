"""Why did a retriever find nothing at all? What it looked past is said once, as a warning and in the trace."""

from __future__ import annotations

from adaptive_memory_core import AdaptiveMemory, Recall
from adaptive_memory_core.store import empty_answers
from adaptive_memory_core.store.empty_answers import is_odd

__all__ = ["explained", "is_odd"]
ADVICE = {
    False: "Where the user around a shared store does not matter to it, say user_key=None or user_id=EVERYONE.",
    True: "Say whose are meant: user_id=..., or config={'configurable': {'user_id': ...}}.",
}


def explained(memory: AdaptiveMemory, recall: Recall) -> Recall:
    """The recall with a note on what it looked past."""
    return empty_answers.explained(memory, recall, ADVICE, stacklevel=6)
