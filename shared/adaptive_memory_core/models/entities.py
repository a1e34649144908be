"""Who finds the names in a sentence, if not our rules? A function of the caller's, or a spaCy pipeline.

Its names are compared as ours are: without capitals, accents and possessives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adaptive_memory_core.errors import InvalidInputError, MissingExtraError
from adaptive_memory_core.graph.names import Extract, normalised
from adaptive_memory_core.models.extras import load, require
from adaptive_memory_core.shown_in_errors import shown

NO_NAMES = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})  # labels of spaCy's
FINDERS = ("ner", "entity_ruler")


class SpacyEntities:
    """The named entities that a spaCy pipeline finds: its name, or the pipeline itself.

    Needs `pip install "adaptive-memory-retrieval[spacy]"` and a pipeline that is installed, for example with
    `python -m spacy download en_core_web_sm`. Dates, times and numbers are left out.
    """

    def __init__(self, pipeline: Any = "en_core_web_sm") -> None:
        self._pipeline = _loaded(pipeline) if isinstance(pipeline, str) else pipeline
        if not any(one in FINDERS for one in getattr(self._pipeline, "pipe_names", ())):
            raise InvalidInputError(
                f"The pipeline {shown(pipeline)} finds no entities. Give one with a component {' or '.join(FINDERS)}."
            )
        told = self._pipeline.meta
        self.name = f"spacy:{told['lang']}_{told['name']}-{told['version']}"

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
    """The function that the caller gave, checked, with its names as they are compared.

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
    return [one for one in dict.fromkeys(map(normalised, names)) if one]


def _loaded(name: str) -> Any:
    require(["spacy"], extra="spacy")
    try:
        return load("spacy").load(name)
    except OSError as error:
        raise MissingExtraError(
            f"The spaCy pipeline {shown(name)} is not installed. Install it, for example with `python -m spacy "
            f"download {name}`, or give a pipeline that you have loaded."
        ) from error
