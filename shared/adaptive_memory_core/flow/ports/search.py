"""What must a search be able to do? Find the nearest records, those with given ids, and those that pass a filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.flow.ports.source import Found, NearestAndNamed
from adaptive_memory_core.policy.advanced import SearchBy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.surprise import Baseline

Where = Mapping[str, Any]
Vector = Any


class Search(Protocol):
    """Finding, within one scope. `by` says in what: the mirror ("exact"), Chroma's index ("ann"), or as it suits."""

    def nearest(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, *, by: SearchBy = "auto"
    ) -> list[Found]: ...
    def nearest_and_named(
        self,
        scope: Scope,
        vector: Vector,
        limit: int,
        where: Where | None,
        named: Sequence[str],
        *,
        by: SearchBy = "auto",
    ) -> NearestAndNamed: ...
    def among(self, scope: Scope, vector: Vector, stored_ids: Sequence[str], where: Where | None) -> list[Found]: ...
    def during(
        self, scope: Scope, vector: Vector, limit: int, where: Where | None, windows: Sequence[Window]
    ) -> list[Found]: ...
    def passing(self, scope: Scope, where: Where) -> set[str]: ...
    def stored(self, scope: Scope, stored_ids: Sequence[str]) -> list[Found]: ...
    def vectors(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Vector]: ...
    def baseline(self, scope: Scope, vector: Vector) -> Baseline:
        """What records of the scope score that are unrelated to this query, by a sample of them."""
