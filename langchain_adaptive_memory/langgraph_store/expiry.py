"""When do a store's items expire? LangGraph's `TTLConfig`, checked before anything is opened."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core.error_messages import shown

FLAGS, MINUTES = ("refresh_on_read", "omit_expired"), ("default_ttl", "sweep_interval_minutes")


def check_expiry(given: Any) -> None:
    """Refuse what is no `TTLConfig`.

    >>> check_expiry(None), check_expiry({"default_ttl": 60, "omit_expired": False})
    (None, None)
    >>> check_expiry({"default_ttl": "an hour"})
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: ttl has default_ttl='an hour'. Give minutes from 0, or None.
    """
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"ttl is {shown(given)}. Give a mapping with any of: {', '.join((*FLAGS, *MINUTES))}.")
    for name in FLAGS:
        if not isinstance(given.get(name, True), bool):
            raise InvalidInputError(f"ttl has {name}={shown(given[name])}. Give True or False.")
    for name in MINUTES:
        if not _is_minutes(given.get(name)):
            raise InvalidInputError(f"ttl has {name}={shown(given[name])}. Give minutes from 0, or None.")


def _is_minutes(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
