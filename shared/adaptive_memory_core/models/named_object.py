"""What does `MODULE:NAME` stand for? What that module of Python has under that name."""

from __future__ import annotations

import importlib
from typing import Any

from adaptive_memory_core.errors import AdaptiveMemoryError


def named_object(place: str) -> Any:
    """The object; an ImportError says why there is none, whatever the module raises while it is imported.

    >>> named_object("json:loads")("[1]")
    [1]
    >>> named_object("..x:y")
    Traceback (most recent call last):
    ImportError: TypeError: the 'package' argument is required to perform a relative import for '..x'
    """
    module, _, name = place.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AdaptiveMemoryError):
        raise
    except Exception as error:  # a module of somebody's own may raise anything
        raise ImportError(f"{type(error).__name__}: {error}") from error
