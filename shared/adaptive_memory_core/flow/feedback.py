"""How do verdicts, pins and demotions change a record? As rules applied inside one transaction of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adaptive_memory_core.arguments import distinct
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.common_share import judge_and_share
from adaptive_memory_core.flow.judged_question import judged_question
from adaptive_memory_core.flow.lead_steps import lead_steps
from adaptive_memory_core.flow.look_up import look_up, look_up_one, not_found
from adaptive_memory_core.flow.one_writer import one_writer
from adaptive_memory_core.flow.past_recall import PastRecall, past_recall, rankings
from adaptive_memory_core.flow.ports import DEMOTED, Ports
from adaptive_memory_core.flow.said_anew import refuse_said_anew
from adaptive_memory_core.learn.decay.strength import Timeline, settled
from adaptive_memory_core.learn.lead_weights import NOTHING_LEARNED
from adaptive_memory_core.learn.verdict_importance import demoted
from adaptive_memory_core.learn.verdicts import Judging, Occasion
from adaptive_memory_core.policy.decay import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState, Scope, Seen, Verdict
from adaptive_memory_core.shown_in_errors import listed, shown


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
    past = yield from past_recall(ports, scope, recall)
    scope = past.scope  # a user who judges what was found over everyone's records need not say so again
    yield from _refuse_forgotten(ports, scope, recall, list(verdicts))
    strangers = [one for one in verdicts if one not in past.returned]
    if strangers:
        _refuse_shared(recall, strangers)
        raise InvalidInputError(
            f"Recall {past.id} did not return {listed(strangers)}. Judge what it returned: "
            f"{listed(past.returned) or 'nothing'}."
        )
    judging = _judge(ports, scope, past, verdicts, policy, now=now)
    changed = yield from one_writer(ports, scope, list(verdicts), judging)
    ports.write_back.wake()
    return changed


def _judge(
    ports: Ports, scope: Scope, past: PastRecall, verdicts: Mapping[str, Verdict], policy: Policy, *, now: float
) -> Flow[int]:
    """While nobody forgets these records, or writes them anew."""
    found = yield from look_up(ports, scope, list(verdicts), now=now)
    if len(found) < len(verdicts):
        raise not_found(scope, [one for one in verdicts if one not in found])
    yield from refuse_said_anew(ports, scope, past, found)
    helpful = {one: found[one].stored_id for one, verdict in verdicts.items() if verdict is Verdict.HELPFUL}
    rule = yield from _rule(ports, scope, past, helpful, policy, now=now)
    steps = lead_steps(past, list(verdicts), helpful, policy)
    rule = replace(rule, steps={found[one].stored_id: by for one, by in steps.items()}) if steps else rule
    given = {found[one].stored_id: (verdict, found[one]) for one, verdict in verdicts.items()}
    stored = {one: found[one].stored_id for one in verdicts}
    asked = yield from judged_question(ports, past, stored, policy)
    return (yield from ask(judge_and_share, ports, scope, past.id, given, rule, policy, question=asked, now=now))


def _rule(
    ports: Ports, scope: Scope, past: PastRecall, helpful: Mapping[str, str], policy: Policy, *, now: float
) -> Flow[Judging]:
    """What the verdicts do; a recall that was no step of the user's stands at the last one."""
    step = past.step
    if step is None:
        known = yield from ask(ports.ledger.states.known, scope, [])
        step = known.timeline.step
    told = (yield from rankings(ports, scope, past, list(helpful))) if policy.adaptive else {}
    return Judging(policy, Occasion(past.at, step), now, {helpful[one]: standings for one, standings in told.items()})


def _refuse_forgotten(ports: Ports, scope: Scope, recall: Recall | str, ids: Sequence[str]) -> Flow[None]:
    """A record that was forgotten since then is not judged, nor is another that has its id by now. The log tells."""
    if isinstance(recall, str) or recall.step is None:
        return
    logged = yield from ask(ports.ledger.log.recall, scope, recall.id)
    if logged is None:
        return
    still = {one.id for one in logged.kept}
    forgotten = [one.id for one in recall.kept if one.id in ids and one.hit.learnable and one.id not in still]
    if forgotten:
        raise not_found(scope, forgotten)


def _refuse_shared(recall: Recall | str, ids: Sequence[str]) -> None:
    """What is shared is judged by those whose scope it is of."""
    shared = {} if isinstance(recall, str) else {one.id: one.shared for one in recall if not one.hit.learnable}
    for one in ids:
        if one in shared:
            raise InvalidInputError(
                f"The hit {shown(one)} is shared: {shared[one]}. A reader's verdict would change what others find, "
                "so it is not taken. Judge the user's own hits, or a recall of the shared scope itself."
            )


def change(
    ports: Ports, scope: Scope, record_id: str, act: Act, *, by: str, regime: Regime, now: float
) -> Flow[ReadState]:
    """Change one record's state; who did it goes into the audit trail."""
    changing = _change(ports, scope, record_id, act, by=by, regime=regime, now=now)
    state = yield from one_writer(ports, scope, [record_id], changing)
    ports.write_back.wake()
    return state


def _change(
    ports: Ports, scope: Scope, record_id: str, act: Act, *, by: str, regime: Regime, now: float
) -> Flow[ReadState]:
    found = yield from look_up_one(ports, scope, record_id, now=now)

    def rule(seen: Seen, *, timeline: Timeline) -> ReadState:
        after = act.rule(seen.state)
        return (
            after if after == seen.state else act.rule(settled(seen.state, seen.kind, timeline.under(regime), now=now))
        )

    return (
        yield from ask(
            ports.ledger.states.change, scope, found.stored_id, found.seen, rule, what=act.name, by=by, now=now
        )
    )


def reset_learned_weights(ports: Ports, scope: Scope) -> Flow[None]:
    """Let channels and signals count as the policy says, whatever verdicts have made of that for this scope."""
    yield from ask(ports.ledger.verdicts.set_lead_weights, scope, NOTHING_LEARNED)


def reset_balance(ports: Ports, scope: Scope) -> Flow[None]:
    """Let usefulness count as the policy says, whatever verdicts have made of that for this scope."""
    yield from ask(ports.ledger.verdicts.set_balance, scope, 0.0)


@dataclass(frozen=True, slots=True)
class Act:
    """A change on purpose: its name in the audit trail, and what it makes of a state."""

    name: str
    rule: Callable[[ReadState], ReadState]


PIN = Act("pinned", lambda state: replace(state, pinned=True))
UNPIN = Act("unpinned", lambda state: replace(state, pinned=False))


def demotion(policy: Policy) -> Act:
    return Act(DEMOTED, partial(demoted, policy=policy))
