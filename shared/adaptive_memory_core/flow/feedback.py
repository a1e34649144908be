"""How do verdicts, pins and demotions change a record? As rules applied inside one transaction of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from adaptive_memory_core.arguments import distinct
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.kept_whole import export_soon, kept_whole
from adaptive_memory_core.flow.common_share import judge_and_share
from adaptive_memory_core.flow.judged_question import activated, judged_question, time_asked
from adaptive_memory_core.flow.look_up import look_up, look_up_one, not_found
from adaptive_memory_core.flow.past_recall import PastRecall, past_recall, ranking_of
from adaptive_memory_core.flow.ports import DEMOTED, JudgedQuestion, Ports
from adaptive_memory_core.flow.ports.judges import JudgePort
from adaptive_memory_core.flow.said_anew import refuse_said_anew
from adaptive_memory_core.learn.decay import Timeline, settled
from adaptive_memory_core.learn.verdicts import Judging, Occasion, demoted
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import ReadState, Scope, Seen, Verdict
from adaptive_memory_core.shown_in_errors import listed, shown

NOT_SAID: Mapping[str, int] = MappingProxyType({})


def feedback(
    ports: Ports,
    scope: Scope,
    recall: Recall | str,
    *,
    helpful: Sequence[str],
    unhelpful: Sequence[str],
    policy: Policy,
    now: float,
    judge: JudgePort | None = None,
    supports: Mapping[str, int] = NOT_SAID,
) -> int:
    """Judge what a recall returned; gives how many verdicts were new. `judge` says which time the question asks about,
    and `supports` which of a record's activated sentences support the answer, as bits: omitted, all of a helpful one's.
    """
    distinct([*helpful, *unhelpful], "id")
    verdicts = {**dict.fromkeys(helpful, Verdict.HELPFUL), **dict.fromkeys(unhelpful, Verdict.UNHELPFUL)}
    past = past_recall(ports, scope, recall)
    scope = past.scope  # a user who judges what was found over everyone's records need not say so again
    _refuse_forgotten(ports, scope, recall, list(verdicts))
    strangers = [one for one in verdicts if one not in past.returned]
    if strangers:
        _refuse_shared(recall, strangers)
        raise InvalidInputError(
            f"Recall {past.id} did not return {listed(strangers)}. Judge what it returned: "
            f"{listed(past.returned) or 'nothing'}."
        )
    stored = {one: found.stored_id for one, found in look_up(ports, scope, list(verdicts), now=now).items()}
    asked = judged_question(ports, past, stored, policy)  # which may have to be embedded
    if asked is not None:
        own = {
            stored[one]: sentences for one, sentences in activated(past, verdicts, supports).items() if one in stored
        }
        asked = asked._replace(activated=own, time=time_asked(ports, past, judge))
    changed = _judge(ports, scope, past, verdicts, policy, asked, now=now)
    export_soon(ports)
    return changed


@kept_whole
def _judge(
    ports: Ports,
    scope: Scope,
    past: PastRecall,
    verdicts: Mapping[str, Verdict],
    policy: Policy,
    asked: JudgedQuestion | None,
    *,
    now: float,
) -> int:
    """While nobody forgets these records, or writes them anew."""
    found = look_up(ports, scope, list(verdicts), now=now)
    if len(found) < len(verdicts):
        raise not_found(scope, [one for one in verdicts if one not in found])
    refuse_said_anew(ports, scope, past, found)
    helpful = {one: found[one].stored_id for one, verdict in verdicts.items() if verdict is Verdict.HELPFUL}
    rule = _rule(ports, scope, past, helpful, policy, now=now)
    given = {found[one].stored_id: (verdict, found[one]) for one, verdict in verdicts.items()}
    return judge_and_share(ports, scope, past.id, given, rule, policy, question=asked, now=now)


def _rule(
    ports: Ports, scope: Scope, past: PastRecall, helpful: Mapping[str, str], policy: Policy, *, now: float
) -> Judging:
    """What the verdicts do; a recall that was no step of the user's stands at the last one."""
    step = past.step
    if step is None:
        known = ports.ledger.states.known(scope, [])
        step = known.timeline.step
    ranked = {helpful[one]: ranking_of(one, past.candidates) for one in helpful} if policy.learning.earned else {}
    known_of = {one: ranking for one, ranking in ranked.items() if ranking is not None}
    return Judging(policy, Occasion(past.at, step), now, known_of)


def _refuse_forgotten(ports: Ports, scope: Scope, recall: Recall | str, ids: Sequence[str]) -> None:
    """A record that was forgotten since then is not judged, nor is another that has its id by now. The log tells."""
    if isinstance(recall, str) or recall.step is None:
        return
    logged = ports.ledger.log.recall(scope, recall.id)
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


def change(ports: Ports, scope: Scope, record_id: str, act: Act, *, by: str, regime: Regime, now: float) -> ReadState:
    """Change one record's state; who did it goes into the audit trail."""
    state = _change(ports, scope, record_id, act, by=by, regime=regime, now=now)
    export_soon(ports)
    return state


@kept_whole
def _change(ports: Ports, scope: Scope, record_id: str, act: Act, *, by: str, regime: Regime, now: float) -> ReadState:
    found = look_up_one(ports, scope, record_id, now=now)

    def rule(seen: Seen, *, timeline: Timeline) -> ReadState:
        after = act.rule(seen.state)
        return (
            after if after == seen.state else act.rule(settled(seen.state, seen.kind, timeline.under(regime), now=now))
        )

    return ports.ledger.states.change(scope, found.stored_id, found.seen, rule, what=act.name, by=by, now=now)


def reset_balance(ports: Ports, scope: Scope) -> None:
    """Let usefulness count nothing again, until it has earned its weight with this scope."""
    ports.ledger.verdicts.set_balance(scope, 0.0)


@dataclass(frozen=True, slots=True)
class Act:
    """A change on purpose: its name in the audit trail, and what it makes of a state."""

    name: str
    rule: Callable[[ReadState], ReadState]


PIN = Act("pinned", lambda state: replace(state, pinned=True))
UNPIN = Act("unpinned", lambda state: replace(state, pinned=False))


def demotion(policy: Policy) -> Act:
    return Act(DEMOTED, partial(demoted, policy=policy))
