"""Has a record been written over since a recall returned it? Then a verdict on the recall is not about its words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adaptive_memory_core.errors import NotFoundError
from adaptive_memory_core.flow.past_recall import PastRecall
from adaptive_memory_core.flow.ports import REWRITTEN, Ports, Stored
from adaptive_memory_core.identity import scoped_id
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Change
from adaptive_memory_core.shown_in_errors import listed
from adaptive_memory_core.text_identity import said

MOST_CHANGES = 100_000  # of the records that are judged at once


def refuse_said_anew(ports: Ports, scope: Scope, past: PastRecall, found: Mapping[str, Stored]) -> None:
    """An error that names the records which say something else than what the recall returned."""
    if past.said:
        texts = {one: stored.record.text for one, stored in found.items()}
        stale = [one for one, text in texts.items() if past.said.get(one) not in (None, said(text))]
    else:
        latest = said_anew(ports, scope, list(found))
        stale = [one for one in found if is_stale(latest.get(one), past.step, past.at)]
    if stale:
        raise NotFoundError(
            f"What recall {past.id} returned as {listed(stale)} is not there any more for {scope}: the "
            "record was written over with other words since, and a verdict belongs to what was said. Judge a recall "
            "that returned the new words."
        )


def said_anew(ports: Ports, scope: Scope, ids: Collection[str]) -> dict[str, Change]:
    """When each of the records was last written over with other words; nothing of those that never were."""
    places = [place for one in ids for place in (one, *(scoped_id(part, one) for part in scope.parts))]
    if not places:
        return {}
    changes = ports.ledger.audit.changes(scope, places, limit=MOST_CHANGES)
    return {one.id: one for one in reversed(changes) if one.what == REWRITTEN}


def is_stale(change: Change | None, step: int | None, at: float) -> bool:
    """Whether a recall was made before the change; of those in one step the time tells.

    >>> change = Change("a", at=5.0, step=2, what="rewritten", by="remember")
    >>> is_stale(change, 2, 5.0), is_stale(change, 3, 5.0), is_stale(None, 1, 5.0)
    (True, False, False)
    """
    if change is None or step is None:
        return False
    return step < change.step or (step == change.step and at <= change.at)
