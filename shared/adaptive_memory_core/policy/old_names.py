"""Where have the policy's old field names moved? They work for one version, with a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import wraps
from types import SimpleNamespace
from typing import Any, TypeVar

from adaptive_memory_core.renamed import warn_renamed

C = TypeVar("C", bound=type)
Places = Mapping[str, tuple[str, ...]]


def _moved(group: str, **names: str) -> dict[str, tuple[str, ...]]:
    return {old: (group, new) for old, new in names.items()}


PLACES: Places = {
    **_moved(
        "reading",
        half_life_growth="half_life_growth",
        half_life_days_max="half_life_days_max",
        reads_before_refresh="reads_before_refresh",
        read_window_days="window_days",
        count_weight="count_weight",
        count_boost_max="count_boost_max",
        count_decay_per_day="count_decay_per_day",
    ),
    **_moved("useful", verdict_step="importance_step", boost_max="importance_bound"),
    **_moved(
        "time_words",
        temporal="enabled",
        time_weight="weight",
        lean_weight="lean_weight",
        time_spread="spread",
        past_recency="past_recency",
        present_recency="present_recency",
        strict_time="strict",
    ),
    **_moved(
        "decay",
        remembrance_threshold="remembrance_threshold",
        decay_grace="grace",
        decay_rate="rate",
        strength_floor="strength_floor",
        restore_on_read="restore_on_read",
        unit="unit",
        strength_weight="strength_weight",
        by_kind="by_kind",
    ),
    **_moved("copies", duplicates="duplicates", same_share="same_share", diversity="diversity"),
    **_moved("shown", intact="intact", merge="merge"),
    **_moved("spreads", recency_spread="recency", importance_spread="importance", similarity_spread="similarity"),
    **_moved(
        "rerank", rerank_weight="weight", rerank_candidates="candidates", rerank_timeout_seconds="timeout_seconds"
    ),
}
KIND_PLACES: Places = {"decay_grace": ("grace",), "decay_rate": ("rate",)}


def takes_old_names(places: Places) -> Callable[[C], C]:
    """A frozen dataclass that also takes and tells its fields under their old names, which costs the new ones nothing.

    Type checkers do not see the old names: to them they are errors.
    """

    def taking(kind: C) -> C:
        plain: Any = kind
        made = plain.__init__
        defaults = SimpleNamespace(**{one.name: one.default for one in fields(plain)})

        @wraps(made)
        def init(self: Any, *args: Any, **given: Any) -> None:
            if not places.keys().isdisjoint(given):
                given = at_their_places(given, defaults, places)
            made(self, *args, **given)

        def of_old(self: Any, name: str) -> Any:
            if name not in places:
                raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
            warn_renamed(f"{kind.__name__}.{name}", ".".join((kind.__name__, *places[name])), stacklevel=2)
            value = self
            for part in places[name]:
                value = getattr(value, part)
            return value

        plain.__init__, plain.__getattr__ = init, of_old
        return kind

    return taking


def at_their_places(given: Mapping[str, Any], owner: Any, places: Places) -> dict[str, Any]:
    """The given fields under the names of now, with a warning for each old one; what else is in a group is `owner`'s.

    >>> at_their_places({"recall_k": 7}, None, PLACES)
    {'recall_k': 7}
    """
    new = {name: value for name, value in given.items() if name not in places}
    for name in given:
        if name in places:
            *group, field = places[name]
            kind = "Policy" if group else "Remembrance"
            warn_renamed(f"{kind}.{name}", ".".join((kind, *places[name])), stacklevel=3)
            if group:
                rest = new[group[0]] if group[0] in new else getattr(owner, group[0])
                new[group[0]] = _with(rest, field, given[name])
            else:
                new[field] = given[name]
    return new


def _with(group: Any, field: str, value: Any) -> Any:
    return {**group, field: value} if isinstance(group, Mapping) else replace(group, **{field: value})
