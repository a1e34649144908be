"""Channels that a policy may name, and the weights of own channels and of kinds of records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.fusion import FOR_ALL, LEADS
from adaptive_memory_core.policy.ranges import Range
from adaptive_memory_core.policy.ranking import Weights
from adaptive_memory_core.shown_in_errors import shown

DENSE, LEXICAL, GRAPH = "dense", "lexical", "graph"  # vectors, words, and what the names in a cue lead to
OURS = (DENSE, LEXICAL, GRAPH)
RERANKER = "reranker"  # the name of its part
ACTIVATED, ROUNDS = "activated", "rounds"  # a record's sentences that the graph activated, as bits; and its rounds
OF_GRAPH = (ACTIVATED, ROUNDS)
_PARTS = {
    *LEADS,
    RERANKER,
    *OF_GRAPH,
    *("asked_before", "asked_near", "asked_trusted", "asked_against", "asked_ahead"),
    *("similarity", "relevance", "recency", "importance", "recency*importance"),
    *(*FOR_ALL, "time", "date", "kind", "auto"),
}
_TAKEN = {*OURS, *_PARTS, "hierarchy"}  # some for what is to come
_WEIGHT = Range(0, 1_000)
_NAME = re.compile(r"[A-Za-z][\w-]{0,39}")


def is_channel_name(name: object) -> bool:
    """Whether a source of this name can be one that policies name.

    >>> is_channel_name("lexical"), is_channel_name("recently helpful")
    (True, False)
    """
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and name not in _PARTS


def is_free(name: object) -> bool:
    """Whether a caller's own channel may have this name: it will stand among the parts of a score.

    >>> is_free("sql"), is_free("words"), is_free("")
    (True, False, False)
    """
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and name not in _TAKEN


def check_channels(channels: Any) -> None:
    """Nothing, or a PolicyError.

    >>> check_channels(("dense", "sql"))
    >>> check_channels(("sql",))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    adaptive_memory_core.errors.PolicyError: Policy(channels=('sql',)) is not allowed. ...
    """
    if channels == "auto":
        return
    known = isinstance(channels, tuple) and all(one in OURS or is_free(one) for one in channels)
    if not known or "dense" not in channels or len(set(channels)) != len(channels):
        raise PolicyError(
            f"Policy(channels={shown(channels)}) is not allowed. It must be a tuple of 'dense' and, besides it, "
            "'lexical', "
            "'graph' and the names of your own channels: letters, digits, - and _, and none that a part has; or 'auto'."
        )


def check_names(given: Any) -> None:
    """Nothing, or a PolicyError: the names under which a memory is given channels."""
    if not isinstance(given, Mapping) or not all(is_free(name) for name in given):
        raise PolicyError(
            f"channels is {shown(given)}. Give a mapping from a name of your own to a function of cue, user and "
            "limit, e.g. "
            "channels={'sql': find}. A name has letters, digits, - and _, and is none that a part of a score has: "
            f"{', '.join(sorted(_TAKEN))}."
        )


def weights_of(given: Any) -> tuple[tuple[str, float], ...]:
    """What callers' own channels count, checked: 1 is as much as the vectors, unless `Fusion` says otherwise.

    >>> weights_of({"sql": 2})
    (('sql', 2.0),)
    """
    pairs = tuple(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(pairs, tuple) or not all(isinstance(one, tuple) and len(one) == 2 for one in pairs):
        raise PolicyError(
            f"channel_weights is {shown(given)}. Give a mapping from channels to weights, e.g. {{'sql': 0.5}}."
        )
    for name, weight in pairs:
        if not is_free(name):
            raise PolicyError(
                f"channel_weights has {shown(name)}. Name channels of your own there; those of vectors and words are "
                "in Advanced(fusion=Fusion(vectors=..., words=...), graph=Graphs(weight=...))."
            )
        if weight not in _WEIGHT:
            raise PolicyError(
                f"Advanced(channel_weights={{{shown(name)}: {shown(weight)}}}) is not allowed. It must be {_WEIGHT}."
            )
    return tuple(sorted((name, float(weight)) for name, weight in dict(pairs).items()))


KindWeights = tuple[tuple[str, Weights], ...]


def kind_weights_of(given: object) -> KindWeights:
    """What a policy was given as `kind_weights`, checked, in the order of the names.

    >>> [kind for kind, _ in kind_weights_of({"reflection": Weights(importance=0.5), "fact": Weights()})]
    ['fact', 'reflection']
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    usable = isinstance(pairs, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and _is_kind(pair[0]) and isinstance(pair[1], Weights)
        for pair in pairs
    )
    if not usable or not isinstance(pairs, list | tuple) or len(dict(pairs)) < len(pairs):
        raise PolicyError(
            f"Advanced(kind_weights={shown(given)}) is not allowed. Give a mapping from kinds, each once, to their "
            'weights, e.g. {"reflection": Weights(importance=0.5), "fact": Weights(similarity=1.5)}.'
        )
    return tuple(sorted(pairs))


def _is_kind(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip())
