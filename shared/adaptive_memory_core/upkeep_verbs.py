"""What does each verb of upkeep ask for? The caller's arguments, checked, as a flow that is ready to run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from adaptive_memory_core import arguments as check
from adaptive_memory_core.cue.unrelated import UNRELATED
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow import calibrate as calibrating
from adaptive_memory_core.flow import feedback as reinforce
from adaptive_memory_core.flow import flagged as standing
from adaptive_memory_core.flow import forget as forgetting
from adaptive_memory_core.flow import history as look_back
from adaptive_memory_core.flow import prune as pruning
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.sources import channels_of
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, ReadState, Record, Scope
from adaptive_memory_core.reports import Calibration, Change, LoggedRecall, PruneReceipt, Receipt, Sample, Stats
from adaptive_memory_core.score.nothing_found import FEWEST
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.store.archive import JSONLines
from adaptive_memory_core.verbs import Memory, Moment

MOST = 1_000_000_000  # records of one call of prune


def change(memory: Memory, scope: Scope, record_id: str, act: reinforce.Act, by: str) -> Flow[ReadState]:
    checked, who = check.name(record_id, "id"), check.name(by, "name of who does it (by)")
    return reinforce.change(memory.ports(), scope, checked, act, by=who, regime=memory.regime, now=memory.now())


def reset_balance(memory: Memory, scope: Scope) -> Flow[None]:
    return reinforce.reset_balance(memory.ports(), scope)


def forget(memory: Memory, scope: Scope, record_id: str) -> Flow[Receipt]:
    return forgetting.forget(memory.ports(), scope, check.name(record_id, "id"), now=memory.now())


def prune(
    memory: Memory,
    scope: Scope,
    below: float,
    dry_run: bool,
    archive: str | Path | None,
    limit: int | None,
    by: str,
) -> Flow[PruneReceipt]:
    if archive is not None and not _is_file(archive):
        raise InvalidInputError(
            f"archive is {archive!r}. Give the path of a file to append to, in a directory that exists, or None."
        )
    call = pruning.Pruning(
        scope=scope,
        below=check.share(below, "below"),
        limit=MOST if limit is None else check.count(limit, "limit", most=MOST),
        dry_run=check.flag(dry_run, "dry_run"),
        archive=None if archive is None else JSONLines(archive),
        by=check.name(by, "name of who does it (by)"),
        regime=memory.regime,
        now=memory.now(),
    )
    return pruning.prune(memory.ports(), call)


def _is_file(path: object) -> bool:
    """Whether it names a file that is there or could be."""
    return isinstance(path, str | Path) and str(path) != "" and Path(path).parent.is_dir() and not Path(path).is_dir()


def kept(memory: Memory, scope: Scope, flag: standing.Flag) -> Flow[list[Record]]:
    return standing.kept(memory.ports(), scope, flag, regime=memory.regime, now=memory.now())


def changes(memory: Memory, scope: Scope, record_id: str | None, limit: int) -> Flow[Sequence[Change]]:
    checked = None if record_id is None else check.name(record_id, "id")
    return standing.changes(memory.ports(), scope, checked, limit=check.count(limit, "limit", most=1_000_000))


def history(memory: Memory, scope: Scope) -> Flow[Sequence[Sample]]:
    return standing.history(memory.ports(), scope)


def recalls(
    memory: Memory,
    scope: Scope,
    since: Moment | None,
    until: Moment | None,
    limit: int,
    containing: str | None,
    turn: str | None,
) -> Flow[Sequence[LoggedRecall]]:
    return look_back.recalls(
        memory.ports(),
        scope,
        kept_since=memory.now() - memory.keeping.log_days * DAY,
        since=check.moment(since, "since"),
        until=check.moment(until, "until"),
        limit=check.count(limit, "limit", most=1_000_000),
        containing=None if containing is None else check.name(containing, "id"),
        turn=None if turn is None else check.name(turn, "turn"),
    )


def stats(memory: Memory, scope: Scope, at_least: float) -> Flow[Stats]:
    bound = check.share(at_least, "at_least")
    return look_back.stats(memory.ports(), scope, regime=memory.regime, at_least=bound, now=memory.now())


def calibrate(
    memory: Memory, scope: Scope, questions: Sequence[str] | None, policy: Policy | None
) -> Flow[Calibration]:
    asked = UNRELATED if questions is None else check.questions(questions, fewest=FEWEST)
    manner = check.policy(policy, memory.policy)
    check.channels(manner, channels_of(memory.ports().sources))
    request = request_to_calibrate(memory, memory.embedder_name, scope, manner)
    return calibrating.calibrate(memory.ports(), request, asked)


class Pace(Protocol):
    """The time, and how it goes by."""

    @property
    def regime(self) -> Regime: ...
    def now(self) -> float: ...


def request_to_calibrate(pace: Pace, embedder: str, scope: Scope, policy: Policy) -> Request:
    """A recall that only looks, before it is known for what."""
    now, cue = pace.now(), Cue(UNRELATED[0])
    return Request("calibration", scope, cue, 1, now, None, policy.suited(embedder), pace.regime, reinforce=False)
