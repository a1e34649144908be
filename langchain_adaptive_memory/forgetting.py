"""How are several records forgotten? One after the other; one that is gone does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core import NotFoundError, ScopeError, UserMemory
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.reports import Receipt
from langchain_adaptive_memory.asking import Step, ask


def forgotten(scope: UserMemory, used: Sequence[Used]) -> Step[list[Receipt]]:
    """A receipt for each that was there; where none was, that is an error. Shared ones are not the reader's."""
    receipts: list[Receipt] = []
    missing: NotFoundError | ScopeError | None = None
    for one in dict.fromkeys(one.id for one in used if not one.shared):
        try:
            receipts.append((yield from ask(scope, "forget", one)))
        except (NotFoundError, ScopeError) as error:
            missing = error
    if missing is not None and not receipts:
        raise missing
    return receipts
