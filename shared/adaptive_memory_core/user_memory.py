"""What can one user do? Every read and write of a memory, blocking and async, bound to one scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from adaptive_memory_core import verbs
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.models.reranker import Reranker
from adaptive_memory_core.moving import Moving
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import AgentState, Cue, Metadata, NewRecord, Record
from adaptive_memory_core.verbs import Item, Moment

T = TypeVar("T")


class UserMemory(Moving):
    """One user's memory (or, from `for_everyone`, that of the records that belong to nobody).

    Every verb has an async twin with an `a` before its name: the same logic, with all I/O off the event loop.
    """

    def remember(
        self,
        text: str,
        id: str | None = None,  # noqa: A002 - the contract's name
        importance: float = 0.5,
        kind: str = "event",
        created_at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        supersedes: str | None = None,
        metadata: Metadata | None = None,
    ) -> str:
        """Store a memory; gives its id. An id that exists is written over and keeps what reads have taught."""
        return self._run(
            verbs.remember(
                self._memory,
                self.scope,
                [NewRecord(text, id, importance, kind, created_at, valid_from, valid_until, supersedes, metadata)],  # type: ignore[arg-type] # checked within
            )
        )[0]

    async def aremember(
        self,
        text: str,
        id: str | None = None,  # noqa: A002 - the contract's name
        importance: float = 0.5,
        kind: str = "event",
        created_at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        supersedes: str | None = None,
        metadata: Metadata | None = None,
    ) -> str:
        """`remember`, async."""
        return (
            await self._arun(
                verbs.remember(
                    self._memory,
                    self.scope,
                    [NewRecord(text, id, importance, kind, created_at, valid_from, valid_until, supersedes, metadata)],  # type: ignore[arg-type] # checked within
                )
            )
        )[0]

    def remember_many(self, items: Iterable[Item]) -> list[str]:
        """Store texts, Records or mappings with the arguments of `remember`; gives their ids in order.

        All are checked before any is written. They are written in batches as large as the database takes, each whole
        or not at all; where a later batch fails, `PartialWriteError` says which ids are stored.
        """
        return self._run(verbs.remember(self._memory, self.scope, items))

    async def aremember_many(self, items: Iterable[Item]) -> list[str]:
        """`remember_many`, async."""
        return await self._arun(verbs.remember(self._memory, self.scope, items))

    def recall(
        self,
        cue: str | Cue | AgentState,
        k: int = 5,
        now: Moment | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the contract's name
        reinforce: bool = True,
        policy: Policy | None = None,
        turn: str | None = None,
        *,
        accept: Callable[[Record], bool] | None = None,
        in_context: Iterable[str] = (),
        state: AgentState | None = None,
        reranker: Reranker | None = None,
    ) -> Recall:
        """The `k` best memories for a cue, best first; maybe fewer, maybe none.

        What is returned counts as read, unless `reinforce=False`: that changes nothing at all. `filter` is a Chroma
        `where` mapping over the caller's own metadata; it narrows this scope and cannot widen it. `turn` names the
        occasion: recalls of one turn are one step of the user's recall counter, and a record is read once in it. A
        `Cue(text, vector)` brings its own vector, made by the collection's embedder; nothing is embedded then. An
        `AgentState` becomes a cue about what the agent is doing; `state` says what it is doing now, so that a cue that
        was not built again is noted in the trace.

        `accept` refuses records before they are scored, whatever it is that they must not be. `in_context` names ids
        and texts that the model has before it already: they are not returned again. Words about time ("in 2019",
        "originally", "lately") change the ranking as the policy says. Where this memory has a `fallback` and the
        user no history, shared records fill up what is missing, each labelled by `hit.shared`.

        `reranker` takes the place of the memory's for this recall: a function of the cue and a list of texts to one
        number each, or an object with `predict(pairs)`. Channels and rerankers that fail are left out with a note.
        """
        return self._run(
            verbs.recall(
                self._memory,
                self.scope,
                cue,
                k,
                now,
                filter,
                reinforce,
                policy,
                turn,
                accept,
                in_context,
                state,
                reranker,
                self.fallback,
            )
        )

    async def arecall(
        self,
        cue: str | Cue | AgentState,
        k: int = 5,
        now: Moment | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the contract's name
        reinforce: bool = True,
        policy: Policy | None = None,
        turn: str | None = None,
        *,
        accept: Callable[[Record], bool] | None = None,
        in_context: Iterable[str] = (),
        state: AgentState | None = None,
        reranker: Reranker | None = None,
    ) -> Recall:
        """`recall`, async."""
        return await self._arun(
            verbs.recall(
                self._memory,
                self.scope,
                cue,
                k,
                now,
                filter,
                reinforce,
                policy,
                turn,
                accept,
                in_context,
                state,
                reranker,
                self.fallback,
            )
        )

    def rerank(
        self,
        cue: str | Cue | AgentState,
        hits: Mapping[str, float | None],
        k: int | None = None,
        now: Moment | None = None,
        reinforce: bool = True,
        policy: Policy | None = None,
        turn: str | None = None,
        guests: Mapping[str, str] | None = None,
        reranker: Reranker | None = None,
    ) -> Recall:
        """The best of records that somebody else has retrieved, given as id to similarity (None: unknown).

        They are scored, dropped, learned from and logged as those of `recall`; ids that this scope does not hold are
        in `dropped`. All that pass are returned unless `k` is given. `guests` gives the texts of hits from elsewhere:
        where neither this scope nor everyone's has a record of that id, they compete, and nothing is learned of them.
        """
        return self._run(
            verbs.rerank(self._memory, self.scope, cue, hits, k, now, reinforce, policy, turn, guests, reranker)
        )

    async def arerank(
        self,
        cue: str | Cue | AgentState,
        hits: Mapping[str, float | None],
        k: int | None = None,
        now: Moment | None = None,
        reinforce: bool = True,
        policy: Policy | None = None,
        turn: str | None = None,
        guests: Mapping[str, str] | None = None,
        reranker: Reranker | None = None,
    ) -> Recall:
        """`rerank`, async."""
        return await self._arun(
            verbs.rerank(self._memory, self.scope, cue, hits, k, now, reinforce, policy, turn, guests, reranker)
        )

    def get(self, id: str) -> Record:  # noqa: A002 - the contract's name
        """One record with its read state as of now; an unknown id is a NotFoundError."""
        return self._run(verbs.get(self._memory, self.scope, id))

    async def aget(self, id: str) -> Record:  # noqa: A002
        """`get`, async."""
        return await self._arun(verbs.get(self._memory, self.scope, id))

    def feedback(self, recall: Recall | str, helpful: Sequence[str] = (), unhelpful: Sequence[str] = ()) -> int:
        """Say which hits of a recall were of use, by the Recall or its id; gives how many verdicts were new.

        A verdict moves the record's importance by at most 5 %. It counts once per recall and record; a changed mind
        takes the earlier verdict back.
        """
        return self._run(verbs.feedback(self._memory, self.scope, recall, helpful, unhelpful))

    async def afeedback(self, recall: Recall | str, helpful: Sequence[str] = (), unhelpful: Sequence[str] = ()) -> int:
        """`feedback`, async."""
        return await self._arun(verbs.feedback(self._memory, self.scope, recall, helpful, unhelpful))

    def feedback_on_answer(
        self, helpful: Iterable[str | Used] = (), unhelpful: Iterable[str | Used] = (), turn: str | None = None
    ) -> int:
        """Say what was of use in an answer that came from several recalls; gives how many verdicts were new.

        Each is the id of a record (of the last recall that returned it), of a recall, or the name of a turn: the latter
        two mean all that was returned. With `turn`, ids of records are those that the turn returned. What is gone costs
        the others nothing; a record that several recalls of one turn returned is judged once.
        """
        return self._run(verbs.feedback_on_answer(self._memory, self.scope, helpful, unhelpful, turn))

    async def afeedback_on_answer(
        self, helpful: Iterable[str | Used] = (), unhelpful: Iterable[str | Used] = (), turn: str | None = None
    ) -> int:
        """`feedback_on_answer`, async."""
        return await self._arun(verbs.feedback_on_answer(self._memory, self.scope, helpful, unhelpful, turn))
