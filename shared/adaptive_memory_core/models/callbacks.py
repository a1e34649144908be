"""Checks of the caller's functions: rerankers, channels, readers, same-fact rules, entity finders.

Names from the caller's entity finder are normalised like our own: without capitals, accents and possessives.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, MissingExtraError
from adaptive_memory_core.graph.names import Extract, normalised_name
from adaptive_memory_core.models.extras import load, require
from adaptive_memory_core.policy.advanced import check_channel_names

ChannelResult = Mapping[str, float] | Iterable[tuple[str, float]]
ChannelFunction = Callable[
    [str, str | None, int], ChannelResult | Awaitable[ChannelResult]
]  # cue, user, limit -> ids with numbers
RerankFunction = Callable[[str, Sequence[str]], Any]  # cue, texts -> a number for each, or an awaitable


class CrossEncoder(Protocol):
    """The interface of sentence-transformers and similar packages."""

    def predict(self, sentences: Any) -> Any: ...


Reranker = RerankFunction | CrossEncoder


def as_reranker(given: Any) -> RerankFunction:
    """The caller's reranker as a function. The caller gives a function or an object with `predict(pairs)`.

    >>> def longest(cue, texts): return [len(text) for text in texts]
    >>> as_reranker(longest)("tea", ["a", "bcd"])
    [1, 3]
    >>> class Encoder:
    ...     def predict(self, pairs): return [len(cue) + len(text) for cue, text in pairs]
    >>> as_reranker(Encoder())("tea", ["a", "bcd"])
    [4, 6]
    """
    predict = getattr(given, "predict", None)
    if callable(predict) and not isinstance(
        given, type
    ):  # checked first, since a CrossEncoder is also callable, with tensors
        return lambda cue, texts: predict([(cue, text) for text in texts])
    if not callable(given) or isinstance(given, type):
        raise InvalidInputError(
            f"reranker is {shown(given)}. Give a function of a cue and a list of texts that returns one number for "
            "each text, an object with predict(pairs), or None."
        )
    judge: RerankFunction = given
    return judge


def callers_channels(given: Mapping[str, ChannelFunction] | None) -> dict[str, ChannelFunction]:
    """The caller's channels. Raises InvalidInputError for a name or function that is not valid."""
    if given is None:
        return {}
    check_channel_names(given)
    for name, one in given.items():
        if not callable(one) or isinstance(one, type):
            raise InvalidInputError(
                f"The channel {shown(name)} is {shown(one)}. Give a function of cue, user and limit that returns ids "
                "with a number in [0, 1] each."
            )
    return dict(given)


Reader = Callable[[str, Sequence[str]], float | Awaitable[float]]  # question, texts -> nats per token


def as_reader(given: Any) -> Reader | None:
    """The caller's reader, checked to be a function or None.

    >>> as_reader(lambda question, texts: 0.5)("tea?", ["a"]), as_reader(None)
    (0.5, None)
    """
    if given is not None and (not callable(given) or isinstance(given, type)):
        raise InvalidInputError(
            f"reader is {shown(given)}. Give a function of a question and a list of texts that returns how uncertain "
            "an answer from them is, in nats per token, such as judges.OpenAIReader(...), or None."
        )
    reader: Reader | None = given
    return reader


Labels = Sequence[Hashable | None]
SameFact = Callable[[str, Sequence[str]], Labels | Awaitable[Labels]]  # cue, texts -> a label for each


def as_rule(given: Any) -> SameFact | None:
    """The caller's rule, checked to be a function or None.

    >>> as_rule(lambda cue, texts: [None for text in texts])("tea", ["a"]), as_rule(None)
    ([None], None)
    """
    if given is not None and (not callable(given) or isinstance(given, type)):
        raise InvalidInputError(
            f"same_fact is {shown(given)}. Give a function of a cue and a list of texts that returns one label for "
            "each text (None for a text that repeats no other), or None."
        )
    rule: SameFact | None = given
    return rule


NO_NAMES = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})  # spaCy's labels
FINDERS = ("ner", "entity_ruler")


class SpacyEntities:
    """Finds named entities with a spaCy pipeline, given by name or as an object.

    Needs `pip install "adaptive-memory-retrieval[spacy]"` and an installed pipeline, for example with
    `python -m spacy download en_core_web_sm`. Dates, times and numbers are left out.
    """

    def __init__(self, pipeline: Any = "en_core_web_sm") -> None:
        self._pipeline = _loaded(pipeline) if isinstance(pipeline, str) else pipeline
        if not any(one in FINDERS for one in getattr(self._pipeline, "pipe_names", ())):
            raise InvalidInputError(
                f"The pipeline {shown(pipeline)} finds no entities. Give one with a component {' or '.join(FINDERS)}."
            )
        meta = self._pipeline.meta
        self.name = f"spacy:{meta['lang']}_{meta['name']}-{meta['version']}"

    def __call__(self, sentence: str) -> Sequence[str]:
        found = (one.text for one in self._pipeline(sentence).ents if one.label_ not in NO_NAMES)
        return _compared(found)


class _Given:
    def __init__(self, given: Extract) -> None:
        kind: Any = given if hasattr(given, "__qualname__") else type(given)
        named = getattr(given, "name", None)
        self.name = named if isinstance(named, str) and named else f"{kind.__module__}.{kind.__qualname__}"
        self._given = given

    def __call__(self, sentence: str) -> Sequence[str]:
        return _compared(self._given(sentence))


def as_extract(given: Any) -> Extract | None:
    """The caller's entity finder, checked, which returns normalised names.

    >>> made = as_extract(lambda sentence: ["The Nile"])
    >>> made("It is long."), as_extract(None)
    (['nile'], None)
    """
    if given is None or isinstance(given, SpacyEntities):
        return given
    if not callable(given) or isinstance(given, type):
        raise InvalidInputError(
            f"entities is {shown(given)}. Give a function of a sentence that returns the names in it, a "
            "SpacyEntities(...), or None for our rules."
        )
    return _Given(given)


def _compared(names: Any) -> list[str]:
    return [one for one in dict.fromkeys(map(normalised_name, names)) if one]


def _loaded(name: str) -> Any:
    require(["spacy"], extra="spacy")
    try:
        return load("spacy").load(name)
    except OSError as error:
        raise MissingExtraError(
            f"The spaCy pipeline {shown(name)} is not installed. Install it, for example with `python -m spacy "
            f"download {name}`, or give a pipeline that you have loaded."
        ) from error
