"""Methods for feedback on recalls and answers, and for pins and demotions; arguments are checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow import feedback as flows
from adaptive_memory_core.flow import feedback_on_answer as answers
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.in_force import usual_policy
from adaptive_memory_core.models.judges import as_judge
from adaptive_memory_core.records import ReadState, Record, Scored

if TYPE_CHECKING:
    from adaptive_memory_core.user_memory import UserMemory

Judged = str | Scored | Record


def feedback(
    user: UserMemory, recall: Recall | str, helpful: Sequence[Judged] = (), unhelpful: Sequence[Judged] = ()
) -> int:
    """Say which hits of a recall were helpful or unhelpful, by id or as hits; returns how many verdicts were new.

    `recall` is the Recall or its id, and may be given any time later. A verdict counts once per recall and record; the
    opposite verdict takes it back. A verdict changes the record's importance by at most 5 %, and a helpful one makes
    the record useful for some time (docs/background/ranking.md).
    """
    for ids in (helpful, unhelpful):
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            example = [ids] if isinstance(ids, str) else ["an id"]
            raise InvalidInputError(f"The ids are {shown(ids)}. Give a list of ids, e.g. helpful={shown(example)}.")
    if not isinstance(recall, Recall):
        check.name(recall, "recall id")
    memory = user.memory
    return flows.feedback(
        memory.ports(),
        user.scope,
        recall,
        helpful=[id_of(one) for one in helpful],
        unhelpful=[id_of(one) for one in unhelpful],
        policy=usual_policy(user),
        now=memory.now(),
        judge=memory.opened.judge,
    )


def id_of(judged: Judged) -> str:
    """The id of a record that is given as an id, a hit or a record."""
    return judged.id if isinstance(judged, Scored | Record) else check.name(judged, "id")


def feedback_on_answer(
    user: UserMemory,
    helpful: Iterable[Judged | Used | Recall] = (),
    unhelpful: Iterable[Judged | Used | Recall] = (),
    turn: str | None = None,
    *,
    answer: str | None = None,
    judge: Any = None,
) -> int:
    """Give feedback on an answer that is based on several recalls; returns how many verdicts were new.

    Each item is a record's id (the verdict is on the last recall that returned it), a recall or its id, or the name of
    a turn. A recall or turn means all records that it returned. With the text of the `answer`, the judge decides which
    of `helpful` it is based on, and the others are unhelpful; `judge` replaces the memory's own. With `turn`, only the
    recalls of that turn are searched for ids of records. Ids that no longer exist are skipped. A record that several
    recalls of one turn returned is judged once.
    """
    good, bad = _used(helpful), _used(unhelpful)
    named = None if turn is None else check.name(turn, "turn")
    memory, policy = user.memory, usual_policy(user)
    answered = None if answer is None else check.nonblank_text(answer, "answer")
    if answered is not None and bad:
        raise InvalidInputError("With answer= the judge says what was unhelpful. Leave unhelpful= out.")
    by, now = memory.opened.judge if judge is None else as_judge(judge), memory.now()
    return answers.feedback_on_answer(
        memory.ports(), user.scope, good, bad, turn=named, policy=policy, now=now, judge=by, answer=answered
    )


def pin(user: UserMemory, id: str, by: str = "caller") -> ReadState:  # noqa: A002 - the contract's name
    """Protect a record from decay and from automatic removal. `by` goes into the audit trail."""
    return _change(user, id, flows.PIN, by)


def unpin(user: UserMemory, id: str, by: str = "caller") -> ReadState:  # noqa: A002
    """Remove the protection that `pin` gave."""
    return _change(user, id, flows.UNPIN, by)


def demote(user: UserMemory, id: str, by: str = "caller") -> ReadState:  # noqa: A002
    """Undo what a record has gained: remove the pin, the remembered flag and the effect of reads, and reduce importance
    by 5 %."""
    return _change(user, id, flows.demotion(usual_policy(user)), by)


def reset_balance(user: UserMemory) -> None:
    """Reset the weight of usefulness to zero, until this user's feedback shows again that it helps."""
    return flows.reset_balance(user.memory.ports(), user.scope)


def _change(user: UserMemory, record_id: str, act: flows.Act, by: str) -> ReadState:
    checked, who = check.name(record_id, "id"), check.name(by, "name of who does it (by)")
    memory = user.memory
    return flows.change(
        memory.ports(), user.scope, checked, act, by=who, regime=memory.opened.in_force.regime, now=memory.now()
    )


def _used(things: Iterable[Judged | Used | Recall]) -> list[Used]:
    if isinstance(things, str | Recall) or not isinstance(things, Iterable):
        raise InvalidInputError(f"The ids are {shown(things)}. Give a list of ids, of records, of recalls or of turns.")
    named = [one.id if isinstance(one, Recall) else one for one in things]
    return [one if isinstance(one, Used) else Used(id_of(one)) for one in named]
