"""The presets of a policy: those of the literature, and the default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.advanced import EQUAL, Advanced, Fusion, Graphs, Weights
from adaptive_memory_core.policy.learning import Decay, Learning

Settings = Mapping[str, Any]
HOURLY_DECAY = 0.995  # Generative Agents, recency per sandbox hour


def settings_of(name: object) -> Settings:
    """The fields in which a preset differs from the default policy.

    >>> dict(settings_of("default"))
    {}
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise PolicyError(f"There is no preset {shown(name)}. The presets are: {', '.join(sorted(PRESETS))}.")
    return PRESETS[name]


def _literature(weights: Weights = EQUAL, **changes: Any) -> Settings:
    """The published blend: equal weights of the three signals, and min-max over the candidates."""
    plain: dict[str, Any] = {
        "channels": ("dense",),
        "advanced": Advanced(blend="minmax", duplicates="keep"),
    }
    return {"weights": weights, **plain, **changes}


def _arm(theta: int, gamma: float, alpha: float) -> Settings:
    """The paper's ranking and one of its profiles: strength times similarity alone, and every read counts."""
    return {
        "weights": Weights(recency=0.0, importance=0.0, similarity=1.0),
        "time_words": "off",
        "advanced": Advanced(duplicates="keep"),
        "channels": ("dense",),
        "refresh_floor_seconds": 0.0,
        "decay": Decay(remembrance_threshold=theta, grace=gamma, rate=alpha),
    }


_COMPOSITE: Settings = {  # the article on recall for agents: signals as they are, and nothing below its floor
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
_GAM_RAG: Settings = {  # the paper's equations 2 to 13: nothing but equation 8 ranks
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
