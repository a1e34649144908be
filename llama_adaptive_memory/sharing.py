"""What do the three classes have in common? They read a memory, take feedback on it, and release it when closed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import Recall, UserMemory
from adaptive_memory_core.error_messages import no_attribute
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.reports import Receipt
from adaptive_memory_core.running_calls import ClosedByWith
from llama_adaptive_memory.recall_mark import Citations, used_in

NOTHING_YET = "Nothing was recalled here yet."


class Sharing(ClosedByWith):
    """Access to the memory behind, and the end of its use."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            inherited = getattr(super(), "__getattr__", None)  # pydantic's, for private attributes
            try:
                if inherited is not None:
                    return inherited(name)
            except AttributeError:
                pass
            raise no_attribute(type(self), name, "memory.", UserMemory)

    @property
    def memory(self: Any) -> UserMemory:
        """What is read here, with all that can be done with it: remember, pin, recalls, stats."""
        scope: UserMemory = self._scope
        return scope

    @property
    def last_recall(self: Any) -> Recall | None:
        """The newest answer, of whichever thread."""
        found: Recall | None = self._last_recall
        return found

    def explain_last(self) -> str:
        """How the newest answer came about, as a table: each hit's score in parts, and what was dropped and why."""
        found = self.last_recall
        return NOTHING_YET if found is None else found.explain()

    def feedback(
        self: Any, helpful: Any = (), unhelpful: Any = (), turn: str | None = None, *, answer: str | None = None
    ) -> int:
        """Say what was of use in an answer, at once or later; gives how many verdicts were new.

        Each may be an id, a node, a `NodeWithScore`, a response with its `source_nodes`, an agent's output, a Recall,
        or a list of these. What is gone since, or of another source, costs the others nothing; with `turn` (the name
        that `one_question` gave), ids are those that the question's recalls returned. With the text of the `answer`,
        the judge says which of `helpful` it rests on, and the others are unhelpful.
        """
        return feedback_on(self.memory, helpful, unhelpful, turn, answer, getattr(self, "judge", None))

    async def afeedback(
        self: Any, helpful: Any = (), unhelpful: Any = (), turn: str | None = None, *, answer: str | None = None
    ) -> int:
        """`feedback`, async."""
        return await afeedback_on(self.memory, helpful, unhelpful, turn, answer, getattr(self, "judge", None))

    def forget(self, ids_or_nodes: Any) -> list[Receipt]:
        """Remove records with every trace of them, by ids, nodes or answers; gives a receipt for each that was there.

        Where none of them is there, that is a NotFoundError; shared ones are not the reader's, and are passed over.
        """
        return forget_in(self.memory, ids_or_nodes)

    async def aforget(self, ids_or_nodes: Any) -> list[Receipt]:
        """`forget`, async."""
        return await aforget_in(self.memory, ids_or_nodes)

    def flush(self: Any) -> None:
        """Write back into the collection what was learned so far, before this returns."""
        _whole(self).flush()

    def sync(self: Any) -> None:
        """Take in what other programs have written into the collection, before this returns."""
        _whole(self).sync()

    async def async_sync(self: Any) -> None:
        """`sync`, async."""
        await _whole(self).async_sync()

    def close(self: Any) -> None:
        """Write back what was learned, and let go of the memory; it is closed where nobody else uses it."""
        self._lease.close()

    async def aclose(self: Any) -> None:
        """`close`, async."""
        await asyncio.to_thread(self._lease.close)


def feedback_on(
    scope: UserMemory, helpful: Any, unhelpful: Any, turn: str | None, answer: str | None, judge: Any
) -> int:
    good, bad = _used(scope, helpful), _used(scope, unhelpful)
    return scope.feedback_on_answer(good, bad, turn, answer=answer, judge=judge)


async def afeedback_on(
    scope: UserMemory, helpful: Any, unhelpful: Any, turn: str | None, answer: str | None, judge: Any
) -> int:
    good, bad = [await asyncio.to_thread(_used, scope, some) for some in (helpful, unhelpful)]
    return await scope.afeedback_on_answer(good, bad, turn, answer=answer, judge=judge)


def _used(scope: UserMemory, things: Any) -> list[Used]:
    return used_in(things, scope.scope, Citations(scope))


def forget_in(scope: UserMemory, things: Any) -> list[Receipt]:
    return scope.forget([used.id for used in _used(scope, things) if not used.shared])


async def aforget_in(scope: UserMemory, things: Any) -> list[Receipt]:
    used = await asyncio.to_thread(_used, scope, things)
    return await scope.aforget([one.id for one in used if not one.shared])


def _whole(shared: Any) -> Any:
    """The memory behind it, of all users."""
    held: Any = shared._lease.memory
    whole: Any = held.memory if isinstance(held, UserMemory) else held
    return whole
