"""How much does each kind of memory count? The share of its score that a record of the kind keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.shown_in_errors import shown

LARGEST_WEIGHT = 10.0  # the largest weight; a kind of weight 10 leaves all others a tenth of their score

KindWeights = tuple[tuple[str, float], ...]


def kind_weights_of(given: object) -> KindWeights:
    """What a policy was given as `kind_weights`, checked, in the order of the names.

    >>> kind_weights_of({"reflection": 0.8, "fact": 1})
    (('fact', 1.0), ('reflection', 0.8))
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    usable = isinstance(pairs, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and _is_kind(pair[0]) and _is_weight(pair[1]) for pair in pairs
    )
    if not usable or not isinstance(pairs, list | tuple) or len(dict(pairs)) < len(pairs):
        raise PolicyError(
            f"Policy(kind_weights={shown(given)}) is not allowed. Give a mapping from kinds, each once, to numbers "
            "above 0 "
            f'and up to {LARGEST_WEIGHT:g}, e.g. {{"fact": 1.0, "reflection": 0.8}}.'
        )
    return tuple(sorted((kind, float(weight)) for kind, weight in pairs))


def kept_share(kind: str | None, weights: KindWeights) -> float:
    """The share of its score that a record of this kind keeps: its weight over the largest there is. A kind without
    one has 1.

    >>> weights = (("fact", 1.0), ("reflection", 0.8))
    >>> kept_share("fact", weights), kept_share("reflection", weights), kept_share(None, weights)
    (1.0, 0.8, 1.0)
    >>> kept_share("event", (("fact", 2.0),))
    0.5
    """
    known = dict(weights)
    return known.get(kind or "", 1.0) / max(1.0, *known.values()) if known else 1.0


def _is_kind(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip())


def _is_weight(value: object) -> bool:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return usable and 0.0 < value <= LARGEST_WEIGHT  # type: ignore[operator] # it is a number here
