"""Feedback on recalls, from any process and at any later time; and pins, demotions and judged recalls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from adaptive_memory_core.arguments import distinct
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.error_messages import listed, shown
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError
from adaptive_memory_core.flow.calibrate import judge_and_share
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.calls.one_transaction import export_soon, in_one_transaction
from adaptive_memory_core.flow.forget import refuse_changed_texts
from adaptive_memory_core.flow.look_up import look_up, look_up_one, not_found
from adaptive_memory_core.flow.past_recall import (
    Candidate,
    PastRecall,
    Rankable,
    past_candidates,
    past_recall,
    ranking_of,
)
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import DEMOTED
from adaptive_memory_core.flow.ports.records import Activated, JudgedQuestion, Vector
from adaptive_memory_core.flow.rank_again import (
    as_it_was,
    over_the_same,
    past_question,
    recalled_records,
    verdicts_in_log,
)
from adaptive_memory_core.learn.asked_before import MOST_QUESTIONS, ahead_of_others, from_baseline
from adaptive_memory_core.learn.decay import Timeline, settled
from adaptive_memory_core.learn.verdicts import Judging, Occasion, demoted
from adaptive_memory_core.policy.advanced import ACTIVATED, GRAPH
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, ReadState, Scope, Seen, Verdict
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.sources.graph_and_hierarchy import time_in
from adaptive_memory_core.sources.request import Request, embedded, embedded_texts

if TYPE_CHECKING:
    from adaptive_memory_core.models.judges import Judge


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A past recall with the verdicts on its hits, to be ranked again."""

    line: LoggedRecall
    question: Rankable
    verdicts: Mapping[str, Verdict]

    @property
    def helpful(self) -> frozenset[str]:
        return frozenset(one for one, verdict in self.verdicts.items() if verdict is Verdict.HELPFUL)


@dataclass(frozen=True, slots=True)
class JudgedLog:
    """The judged recalls of a scope, the number of judged recalls that cannot be ranked again, and all recalls of the
    period, oldest first."""

    recalls: Sequence[JudgedRecall]
    lost: int
    lines: Sequence[LoggedRecall]


def judged_recalls(ports: Ports, asked: Request, *, since: float | None, until: float | None, limit: int) -> JudgedLog:
    """The judged recalls among the newest `limit` of the period, with the candidates under the policy of `asked`."""
    scope, log = asked.scope, ports.ledger.log
    found = log.recalls(scope, since=since, until=until, limit=limit, containing=None)
    lines = sorted(found, key=lambda line: (line.at, line.step))
    verdicts = verdicts_in_log(ports, scope)
    judged = [line for line in lines if verdicts.get(line.id)]
    policies = _policies(ports, judged)
    recalls: list[JudgedRecall] = []
    for over, some in over_the_same(judged):
        reader = Scope(scope.user, over)
        records = recalled_records(ports, reader, some)
        for line in some:
            own = policies[line.policy_hash]
            request = asked._replace(id=line.id, scope=reader, cue=Cue(line.cue), k=line.k, now=line.at)
            if own is not None:
                past = past_candidates(line, own, records, reader, ports.fields)
                past, _, reproduced = as_it_was(ports, request._replace(draws=True), past, own)
                if reproduced:
                    question = past_question(ports, request, past, asked.policy)
                    recalls.append(JudgedRecall(line, question, verdicts[line.id]))
    return JudgedLog(recalls, len(judged) - len(recalls), lines)


def _policies(ports: Ports, lines: Iterable[LoggedRecall]) -> dict[str, Policy | None]:
    """The policies of the recalls by hash; None if the log no longer contains the policy."""
    known: dict[str, Policy | None] = {}
    for name in dict.fromkeys(line.policy_hash for line in lines):
        text = ports.ledger.log.policy(name)
        known[name] = None if text is None else Policy.from_json(text)
    return known


MOST_OF_GAM_RAG = 1_000  # questions of a record whose sentences have memories, which joined questions would change


def judged_question(ports: Ports, past: PastRecall, stored: Mapping[str, str], policy: Policy) -> JudgedQuestion | None:
    """The recall's question for learning; None if the policy does not use it or its vector is not available. The
    verdict then counts without it. `stored` maps the judged records to their ids in the collection."""
    if not _wanted(policy):
        return None
    vector, text = past.cue.vector, past.cue.text
    if vector is None and text.strip():
        try:
            vector = embedded(ports, text, policy)
        except AdaptiveMemoryError:  # of the embedder: the verdict still counts
            return None
    if vector is None:
        return None
    ahead = {stored[one]: by for one, by in stood_ahead(past.candidates).items() if one in stored}
    most = MOST_OF_GAM_RAG if _is_published(policy) else MOST_QUESTIONS
    return JudgedQuestion(past.id, vector, most, ahead)


def _wanted(policy: Policy) -> bool:
    """Whether the policy learns from questions: for similar questions, or for the paper's form of the graph."""
    return _is_published(policy) or (policy.learning.similar_questions > 0.0 and policy.blending == "bounded")


def _is_published(policy: Policy) -> bool:
    return GRAPH in policy.ways and policy.advanced.graph.form == "paper"


def judged_activations(
    past: PastRecall, verdicts: Mapping[str, Verdict], supports: Mapping[str, int]
) -> dict[str, Activated]:
    """The sentences of judged records that the graph activated, and those that support the answer: the given ones, else
    all activated sentences of a helpful record."""
    found: dict[str, Activated] = {}
    for one in past.candidates:
        own = round(one.signals.get(ACTIVATED, 0.0))
        if own and one.id in verdicts:
            usual = own if verdicts[one.id] is Verdict.HELPFUL else 0
            found[one.id] = Activated(own, supports.get(one.id, usual) & own)
    return found


def time_asked(ports: Ports, past: PastRecall, judge: Judge | None) -> Vector | None:
    """The vector of the time that the question asks about, if the graph activated sentences; else None."""
    if not any(one.signals.get(ACTIVATED) for one in past.candidates):
        return None
    words = time_in(past.cue.own_words, judge, ports.languages)
    found = None if words is None else tried(AdaptiveMemoryError, embedded_texts, ports.embedder, [words]).value
    return None if found is None else found[0]


def stood_ahead(candidates: Sequence[Candidate]) -> dict[str, float]:
    """How much more similar each candidate was than the best of the others, measured from the baseline; negative if
    another candidate was more similar.

    >>> near, far = Candidate("a", {"similarity": 0.75}, False), Candidate("b", {"similarity": 0.5}, True)
    >>> other = Candidate("c", {"similarity": 0.5}, True)
    >>> stood_ahead([near, far, other]), stood_ahead([near])
    ({'a': 0.5, 'b': -0.5, 'c': -0.5}, {})
    """
    near = {one.id: one.signals["similarity"] for one in candidates if "similarity" in one.signals}
    if len(near) < 2:
        return {}
    return dict(zip(near, ahead_of_others(from_baseline(list(near.values()))), strict=True))


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
    judge: Judge | None = None,
    supports: Mapping[str, int] = NOT_SAID,
) -> int:
    """Judge hits of a recall; return how many verdicts were new. `judge` finds the time that the question asks about.
    `supports` contains the activated sentences of a record that support the answer, as bits (omitted: all sentences of
    a helpful record)."""
    distinct([*helpful, *unhelpful], "id")
    verdicts = {**dict.fromkeys(helpful, Verdict.HELPFUL), **dict.fromkeys(unhelpful, Verdict.UNHELPFUL)}
    past = past_recall(ports, scope, recall)
    scope = past.scope  # for a recall over everyone's records, the user need not name the scope again
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
            stored[one]: sentences
            for one, sentences in judged_activations(past, verdicts, supports).items()
            if one in stored
        }
        asked = asked._replace(activated=own, time=time_asked(ports, past, judge))
    changed = _judge(ports, scope, past, verdicts, policy, asked, now=now)
    export_soon(ports)
    return changed


@in_one_transaction
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
    """Write the verdicts in a transaction, so that no process can forget or rewrite the records at the same time."""
    found = look_up(ports, scope, list(verdicts), now=now)
    if len(found) < len(verdicts):
        raise not_found(scope, [one for one in verdicts if one not in found])
    refuse_changed_texts(ports, scope, past, found)
    helpful = {one: found[one].stored_id for one, verdict in verdicts.items() if verdict is Verdict.HELPFUL}
    rule = _rule(ports, scope, past, helpful, policy, now=now)
    given = {found[one].stored_id: (verdict, found[one]) for one, verdict in verdicts.items()}
    return judge_and_share(ports, scope, past.id, given, rule, policy, question=asked, now=now)


def _rule(
    ports: Ports, scope: Scope, past: PastRecall, helpful: Mapping[str, str], policy: Policy, *, now: float
) -> Judging:
    """The rule for the effect of the verdicts. A recall that was not counted gets the user's last step."""
    step = past.step
    if step is None:
        known = ports.ledger.states.known(scope, [])
        step = known.timeline.step
    ranked = {helpful[one]: ranking_of(one, past.candidates) for one in helpful} if policy.learning.earned else {}
    known_of = {one: ranking for one, ranking in ranked.items() if ranking is not None}
    return Judging(policy, Occasion(past.at, step), now, known_of)


def _refuse_forgotten(ports: Ports, scope: Scope, recall: Recall | str, ids: Sequence[str]) -> None:
    """Raise an error for records that the log shows as forgotten since the recall, even if the id is in use again."""
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
    """Raise an error for shared hits: only users of the shared scope may judge them."""
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


@in_one_transaction
def _change(ports: Ports, scope: Scope, record_id: str, act: Act, *, by: str, regime: Regime, now: float) -> ReadState:
    found = look_up_one(ports, scope, record_id, now=now)

    def rule(seen: Seen, *, timeline: Timeline) -> ReadState:
        after = act.rule(seen.state)
        return (
            after if after == seen.state else act.rule(settled(seen.state, seen.kind, timeline.under(regime), now=now))
        )

    return ports.ledger.states.change(scope, found.stored_id, found.seen, rule, what=act.name, by=by, now=now)


def reset_balance(ports: Ports, scope: Scope) -> None:
    """Set the earned weight of usefulness to 0 until this scope's feedback shows again that it helps."""
    ports.ledger.verdicts.set_balance(scope, 0.0)


@dataclass(frozen=True, slots=True)
class Act:
    """A deliberate change: its name in the audit trail, and the rule that changes the state."""

    name: str
    rule: Callable[[ReadState], ReadState]


PIN = Act("pinned", lambda state: replace(state, pinned=True))
UNPIN = Act("unpinned", lambda state: replace(state, pinned=False))


def demotion(policy: Policy) -> Act:
    return Act(DEMOTED, partial(demoted, policy=policy))
