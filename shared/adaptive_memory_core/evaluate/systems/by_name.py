"""Which system does a name stand for? One of ours, one of a framework, or `MODULE:NAME` of your own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaptive_memory_core.errors import InvalidInputError, MissingExtraError
from adaptive_memory_core.evaluate.systems.port import Maker, System
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.models.named_object import named_object
from adaptive_memory_core.policy import Policy

OURS = "adaptive_memory_core.evaluate.systems"
PLACES: Mapping[str, str] = {
    "chroma": f"{OURS}.plain_chroma:PlainChroma",
    "bm25": f"{OURS}.by_words:ByWords",
    "langchain_time_weighted": "langchain_adaptive_memory.time_weighted:TimeWeighted",
    "llama_time_weighted": "llama_adaptive_memory.time_weighted:TimeWeighted",
    "adaptive": f"{OURS}.adaptive:Adaptive",
}
EXTRAS: Mapping[str, str] = {"langchain_time_weighted": "peers", "llama_time_weighted": "peers"}
POLICIES: Mapping[str, Policy] = {  # names for `adaptive` under a policy
    "static": Policy.preset("balanced").replace(decay={"rate": 1.0}),  # the profile's ranking, and nothing fades
    "dynamic": Policy.preset("balanced"),
    "graph": Policy(channels=("dense", "lexical", "graph")),
    "hierarchy": Policy(shape="episodes"),
}
ABOUT: Mapping[str, str] = {
    "chroma": "the nearest texts, from Chroma's own index",
    "bm25": "the words of the question, textbook BM25",
    "langchain_time_weighted": "LangChain's TimeWeightedVectorStoreRetriever over Chroma",
    "llama_time_weighted": "LlamaIndex's TimeWeightedPostprocessor over its Chroma store",
    "adaptive": "this project's memory",
    "static": "this project's memory by vectors alone, nothing fades",
    "dynamic": "this project's memory under ARM's balanced profile",
    "graph": "this project's memory with vectors, words and graph",
    "hierarchy": "this project's memory, answers as episodes",
}
NAMES = (*PLACES, *POLICIES)


def system_of(use: str, embedder: Embedder, settings: Mapping[str, Any]) -> System:
    """The system, made; `settings` are its own, above the policy that a name such as "static" stands for."""
    if use in POLICIES:
        settings = {"policy": POLICIES[use], **settings}
    return _maker(PLACES["adaptive"] if use in POLICIES else PLACES.get(use, use), use)(embedder, settings)


def _maker(place: str, use: str) -> Maker:
    try:
        maker: Maker = named_object(place)
    except MissingExtraError:
        raise
    except ImportError as error:
        if use in EXTRAS and error.name:
            raise MissingExtraError.of(error.name, EXTRAS[use]) from error
        raise _unknown(use, error) from error
    return maker


def _unknown(use: str, error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"There is no system {use!r}: {error}. Give one of {', '.join(NAMES)}, or MODULE:NAME of a class of your own "
        "that Python can import; evaluate/systems/port.py says what it has to do."
    )
