"""The verbs of a whole memory: its users, forgetting one of them, and replay, report and tuning over several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.values import Moment
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import ScopeError
from adaptive_memory_core.flow import forget
from adaptive_memory_core.flow.calls.workers import in_worker
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.user_memory import UserMemory
from adaptive_memory_core.verbs.explaining import whole_report
from adaptive_memory_core.verbs.tuning import PRIOR, by_user, each_apart, policy_for, tuned_together, tuner_of

if TYPE_CHECKING:  # otherwise imported by the call that needs it
    from adaptive_memory_core.evaluate.replay import Replay
    from adaptive_memory_core.evaluate.tune import Tuning
    from adaptive_memory_core.memory import AdaptiveMemory


def users(memory: AdaptiveMemory) -> list[str | int]:
    """The names of all users who have records or learned state. This reads every record."""
    from adaptive_memory_core.flow import report

    with memory.opened.call():
        return report.user_names(memory.ports())


async def ausers(memory: AdaptiveMemory) -> list[str | int]:
    """`users`, async."""
    return await in_worker(memory.opened.workers, partial(users, memory))


def forget_user(memory: AdaptiveMemory, user: str | int) -> int:
    """Remove a user with every trace: records, reads, feedback, log and own policy; return the number of records.

    Traces elsewhere remain as after `forget`: docs/reference/stored.md. After an error, call it again to remove the
    rest. NotFoundError means that nothing is stored for this user.
    """
    scope = check.user_scope(user)
    with memory.opened.call():
        return forget.forget_user(memory.ports(), scope, now=memory.now())


async def aforget_user(memory: AdaptiveMemory, user: str | int) -> int:
    """`forget_user`, async."""
    return await in_worker(memory.opened.workers, partial(forget_user, memory, user))


def replay(
    memory: AdaptiveMemory,
    policy: Policy | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    *,
    user: str | int | Sequence[str | int] | None = None,
) -> Replay:
    """Replay past recalls under this policy: of one user, of several, or (omitted) of all.

    It joins the `replay` of each user's memory, ordered by time. It contains only user names that you gave, so none
    if `user` is omitted.
    """
    from adaptive_memory_core.evaluate.replay import Replay

    checked = check.policy(policy, memory.policy)
    parts = [(name, one.replay(checked, since, until)) for name, one in _logged(memory, user)]
    return Replay.joined(parts, checked.suited())


async def areplay(
    memory: AdaptiveMemory,
    policy: Policy | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    *,
    user: str | int | Sequence[str | int] | None = None,
) -> Replay:
    """`replay`, async."""
    return await in_worker(memory.opened.workers, partial(replay, memory, policy, since, until, user=user))


def report(
    memory: AdaptiveMemory, path: str | Path | None = None, *, title: str | None = None, users: int = 200
) -> str:
    """A self-contained HTML page about the whole memory, written to `path` if given.

    It shows the numbers of each user and the state of the memory, but no stored texts: for those use `report` of a
    user's memory. At most `users` users are shown (up to 1,000), those with most recalls first.
    """
    with memory.opened.call():
        return whole_report(memory, path, title=title, users=users)


async def areport(
    memory: AdaptiveMemory, path: str | Path | None = None, *, title: str | None = None, users: int = 200
) -> str:
    """`report`, async."""
    return await in_worker(memory.opened.workers, partial(report, memory, path, title=title, users=users))


def tune(
    memory: AdaptiveMemory,
    pairs: Mapping[Any, Any] | None = None,
    k: int = 10,
    policy: Policy | None = None,
    *,
    user: str | int | Sequence[str | int] | None = None,
    each: bool = False,
    since: Moment | None = None,
    until: Moment | None = None,
    held_out: float = 0.5,
    prior: float = PRIOR,
    seed: int = 0,
) -> Tuning:
    """Tune one policy for several users, as `tune` of a user's memory does for one: from labelled questions by user,
    or without `pairs` from the feedback in the logs of these users, or (omitted) of all.

    The search starts at `policy` (omitted: the memory's). With `each`, `users` of the result contains every user's own
    tuning, which starts at the common policy and stays closer to it if the user has few questions. With ten users or
    more, the interval is valid for other such users, otherwise for further questions of these users.
    """
    begin, tuner = policy_for(memory, policy), tuner_of(held_out, prior, seed)
    apart = each_apart(each, pairs, user)
    if pairs is None:
        meant = {number if name is None else name: one for number, (name, one) in enumerate(_logged(memory, user))}
        users: dict[Any, Any] = {name: (one, None) for name, one in meant.items()}
    else:
        users = {name: (memory.for_user(name), own) for name, own in by_user(pairs, user).items()}
    return tuned_together(users, begin, tuner, each=apart, k=k, since=since, until=until)


async def atune(
    memory: AdaptiveMemory,
    pairs: Mapping[Any, Any] | None = None,
    k: int = 10,
    policy: Policy | None = None,
    *,
    user: str | int | Sequence[str | int] | None = None,
    each: bool = False,
    since: Moment | None = None,
    until: Moment | None = None,
    held_out: float = 0.5,
    prior: float = PRIOR,
    seed: int = 0,
) -> Tuning:
    """`tune`, async."""
    spans: dict[str, Any] = {"since": since, "until": until, "held_out": held_out, "prior": prior, "seed": seed}
    return await in_worker(
        memory.opened.workers, partial(tune, memory, pairs, k, policy, user=user, each=each, **spans)
    )


def _logged(
    memory: AdaptiveMemory, user: str | int | Sequence[str | int] | None
) -> list[tuple[str | int | None, UserMemory]]:
    """The user memories whose logs are meant, each with its given name, or None if all are meant."""
    if user is None:
        with memory.opened.call():
            return [(None, UserMemory(memory, scope)) for scope in memory.ports().ledger.log.scopes()]
    if isinstance(user, Mapping):
        raise ScopeError(f"user is {shown(user)}. Give a user, a list of users, or None for all.")
    names: list[Any] = [user] if isinstance(user, str | bytes) or not isinstance(user, Iterable) else list(user)
    meant = {one.scope: (name, one) for name in names for one in [memory.for_user(name)]}  # without duplicates
    return list(meant.values())
