"""Conversion of the arguments of `as_retriever()`; arguments without a meaning here raise an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core import arguments as check
from adaptive_memory_core.error_messages import listed, shown

TYPES = ("similarity", "similarity_score_threshold", "mmr")
NAMES = {  # names in search_kwargs, and the retriever's names
    "k": "k",
    "filter": "filter",
    "fetch_k": "fetch_k",
    "lambda_mult": "lambda_mult",
    "score_threshold": "min_similarity",
}
MMR_LAMBDA = 0.5  # the default of LangChain's vector stores


def translated(fields: Mapping[str, Any], space_of: Callable[[], str] = lambda: "cosine") -> dict[str, Any]:
    """A retriever's fields, with `search_type` and `search_kwargs` converted to its own fields.

    A `score_threshold` selects the same documents as in langchain_chroma, for a collection of this space.

    >>> translated({"search_type": "mmr", "search_kwargs": {"k": 2, "fetch_k": 50}})
    {'k': 2, 'fetch_k': 50, 'lambda_mult': 0.5}
    >>> translated({"k": 2})
    {'k': 2}
    >>> translated({"search_kwargs": {"score_threshold": 0.5}}, lambda: "l2")
    {'min_similarity': 0.6464466094067263}
    """
    given = dict(fields)
    kind, more = given.pop("search_type", None), given.pop("search_kwargs", None)
    if kind is None and more is None:
        return given
    asked = _renamed({} if more is None else more)
    _check_type(kind, asked)
    if asked.get("min_similarity") is not None:
        asked["min_similarity"] = _similarity_for(asked["min_similarity"], space_of)
    if kind == "mmr":
        asked.setdefault("lambda_mult", MMR_LAMBDA)
    if both := sorted(asked.keys() & given.keys()):
        raise InvalidInputError(f"{', '.join(both)} is given twice, also in search_kwargs. Give it once.")
    return {**given, **asked}


def _similarity_for(relevance: Any, space_of: Callable[[], str]) -> float:
    """The least similarity that corresponds to this relevance in langchain_chroma.

    In an l2 collection, whose distances are squared, relevance is 1 - distance / sqrt(2), and similarity here is
    1 - distance / 2. In the other spaces the two are the same.
    """
    least = check.fraction(relevance, "score_threshold")
    return 1.0 - (1.0 - least) / math.sqrt(2.0) if space_of() == "l2" else least


def _renamed(more: Any) -> dict[str, Any]:
    if not isinstance(more, Mapping):
        raise InvalidInputError(f"search_kwargs is {shown(more)}. Give a mapping with any of: {', '.join(NAMES)}.")
    if unknown := sorted(more.keys() - NAMES.keys(), key=str):
        raise InvalidInputError(
            f"search_kwargs contains {listed(unknown)}, which have no meaning here. Allowed: "
            f"{', '.join(NAMES)}. For conditions on the text use filter, or accept= of memory.for_user(...).recall()."
        )
    return {NAMES[name]: value for name, value in more.items()}


def _check_type(kind: Any, asked: Mapping[str, Any]) -> None:
    if kind is not None and kind not in TYPES:
        raise InvalidInputError(f"search_type is {shown(kind)}. Give one of: {', '.join(TYPES)}; or leave it out.")
    if kind == "similarity_score_threshold" and asked.get("min_similarity") is None:
        raise InvalidInputError(
            "search_type='similarity_score_threshold' needs search_kwargs={'score_threshold': ...}: a number in [0, 1]."
        )
