"""Methods that list a user's records, recalls, changes and statistics, and calibrate or reset the user's policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.values import Moment
from adaptive_memory_core.cue.unrelated_questions import UNRELATED, questions_in_language
from adaptive_memory_core.flow import calibrate as calibrating
from adaptive_memory_core.flow import look_up as past
from adaptive_memory_core.flow import prune as flagged
from adaptive_memory_core.flow.look_up import Listing, newest
from adaptive_memory_core.in_force import PolicyInForce, suited
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Record, Scope
from adaptive_memory_core.reports import Calibration, Change, LoggedRecall, Sample, Stats
from adaptive_memory_core.score.nothing_found import FEWEST
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.sources.ask import channels_of
from adaptive_memory_core.sources.request import Request

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory


def reset_policy(user: UserMemory) -> None:
    """Remove the policy that `for_user(policy=...)` stored for this user; the memory's policy applies again."""
    user.memory.ports().ledger.own_policies.keep(user.scope, None)
    user.own_policy.policy = None


MOST_LINES = 1_000_000  # log entries per call


def records(
    user: UserMemory,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - the contract's name
    limit: int = 100,
    offset: int = 0,
    *,
    current: bool = False,
) -> list[Record]:
    """The records of this user, newest first; with `over="everyone"`, everyone's as well. Nothing counts as read.

    `filter` is a Chroma `where` mapping, `offset` the number of records to skip. With `current`, records that were
    replaced, have ended or have not begun are left out. The call goes through all records of the user.
    """
    memory = user.memory
    start = 0 if type(offset) is int and offset == 0 else check.count(offset, "offset", most=MOST_LINES)
    most = check.count(limit, "limit", most=MOST_LINES)
    listing = Listing(check.where(filter), most, start, check.flag(current, "current"))
    return newest(memory.ports(), user.scope, listing, regime=memory.opened.in_force.regime, now=memory.now())


def recalls(
    user: UserMemory,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int = 100,
    containing: str | None = None,
    turn: str | None = None,
) -> Sequence[LoggedRecall]:
    """Past recalls of this user from the log, newest first: of a period, of a turn, or those that returned one record.

    Each entry has its cue, time, policy, and every candidate with score and reason. Entries are kept for
    `Keeping.log_days`.
    """
    memory = user.memory
    return past.recalls(
        memory.ports(),
        user.scope,
        kept_since=memory.now() - memory.keeping.log_days * DAY,
        since=check.moment(since, "since"),
        until=check.moment(until, "until"),
        limit=check.count(limit, "limit", most=MOST_LINES),
        containing=None if containing is None else check.name(containing, "id"),
        turn=None if turn is None else check.name(turn, "turn"),
    )


def remembered(user: UserMemory) -> list[Record]:
    """The records that were read `decay.remembrance_threshold` times, so they no longer decay."""
    return _flagged(user, "remembered")


def pinned(user: UserMemory) -> list[Record]:
    """The records that `pin` protects."""
    return _flagged(user, "pinned")


def changes(user: UserMemory, id: str | None = None, limit: int = 1_000) -> Sequence[Change]:  # noqa: A002
    """The audit trail, newest first: each change of a record's state, its time, and who or which recall made it."""
    checked = None if id is None else check.name(id, "id")
    most = check.count(limit, "limit", most=MOST_LINES)
    return flagged.changes(user.memory.ports(), user.scope, checked, limit=most)


def history(user: UserMemory) -> Sequence[Sample]:
    """Statistics of this user's records over time, oldest first.

    The write-back and `flush()` take samples, at most one per `Keeping.sample_recalls` recalls.
    """
    return flagged.history(user.memory.ports(), user.scope)


def stats(user: UserMemory, at_least: float = 0.01) -> Stats:
    """This user's numbers of records, reads and verdicts, the strengths, and the progress of the write-back.

    `strengths.size` counts the records with a strength of `at_least`.
    """
    memory, bound = user.memory, check.fraction(at_least, "at_least")
    return past.stats(
        memory.ports(), user.scope, regime=memory.opened.in_force.regime, at_least=bound, now=memory.now()
    )


def calibrate(
    user: UserMemory, questions: Sequence[str] | None = None, policy: Policy | None = None, language: str = "en"
) -> Calibration:
    """Measure how well unrelated questions match this user's records, for `Advanced(unrelated_answered=...)`.

    Print the result. `questions` are at least 20 questions that have nothing to do with the records. If omitted, a
    built-in list in the given `language` is used: "en", "de", "fr", "es", "it", "pt" or "nl". The measurement is valid
    for the language of the questions, the embedder, and the channels of `policy` (omitted: the memory's). It counts no
    reads. A recall with a relevance floor starts the measurement in the background; this call waits for it.
    """
    memory = user.memory
    asked = questions_in_language(language) if questions is None else check.questions(questions, fewest=FEWEST)
    manner = check.policy(policy, memory.policy)
    ports = memory.ports()
    check.channels(manner, channels_of(ports.sources))
    request = request_to_calibrate(memory.opened.in_force, user.scope, suited(ports, user.scope, manner))
    return calibrating.calibrate(ports, request, asked)


def request_to_calibrate(in_force: PolicyInForce, scope: Scope, policy: Policy) -> Request:
    """The request of a read-only recall, with a placeholder as its cue."""
    now, cue = in_force.now(), Cue(UNRELATED[0])
    return Request("calibration", scope, cue, 1, now, None, policy.suited(), in_force.regime, reinforce=False)


def _flagged(user: UserMemory, flag: flagged.Flag) -> list[Record]:
    memory = user.memory
    return flagged.flagged_records(
        memory.ports(), user.scope, flag, regime=memory.opened.in_force.regime, now=memory.now()
    )
