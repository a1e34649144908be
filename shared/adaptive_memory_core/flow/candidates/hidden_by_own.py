"""What if a user's own record has the id of one of everyone's? The own one hides it, so that an id means one record.

Both may be there: everyone's was written without asking each user, and a user's never writes over everyone's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.identity import own_places
from adaptive_memory_core.records import Hit, Scope
from adaptive_memory_core.stored_owner import SHARED, belongs

HIDDEN = "hidden by the user's own record of this id"


def places_of_own(request: Request, found: Sequence[Found]) -> list[str]:
    """Where own records would stand that hide what was found of everyone's: the ledger knows whether they do."""
    scope, fields = request.scope, request.fields
    if scope.over is None:
        return []
    shared = [one.stored_id for one in found if belongs(one.metadata, SHARED, fields)]
    return [place for one in shared for place in own_places(scope, one)]


def without_hidden(scope: Scope, hits: Sequence[Hit], known: Collection[str]) -> list[Hit]:
    """The hits; everyone's that an own record hides are refused. `known` are ids that the ledger has met."""
    return [replace(hit, refused=HIDDEN) if _is_hidden(scope, hit, known) else hit for hit in hits]


def _is_hidden(scope: Scope, hit: Hit, known: Collection[str]) -> bool:
    return hit.shared is not None and any(one in known for one in own_places(scope, hit._stored_id))
