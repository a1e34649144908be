"""How does a record's standing change on purpose? Verdicts on a recall, and pin, unpin, demote by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import InvalidInputError, NotFoundError, ScopeError
from adaptive_memory_core.flow.check import distinct
from adaptive_memory_core.flow.drive import Flow, ask
from adaptive_memory_core.flow.look_up import look_up, look_up_one, not_found
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.learn.feedback import demoted, rejudged
from adaptive_memory_core.learn.remembrance import Timeline, settled
from adaptive_memory_core.pace import Regime
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.records import ReadState, Scope, Seen, Verdict


def feedback(
    ports: Ports,
    scope: Scope,
    recall: Recall | str,
    *,
    helpful: Sequence[str],
    unhelpful: Sequence[str],
    policy: Policy,
    now: float,
) -> Flow[int]:
    """Judge what a recall returned; gives how many verdicts were new."""
    distinct([*helpful, *unhelpful], "id")
    verdicts = {**dict.fromkeys(helpful, Verdict.HELPFUL), **dict.fromkeys(unhelpful, Verdict.UNHELPFUL)}
    recall_id, returned = yield from _returned(ports, scope, recall)
    strangers = [one for one in verdicts if one not in returned]
    if strangers:
        _refuse_shared(recall, strangers)
        raise InvalidInputError(
            f"Recall {recall_id} did not return {', '.join(map(repr, strangers))}. Judge what it returned: "
            f"{', '.join(map(repr, returned)) or 'nothing'}."
        )
    found = yield from look_up(ports, scope, list(verdicts))
    if len(found) < len(verdicts):
        raise not_found(scope, [one for one in verdicts if one not in found])
    judged = {found[one].stored_id: (verdict, found[one].seen) for one, verdict in verdicts.items()}
    rule = partial(rejudged, policy=policy)
    changed = yield from ask(ports.ledger.judge, scope, recall_id, judged, rule, now=now)
    ports.projector.wake()
    return changed


def _returned(ports: Ports, scope: Scope, recall: Recall | str) -> Flow[tuple[str, Sequence[str]]]:
    """The recall's id and what it returned; a recall of another scope does not exist here."""
    if isinstance(recall, Recall):
        if recall.scope != scope:
            raise ScopeError(
                f"This recall is of {recall.scope}, not of {scope}. Judge it through the scope that made it."
            )
        return recall.id, [one.id for one in recall if one.shared is None]
    logged = yield from ask(ports.ledger.logged, scope, recall)
    if logged is None:
        raise NotFoundError(
            f"There is no recall {recall!r} in the log of {scope}. Give the id of a recall that was reinforced while "
            "the log was on and that is within its retention, or the Recall itself."
        )
    return logged.id, [one.id for one in logged.kept]


def _refuse_shared(recall: Recall | str, ids: Sequence[str]) -> None:
    """What is shared is judged by those whose scope it is of."""
    shared = {} if isinstance(recall, str) else {one.id: one.shared for one in recall if one.shared is not None}
    for one in ids:
        if one in shared:
            raise InvalidInputError(
                f"The hit {one!r} is shared: {shared[one]}. A reader's verdict would change what others find, so it is "
                "not taken. Judge the user's own hits, or a recall of the shared scope itself."
            )


def change(
    ports: Ports, scope: Scope, record_id: str, act: Act, *, by: str, regime: Regime, now: float
) -> Flow[ReadState]:
    """Change one record's standing; who did it goes into the audit trail."""
    found = yield from look_up_one(ports, scope, record_id)

    def rule(seen: Seen, *, timeline: Timeline) -> ReadState:
        after = act.rule(seen.state)
        return (
            after if after == seen.state else act.rule(settled(seen.state, seen.kind, timeline.under(regime), now=now))
        )

    state = yield from ask(ports.ledger.change, scope, found.stored_id, found.seen, rule, what=act.name, by=by, now=now)
    ports.projector.wake()
    return state


@dataclass(frozen=True, slots=True)
class Act:
    """A change of standing: its name in the audit trail, and what it makes of a state."""

    name: str
    rule: Callable[[ReadState], ReadState]


PIN = Act("pinned", lambda state: replace(state, pinned=True))
UNPIN = Act("unpinned", lambda state: replace(state, pinned=False))


def demotion(policy: Policy) -> Act:
    return Act("demoted", partial(demoted, policy=policy))
