"""Under which name and dimension is an embedder known? Vectors under two names are never compared."""

from __future__ import annotations

import functools
import warnings
from typing import Any


def name_of(thing: Any) -> str:
    """The name it gives itself, with the model if it has one; else that of the function or class.

    >>> def embed(texts): ...
    >>> name_of(embed)
    'embed'
    >>> class Hosted:
    ...     model_name, dimensions = "text-embedding-3-small", 512
    ...     def name(self): return "openai"
    >>> name_of(Hosted())
    'openai:text-embedding-3-small:512'
    """
    if isinstance(thing, functools.partial):
        return name_of(thing.func)
    own = _own_name(thing)
    model = _text(getattr(thing, "model_name", None)) or _text(getattr(thing, "model", None))
    if own is None:
        own = _text(getattr(thing, "__qualname__", None)) or type(thing).__qualname__
    if model is None or model in own:
        return own
    asked = _size(getattr(thing, "dimensions", None))
    return f"{own}:{model}" if asked is None else f"{own}:{model}:{asked}"


def dimension_of(thing: Any) -> int | None:
    """How long it says its vectors are, or None if it does not say.

    >>> class Short: dimension = 64
    >>> dimension_of(Short()), dimension_of(len)
    (64, None)
    """
    declared = _size(getattr(thing, "dimension", None))
    return _size(getattr(thing, "dimensions", None)) if declared is None else declared


def _own_name(thing: Any) -> str | None:
    name = getattr(thing, "name", None)
    if not callable(name):
        return _text(name)
    with warnings.catch_warnings():  # chromadb's base class warns that it has no name, and returns NotImplemented
        warnings.simplefilter("ignore")
        try:
            return _text(name())
        except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError):
            return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value and value != "NotImplemented" else None


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
