"""How does a user give feedback? Verdicts on recalls and answers, pins and demotions, as checked flows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from adaptive_memory_core import arguments as check
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow import feedback as flows
from adaptive_memory_core.flow import feedback_on_answer as answers
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.records import ReadState, Record, Scored
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.verbs.blocking_and_async import User
from adaptive_memory_core.verbs.own_policy import by_usual_policy

Judged = str | Scored | Record


def feedback(
    user: User, recall: Recall | str, helpful: Sequence[Judged] = (), unhelpful: Sequence[Judged] = ()
) -> Flow[int]:
    """Say which hits of a recall were helpful or unhelpful, by id or as they are; returns how many verdicts were new.

    `recall` is the Recall or its id, at once or later. A verdict counts once per recall and record; the opposite
    verdict takes it back. It moves the record's importance by at most 5 %, and a helpful one makes the record useful
    for some time (docs/learning.md).
    """
    for ids in (helpful, unhelpful):
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            example = [ids] if isinstance(ids, str) else ["an id"]
            raise InvalidInputError(f"The ids are {shown(ids)}. Give a list of ids, e.g. helpful={shown(example)}.")
    if not isinstance(recall, Recall):
        check.name(recall, "recall id")
    judging = partial(
        flows.feedback,
        user.memory.ports(),
        user.scope,
        recall,
        helpful=[_id_of(one) for one in helpful],
        unhelpful=[_id_of(one) for one in unhelpful],
        now=user.memory.now(),
    )
    return by_usual_policy(user, lambda policy: judging(policy=policy))


def _id_of(judged: Judged) -> str:
    return judged.id if isinstance(judged, Scored | Record) else check.name(judged, "id")


def feedback_on_answer(
    user: User, helpful: Iterable[Judged | Used] = (), unhelpful: Iterable[Judged | Used] = (), turn: str | None = None
) -> Flow[int]:
    """Give feedback on an answer that came from several recalls; returns how many verdicts were new.

    Each item is the id of a record (of the last recall that returned it), the id of a recall, or the name of a turn;
    the latter two mean all records that were returned. With `turn`, ids of records are those that the turn returned.
    Ids that no longer exist are skipped. A record that several recalls of one turn returned is judged once.
    """
    judging = partial(
        answers.feedback_on_answer,
        user.memory.ports(),
        user.scope,
        _used(helpful),
        _used(unhelpful),
        turn=None if turn is None else check.name(turn, "turn"),
        now=user.memory.now(),
    )
    return by_usual_policy(user, lambda policy: judging(policy=policy))


def pin(user: User, id: str, by: str = "caller") -> Flow[ReadState]:  # noqa: A002 - the contract's name
    """Protect a record: it does not decay, and nothing automatic removes it. `by` goes into the audit trail."""
    return _change(user, id, flows.PIN, by)


def unpin(user: User, id: str, by: str = "caller") -> Flow[ReadState]:  # noqa: A002
    """Remove the protection that `pin` gave."""
    return _change(user, id, flows.UNPIN, by)


def demote(user: User, id: str, by: str = "caller") -> Flow[ReadState]:  # noqa: A002
    """Undo what a record has gained: pin, remembered flag and effect of reads are removed, importance is 5 % lower."""
    return by_usual_policy(user, lambda policy: _change(user, id, flows.demotion(policy), by))


def reset_balance(user: User) -> Flow[None]:
    """Let usefulness count as the policy says again, whatever this user's feedback has made of its weight."""
    return flows.reset_balance(user.memory.ports(), user.scope)


def reset_learned_weights(user: User) -> Flow[None]:
    """Let each channel count as the policy says again, whatever this user's feedback has made of that."""
    return flows.reset_learned_weights(user.memory.ports(), user.scope)


def _change(user: User, record_id: str, act: flows.Act, by: str) -> Flow[ReadState]:
    checked, who = check.name(record_id, "id"), check.name(by, "name of who does it (by)")
    memory = user.memory
    return flows.change(memory.ports(), user.scope, checked, act, by=who, regime=memory.regime, now=memory.now())


def _used(things: Iterable[Judged | Used]) -> list[Used]:
    if isinstance(things, str) or not isinstance(things, Iterable):
        raise InvalidInputError(f"The ids are {shown(things)}. Give a list of ids, of records, of recalls or of turns.")
    return [one if isinstance(one, Used) else Used(_id_of(one)) for one in things]
