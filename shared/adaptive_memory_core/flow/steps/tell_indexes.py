"""How do indexes learn of changes? Each is told once what was written, judged, removed or discovered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from adaptive_memory_core.flow.calls.kept_whole import kept_whole
from adaptive_memory_core.flow.candidates.gather import Gathered
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Erased, Found, Judge, JudgedQuestion, Ports, Stored, Vector
from adaptive_memory_core.records import Scope, Seen, Verdict
from adaptive_memory_core.score.candidates import columns_of
from adaptive_memory_core.stored_owner import belongs


@kept_whole
def wrote(ports: Ports, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
    """Into every index, in one transaction."""
    for index in ports.indexes:
        index.wrote(scope, records, vectors)


def judged(ports: Ports, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
    for index in ports.indexes:
        index.judged(scope, verdicts, question)


def removed(ports: Ports, scope: Scope, stored_ids: Sequence[str]) -> None:
    for index in ports.indexes:
        index.removed(scope, stored_ids)


@kept_whole
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


@kept_whole
def retire(ports: Ports, scope: Scope, stored_ids: Sequence[str], *, by: str, now: float) -> None:
    """Pruned records out of the ledger and out of every index, in one transaction."""
    removed(ports, scope, stored_ids)
    ports.ledger.removal.retire(scope, stored_ids, by=by, now=now)


@kept_whole
def judge(
    ports: Ports,
    scope: Scope,
    recall_id: str,
    given: Mapping[str, tuple[Verdict, Seen]],
    rule: Judge,
    *,
    question: JudgedQuestion | None = None,
    now: float,
) -> int:
    """Verdicts into the ledger and to every index, in one transaction; gives how many were new."""
    changed = ports.ledger.verdicts.judge(scope, recall_id, given, rule, now=now)
    judged(ports, scope, {stored_id: verdict for stored_id, (verdict, _) in given.items()}, question)
    return changed


def came_upon(ports: Ports, request: Request, gathered: Gathered) -> None:
    """What a recall looked at tells whether a graph is worth making."""
    columns = columns_of(gathered.hits).columns
    rows = zip(columns.stored_ids, columns.texts, columns.stored, columns.similarities, strict=True)
    found = list(map(partial(tuple.__new__, Found), rows))  # `Found(*row)` of each, in half of the time
    for scope, own in _by_scope(ports, request.scope, found):
        ports.graph.came_upon(scope, own)


def _by_scope(ports: Ports, scope: Scope, found: Sequence[Found]) -> list[tuple[Scope, Sequence[Found]]]:
    """What was found of each of the scopes that were read."""
    if scope.over is None:
        return [(scope, found)]
    return [(part, [one for one in found if belongs(one.metadata, part, ports.fields)]) for part in scope.parts]
