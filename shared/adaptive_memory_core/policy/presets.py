"""The presets, and reading and writing a policy as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from adaptive_memory_core.error_messages import reason, shown
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.advanced import EQUAL, Advanced, Fusion, Graphs, Weights
from adaptive_memory_core.policy.learning import Decay, Learning, Remembrance
from adaptive_memory_core.whole_file import expanded, write_whole

WrittenPolicy = Mapping[str, Any]


def fields_of(text: str, kind: Any) -> dict[str, Any]:
    """The fields of a policy of class `kind` in a text that `to_json` wrote.

    >>> from adaptive_memory_core.policy import Policy
    >>> fields_of('{"recall_k": 7, "weights": {"recency": 0.5}, "of_tomorrow": 1}', Policy)
    {'weights': Weights(recency=0.5, ...), 'recall_k': 7}
    """
    return _fields(kind, _object(text))


def _fields(kind: Any, written: WrittenPolicy) -> dict[str, Any]:
    """The written values of the fields that the class has. Other fields, of a newer version, are left out."""
    return {field.name: _value(field, written[field.name]) for field in fields(kind) if field.name in written}


def _value(field: Any, written: Any) -> Any:
    if field.name in _MADE_OF:
        return _MADE_OF[field.name](written)
    if not is_dataclass(field.default):
        return written
    group: Any = type(field.default)
    return group(**_fields(group, written))


def _object(text: str) -> WrittenPolicy:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(
            f"A policy was given as text that is not valid JSON: {reason(error)}. Give what Policy.to_json() wrote."
        ) from error
    if not isinstance(given, dict):
        raise PolicyError(f"A policy was given as {shown(given)}. Give what Policy.to_json() wrote: an object.")
    return given


def _channels(written: Any) -> Any:
    return written if written == "auto" else tuple(written)


def _pairs(written: Any) -> tuple[tuple[str, float], ...]:
    return tuple((name, weight) for name, weight in written)


def _by_kind(written: Any) -> tuple[tuple[str, Remembrance], ...]:
    return tuple((kind, Remembrance(**_fields(Remembrance, numbers))) for kind, numbers in written)


def _kind_weights(written: Any) -> tuple[tuple[str, Weights], ...]:
    return tuple((kind, Weights(**_fields(Weights, weights))) for kind, weights in written)


_MADE_OF = {"channels": _channels, "by_kind": _by_kind, "kind_weights": _kind_weights, "channel_weights": _pairs}


def read_policy(path: str | Path) -> str:
    """The text of the file; a PolicyError if it cannot be read."""
    try:
        return expanded(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError, TypeError, ValueError) as error:
        raise PolicyError(
            f"No policy can be read from {shown(path)}: {reason(error)}. Give a file that Policy.save() wrote."
        ) from error


def write_policy(path: str | Path, text: str) -> None:
    """Write the file in one step: after a failure it has the old text or the new one."""
    try:
        write_whole(path, f"{text}\n")
    except (OSError, TypeError, ValueError) as error:
        raise PolicyError(
            f"The policy cannot be written to {shown(path)}: {reason(error)}. Give a file in an existing directory."
        ) from error


Settings = Mapping[str, Any]
HOURLY_DECAY = 0.995  # of recency per sandbox hour, in Generative Agents


def preset_settings(name: object) -> Settings:
    """The fields in which a preset differs from the default policy.

    >>> dict(preset_settings("default"))
    {}
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise PolicyError(f"There is no preset {shown(name)}. The presets are: {', '.join(sorted(PRESETS))}.")
    return PRESETS[name]


def _literature(weights: Weights = EQUAL, **changes: Any) -> Settings:
    """The published blend: min-max over the candidates, by default with equal weights of the three signals."""
    plain: dict[str, Any] = {
        "channels": ("dense",),
        "advanced": Advanced(blend="minmax", duplicates="keep"),
    }
    return {"weights": weights, **plain, **changes}


def _arm(theta: int, gamma: float, alpha: float) -> Settings:
    """ARM's ranking with one of its profiles: strength times similarity alone, and every read counts."""
    return {
        "weights": Weights(recency=0.0, importance=0.0, similarity=1.0),
        "time_words": "off",
        "advanced": Advanced(duplicates="keep"),
        "channels": ("dense",),
        "refresh_floor_seconds": 0.0,
        "decay": Decay(remembrance_threshold=theta, grace=gamma, rate=alpha),
    }


_COMPOSITE: Settings = {  # the article on recall for agents: unscaled signals, and a minimum score
    "weights": Weights(recency=0.25, importance=0.15, similarity=0.6),
    "channels": ("dense",),
    "advanced": Advanced(blend="absolute", duplicates="keep"),
    "recall_k": 30,
    "min_score": 0.35,
    "half_life_days": 7.0,
    "learning": Learning(count_weight=0.0),
    "refresh_floor_seconds": 0.0,
    "time_words": "off",
}
_GAM_RAG: Settings = {  # the paper's equations 2 to 13; equation 8 alone ranks
    "weights": Weights(recency=0.0, importance=0.0, similarity=1.0),
    "channels": ("dense", "graph"),
    "time_words": "off",
    "learning": Learning(similar_questions=0.0),
    "advanced": Advanced(
        fusion=Fusion(method="sum", vectors=0.01), graph=Graphs(form="paper", weight=2.0, rounds=3), duplicates="keep"
    ),
}
PRESETS: dict[str, Settings] = {
    "default": {},
    "equal": _literature(),
    "composite": _COMPOSITE,
    "assistant": _literature(Weights(1.5, 1.0, 1.0), half_life_days=7.0),
    "support": _literature(Weights(1.0, 1.5, 1.0), half_life_days=30.0),
    "coding": _literature(Weights(0.5, 1.0, 1.5), half_life_days=30.0),
    "planning": _literature(half_life_days=30.0),
    "generative_agents": _literature(
        half_life_days=math.log(0.5) / math.log(HOURLY_DECAY) / 24,
        learning=Learning(count_weight=0.0),
        refresh_floor_seconds=0.0,
        time_words="off",
    ),
    "balanced": _arm(theta=3, gamma=5, alpha=0.95),
    "ultra_efficient": _arm(theta=10, gamma=1, alpha=0.90),
    "broad_adaptation": _arm(theta=1, gamma=20, alpha=0.99),
    "conservative": _arm(theta=5, gamma=2, alpha=0.98),
    "aggressive": _arm(theta=2, gamma=10, alpha=0.80),
    "gam_rag": _GAM_RAG,
}
