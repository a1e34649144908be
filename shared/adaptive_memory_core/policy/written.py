"""How is a policy read that was written down, maybe by an older version?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.asked_before import AskedBefore
from adaptive_memory_core.policy.copies import Copies
from adaptive_memory_core.policy.decay import Decay, Remembrance
from adaptive_memory_core.policy.exploration import Exploration
from adaptive_memory_core.policy.fusion import LEADS, Fusion
from adaptive_memory_core.policy.gain import Gain
from adaptive_memory_core.policy.graph import Graphs
from adaptive_memory_core.policy.hierarchy import Hierarchies
from adaptive_memory_core.policy.old_names import KIND_PLACES, PLACES
from adaptive_memory_core.policy.reading import Reading
from adaptive_memory_core.policy.rerank import Rerank
from adaptive_memory_core.policy.shape import Shapes
from adaptive_memory_core.policy.shown import Shown
from adaptive_memory_core.policy.spreads import Spreads
from adaptive_memory_core.policy.time_words import TimeWords
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.policy.usefulness import Usefulness
from adaptive_memory_core.policy.weights import Weights
from adaptive_memory_core.shown_in_errors import reason, shown

Written = Mapping[str, Any]
GROUPS: dict[str, Any] = {  # by the field of the policy
    "weights": Weights,
    "useful": Usefulness,
    "asked_before": AskedBefore,
    "reading": Reading,
    "time_words": TimeWords,
    "decay": Decay,
    "copies": Copies,
    "updates": Updates,
    "graph": Graphs,
    "gain": Gain,
    "hierarchy": Hierarchies,
    "rerank": Rerank,
    "shown": Shown,
    "explore": Exploration,
    "shape": Shapes,
    "spreads": Spreads,
}
_TOP = (
    *("blend", "channel_timeout_seconds", "recall_k", "recall_limit", "similarity_floor", "score_floor"),
    *("relevance_floor", "half_life_days", "refresh_floor_seconds", "adaptive"),
)


def fields_of(text: str) -> dict[str, Any]:
    """The fields of the policy that `to_json` wrote; those that this version does not know are left out.

    >>> fields_of('{"recall_k": 7, "time_weight": 0.5, "of_tomorrow": 1}')
    {'recall_k': 7, 'time_words': TimeWords(..., weight=0.5, ...)}
    """
    written = _regrouped(_object(text), PLACES)
    read: dict[str, Any] = {name: written[name] for name in _TOP if name in written}
    read |= {name: _group(kind, written[name]) for name, kind in GROUPS.items() if name in written}
    return read | {name: made(written[name]) for name, made in _MADE_OF.items() if name in written}


def _object(text: str) -> Written:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(
            f"A policy was given as text that is no JSON: {reason(error)}. Give what Policy.to_json() wrote."
        ) from error
    if not isinstance(given, dict):
        raise PolicyError(f"A policy was given as {shown(given)}. Give what Policy.to_json() wrote: an object.")
    return given


def _regrouped(written: Written, places: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """What an older version wrote flat, where it is now."""
    now: dict[str, Any] = {name: value for name, value in written.items() if name not in places}
    for name in written.keys() & places.keys():
        *group, field = places[name]
        if group:
            now[group[0]] = {**now.get(group[0], {}), field: written[name]}
        else:
            now[field] = written[name]
    return now


def _group(kind: Any, written: Written) -> Any:
    if kind is Decay:
        written = {**written, "by_kind": _kinds(written.get("by_kind", ()))}
    return kind(**{field.name: written[field.name] for field in fields(kind) if field.name in written})


def _kinds(written: Any) -> tuple[tuple[str, Remembrance], ...]:
    return tuple((kind, _group(Remembrance, _regrouped(numbers, KIND_PLACES))) for kind, numbers in written)


def _channels(written: Any) -> Any:
    return written if written == "auto" else tuple(written)


def _fusion(written: Any) -> Any:
    """As it was written; leads that this version does not know are left out, those it did not have count nothing."""
    if written == "auto":
        return written
    return _group(Fusion, {**dict.fromkeys(LEADS, 0.0), **written})


def _pairs(written: Any) -> tuple[tuple[str, float], ...]:
    return tuple((name, weight) for name, weight in written)


_MADE_OF = {"channels": _channels, "fusion": _fusion, "kind_weights": _pairs, "channel_weights": _pairs}
