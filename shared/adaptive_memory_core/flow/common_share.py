"""How do readers' verdicts on everyone's records count for all, where the policy wants that? As a share of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from adaptive_memory_core.flow.calls.kept_whole import kept_whole
from adaptive_memory_core.flow.count_reading import judge
from adaptive_memory_core.flow.ports import Judge, JudgedQuestion, Moves, Ports, Rewritten, Stored
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.learn.verdicts import boost_for_everyone
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import NEVER_READ, ReadState, Scope, Seen, Verdict
from adaptive_memory_core.stored_metadata import state_of
from adaptive_memory_core.stored_owner import SHARED

FOR_ALL = "judged by a reader"  # in everyone's audit trail: it names nobody


def judge_and_share(
    ports: Ports,
    scope: Scope,
    recall_id: str,
    given: Mapping[str, tuple[Verdict, Stored]],
    rule: Judge,
    policy: Policy,
    *,
    question: JudgedQuestion | None = None,
    now: float,
) -> int:
    """Verdicts into the ledger, and their common share with them, in one transaction; gives how many were new."""
    verdicts = {one: (verdict, stored.seen) for one, (verdict, stored) in given.items()}
    shared = {one: stored for one, (_, stored) in given.items() if stored.shared}
    if not shared or policy.learning.common_share == 0.0:
        return judge(ports, scope, recall_id, verdicts, rule, question=question, now=now)
    return _judge_with(ports, scope, recall_id, verdicts, shared, rule, policy, question=question, now=now)


@kept_whole
def _judge_with(
    ports: Ports,
    scope: Scope,
    recall_id: str,
    verdicts: Mapping[str, tuple[Verdict, Seen]],
    shared: Mapping[str, Stored],
    rule: Judge,
    policy: Policy,
    *,
    question: JudgedQuestion | None,
    now: float,
) -> int:
    """With the share that everyone's states have in what verdicts move."""
    known = ports.ledger.states.known
    before = known(scope, list(shared)).states
    changed = judge(ports, scope, recall_id, verdicts, rule, question=question, now=now)
    after = known(scope, list(shared)).states
    for one, stored in shared.items():
        moved = after[one].boost - before.get(one, NEVER_READ).boost
        everyones = stored.seen._replace(state=state_of(stored.record.stored, ports.fields), shared=False)
        learned_of = known(SHARED, [one]).said.get(one)
        if learned_of not in (None, everyones.said):  # another program has changed the text since
            fresh = Rewritten(learned_of, everyones._replace(state=NEVER_READ))
            ports.ledger.inheritance.settle(SHARED, Moves(anew={one: fresh}), by="collection", now=now)
        step = partial(_step, moved=moved, policy=policy)
        ports.ledger.states.change(SHARED, one, everyones, step, what=FOR_ALL, by="common share", now=now)
    return changed


def _step(seen: Seen, *, timeline: Timeline, moved: float, policy: Policy) -> ReadState:  # noqa: ARG001 - of any rule
    return replace(seen.state, boost=boost_for_everyone(seen.state.boost, moved, policy))
