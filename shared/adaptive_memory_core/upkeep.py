"""How is a user's memory looked after? Standing, letting go, the log and the numbers - blocking and async."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from adaptive_memory_core import upkeep_verbs as verbs
from adaptive_memory_core.flow import feedback as reinforce
from adaptive_memory_core.flow.calls.drive import Flow, arun, run
from adaptive_memory_core.flow.candidates.shared_scope import Fallback, unmet_here
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState, Record, Scope
from adaptive_memory_core.reports import Calibration, Change, LoggedRecall, PruneReceipt, Receipt, Sample, Stats
from adaptive_memory_core.verbs import Memory, Moment

T = TypeVar("T")


class Upkeep:
    """The part of a user's memory that looks after it."""

    def __init__(self, memory: Memory, scope: Scope, fallback: Fallback | None = None) -> None:
        self._memory = memory
        self.scope = scope
        self.fallback = fallback

    def __repr__(self) -> str:
        return f"<memory of {self.scope}>"

    @property
    def user(self) -> str | None:
        return self.scope.user

    @property
    def memory(self) -> Memory:
        """The memory that this is one scope of."""
        return self._memory

    def pin(self, id: str, by: str = "caller") -> ReadState:  # noqa: A002
        """Protect a record: nothing that runs by itself may let go of it."""
        return self._run(verbs.change(self._memory, self.scope, id, reinforce.PIN, by))

    async def apin(self, id: str, by: str = "caller") -> ReadState:  # noqa: A002
        """`pin`, async."""
        return await self._arun(verbs.change(self._memory, self.scope, id, reinforce.PIN, by))

    def unpin(self, id: str, by: str = "caller") -> ReadState:  # noqa: A002
        """Take that protection back."""
        return self._run(verbs.change(self._memory, self.scope, id, reinforce.UNPIN, by))

    async def aunpin(self, id: str, by: str = "caller") -> ReadState:  # noqa: A002
        """`unpin`, async."""
        return await self._arun(verbs.change(self._memory, self.scope, id, reinforce.UNPIN, by))

    def demote(self, id: str, by: str = "caller") -> ReadState:  # noqa: A002
        """Put a record back: not pinned, not remembered, what its reads earned is gone, its importance 5 % lower."""
        return self._run(verbs.change(self._memory, self.scope, id, reinforce.demotion(self._memory.policy), by))

    async def ademote(self, id: str, by: str = "caller") -> ReadState:  # noqa: A002
        """`demote`, async."""
        return await self._arun(verbs.change(self._memory, self.scope, id, reinforce.demotion(self._memory.policy), by))

    def reset_balance(self) -> None:
        """Let having been of use count as the policy says again, whatever this user's verdicts have made of that."""
        self._run(verbs.reset_balance(self._memory, self.scope))

    async def areset_balance(self) -> None:
        """`reset_balance`, async."""
        await self._arun(verbs.reset_balance(self._memory, self.scope))

    def forget(self, id: str) -> Receipt:  # noqa: A002
        """Remove a record's text and traces from collection, ledger and log; gives a receipt."""
        return self._run(verbs.forget(self._memory, self.scope, id))

    async def aforget(self, id: str) -> Receipt:  # noqa: A002
        """`forget`, async."""
        return await self._arun(verbs.forget(self._memory, self.scope, id))

    def recalls(
        self,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int = 100,
        containing: str | None = None,
        turn: str | None = None,
    ) -> Sequence[LoggedRecall]:
        """Past recalls of this scope from the log, newest first: of a time, a turn, or with one record."""
        return self._run(verbs.recalls(self._memory, self.scope, since, until, limit, containing, turn))

    async def arecalls(
        self,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int = 100,
        containing: str | None = None,
        turn: str | None = None,
    ) -> Sequence[LoggedRecall]:
        """`recalls`, async."""
        return await self._arun(verbs.recalls(self._memory, self.scope, since, until, limit, containing, turn))

    def prune(
        self,
        below: float,
        dry_run: bool = False,
        archive: str | Path | None = None,
        limit: int | None = None,
        by: str = "caller",
    ) -> PruneReceipt:
        """Remove the records whose strength fell below a bound; never a pinned or a remembered one.

        With `archive` they are appended to that file first, as JSON lines that `remember_many` takes back. Each batch
        goes whole or not at all; after a crash, or where `limit` ended the work, call again.
        """
        return self._run(verbs.prune(self._memory, self.scope, below, dry_run, archive, limit, by))

    async def aprune(
        self,
        below: float,
        dry_run: bool = False,
        archive: str | Path | None = None,
        limit: int | None = None,
        by: str = "caller",
    ) -> PruneReceipt:
        """`prune`, async."""
        return await self._arun(verbs.prune(self._memory, self.scope, below, dry_run, archive, limit, by))

    def remembered(self) -> list[Record]:
        """The remembered set: the records that enough reads have consolidated."""
        return self._run(verbs.kept(self._memory, self.scope, "remembered"))

    async def aremembered(self) -> list[Record]:
        """`remembered`, async."""
        return await self._arun(verbs.kept(self._memory, self.scope, "remembered"))

    def pinned(self) -> list[Record]:
        """The pinned records."""
        return self._run(verbs.kept(self._memory, self.scope, "pinned"))

    async def apinned(self) -> list[Record]:
        """`pinned`, async."""
        return await self._arun(verbs.kept(self._memory, self.scope, "pinned"))

    def changes(self, id: str | None = None, limit: int = 1_000) -> Sequence[Change]:  # noqa: A002
        """The audit trail, newest first: what changed a record's standing, when, and who or which recall did it."""
        return self._run(verbs.changes(self._memory, self.scope, id, limit))

    async def achanges(self, id: str | None = None, limit: int = 1_000) -> Sequence[Change]:  # noqa: A002
        """`changes`, async."""
        return await self._arun(verbs.changes(self._memory, self.scope, id, limit))

    def history(self) -> Sequence[Sample]:
        """How the memory fared over time, oldest first: samples taken with the write-back (and by `flush()`), at most
        one every `Keeping.sample_recalls` recalls."""
        return self._run(verbs.history(self._memory, self.scope))

    async def ahistory(self) -> Sequence[Sample]:
        """`history`, async."""
        return await self._arun(verbs.history(self._memory, self.scope))

    def stats(self, at_least: float = 0.01) -> Stats:
        """This scope in numbers, and how far the write-back is; `at_least` is the strength from which a record counts
        for `strengths.size`."""
        return self._run(verbs.stats(self._memory, self.scope, at_least))

    async def astats(self, at_least: float = 0.01) -> Stats:
        """`stats`, async."""
        return await self._arun(verbs.stats(self._memory, self.scope, at_least))

    def calibrate(self, questions: Sequence[str] | None = None, policy: Policy | None = None) -> Calibration:
        """Measure what unrelated questions find in this scope: below that is the `relevance_floor`. Print the report.

        `questions` are ones that have nothing to do with it, at least 20; omitted, a list of our own in English. It
        holds for the embedder and for the channels of `policy` (omitted, the memory's), and reads nothing. A recall
        under a relevance floor starts it by itself, in the background; this waits for it.
        """
        return self._run(verbs.calibrate(self._memory, self.scope, questions, policy))

    async def acalibrate(self, questions: Sequence[str] | None = None, policy: Policy | None = None) -> Calibration:
        """`calibrate`, async."""
        return await self._arun(verbs.calibrate(self._memory, self.scope, questions, policy))

    def _run(self, flow: Flow[T]) -> T:
        with self._memory.call():
            return run(unmet_here(flow, self.fallback))

    async def _arun(self, flow: Flow[T]) -> T:
        with self._memory.waits():
            return await arun(unmet_here(flow, self.fallback), self._memory.executor)
