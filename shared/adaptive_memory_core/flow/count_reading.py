"""A recall is counted and logged, and the indexes are told what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.one_transaction import in_one_transaction
from adaptive_memory_core.flow.calls.running_calls import still_awaited, waiting_at_most
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import Erased, RecallEntry
from adaptive_memory_core.flow.ports.records import JudgedQuestion, Stored, Vector
from adaptive_memory_core.learn.decay import states_after_read
from adaptive_memory_core.learn.logged_state import Basis
from adaptive_memory_core.learn.verdicts import Judging
from adaptive_memory_core.policy.learning import DecayPace
from adaptive_memory_core.records import Scope, Seen, Verdict
from adaptive_memory_core.score.ranking import Ranking, as_candidates
from adaptive_memory_core.sources.gather import Gathered, seen_in
from adaptive_memory_core.sources.request import Request


@in_one_transaction
def wrote(ports: Ports, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
    """Into every index, in one transaction."""
    for index in ports.indexes:
        index.wrote(scope, records, vectors)


def removed(ports: Ports, scope: Scope, stored_ids: Sequence[str]) -> None:
    for index in ports.indexes:
        index.removed(scope, stored_ids)


@in_one_transaction
def erase(
    ports: Ports,
    scope: Scope,
    record_id: str,
    stored_id: str,
    *,
    existed: bool,
    now: float,
    reckoned: Any,
) -> Erased:
    """Out of the ledger and out of every index, in one transaction."""
    erased = ports.ledger.removal.erase(scope, record_id, stored_id, existed=existed, now=now, reckoned=reckoned)
    if existed or erased.state:
        removed(ports, scope, [stored_id])
    return erased


@in_one_transaction
def retire(ports: Ports, scope: Scope, stored_ids: Sequence[str], *, by: str, now: float) -> None:
    """Pruned records out of the ledger and out of every index, in one transaction."""
    removed(ports, scope, stored_ids)
    ports.ledger.removal.retire(scope, stored_ids, by=by, now=now)


@in_one_transaction
def judge(
    ports: Ports,
    scope: Scope,
    recall_id: str,
    given: Mapping[str, tuple[Verdict, Seen]],
    rule: Judging,
    *,
    question: JudgedQuestion | None = None,
    now: float,
) -> int:
    """Verdicts into the ledger, with the question that they are about, in one transaction; gives how many were new."""
    changed = ports.ledger.verdicts.judge(scope, recall_id, given, rule, now=now)
    if question is not None:
        verdicts = {stored_id: verdict for stored_id, (verdict, _) in given.items()}
        ports.ledger.judged_questions.keep(scope, question, verdicts)
    return changed


LOGGED_CUE = 2_000  # characters of a cue that the log keeps


def count_reading(ports: Ports, request: Request, answer: Recall, gathered: Gathered) -> Recall:
    """Count the recall and its reads, if it is a reading. A ledger that refuses costs the count and a note, never the
    answer."""
    if not request.reinforce:
        return answer
    still_awaited()
    try:
        step = waiting_at_most(ports.count_seconds, _commit, ports, request, answer, gathered)
    except LedgerError as error:
        return replace(answer, trace=(*answer.trace, f"this recall was not counted: {error}"))
    trace = answer.trace
    if ports.write_through:
        try:
            ports.write_back.flush()
        except AdaptiveMemoryError as error:
            trace = (*trace, f"the collection does not show this recall yet: {error}")
    return replace(answer, step=step, trace=trace)


def _commit(ports: Ports, request: Request, answer: Recall, gathered: Gathered) -> int:
    """One transaction: the user's step, the state of what was read, the log."""
    linked = ports.graph.linked
    known = linked.known.get(request.scope)
    if known is None or not known.settled or known.links.wanted or linked.everybody:
        with suppress(LedgerError):  # else a later recall does
            ports.graph.catch_up(request.scope)
    policy, cue = answer.policy, answer.cue
    entry = RecallEntry(
        id=answer.id,
        at=answer.now,
        cue=cue.text[:LOGGED_CUE],
        k=answer.k,
        policy_hash=policy.hash,
        policy_json=policy.json,
        kept=answer.kept,
        dropped=answer.dropped,
        regime=request.regime,
        pace=policy.pace,
        turn=request.turn,
        strangers=_unknown_records(gathered, request, policy.pace),
        extent=gathered.whole,
        logged=ports.log,
        basis=Basis(
            gathered.via,
            answer.use.step,
            0.0 if gathered.known.value is None else gathered.known.value.balance,
            answer.unrelated,
            cue.words is not None and cue.words != cue.text,
            policy,
            _propensities(answer) if answer.propensities else {},
        ),
    )
    if isinstance(answer.kept, Ranking):
        columns, numbers = answer.kept._candidates.columns, answer.kept.order
    else:
        columns, numbers = as_candidates([one.hit for one in answer.kept]).columns, range(len(answer.kept))
    if gathered.guests:
        numbers = [one for one in numbers if columns.stored_ids[one] not in gathered.guests]
    read = seen_in(columns, numbers, request.fields.kind)
    rule = partial(states_after_read, policy=policy, now=answer.now, looks_back=request.looks_back)
    counted = ports.ledger.recalls.count(answer.scope, entry, read, rule)
    if counted.changed:
        ports.write_back.wake()
    return counted.step


def _unknown_records(gathered: Gathered, request: Request, pace: DecayPace) -> Mapping[str, Seen]:
    """Records that the ledger has not met: where things decay, it must know since when it knows them."""
    known = gathered.known.value
    if known is None or (pace.still and known.timeline.under(request.regime).still):
        return {}
    columns = as_candidates(gathered.hits).columns
    unknown = [one for one, stored_id in enumerate(columns.stored_ids) if stored_id not in known.states]
    return seen_in(columns, unknown, request.fields.kind)


def _propensities(answer: Recall) -> dict[str, float]:
    """By the ids in the collection, the chances with which places were drawn by lot."""
    chances = answer.propensities
    scored = [*answer.kept, *(one.scored for one in answer.dropped if one.scored is not None)]
    return {one.hit._stored_id: chances[one.id] for one in scored if one.id in chances}
