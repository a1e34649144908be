"""May a retriever's fields have these values? Each by itself, so that all can be checked before anything is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.flow.fallback import fallback_of
from adaptive_memory_core.records import Scope
from langchain_adaptive_memory.as_retriever import translated
from langchain_adaptive_memory.call import FIELDS, checked, unknown_argument
from langchain_adaptive_memory.user import AUTO, EVERYONE, SOMEBODY, checked_default, checked_over

CHECKED = (*FIELDS, "user_id", "user_key", "over")


def check_fields(given: Mapping[str, Any], known: Iterable[str], shared: Iterable[str]) -> None:
    """Refuse the fields that no retriever may have, over a memory whose shared users are these."""
    fields = translated(given)
    names = list(known)
    if unknown := sorted(fields.keys() - set(names)):
        raise unknown_argument(unknown[0], names)
    for name in CHECKED:
        if name in fields:
            checked_field(name, fields[name])
    fallback = fields.get("fallback")
    if (over := fields.get("over")) != AUTO:
        checked_over(over, fallback)
    if fallback is not None and fallback is not EVERYONE:
        fallback_of(Scope(SOMEBODY), check.user_scope(fallback), check.shared(shared), below=1)


def checked_field(name: str, value: Any) -> Any:
    """The value, if this field may have it."""
    if name == "user_id":
        return checked_default(value)
    if name == "over":
        return value if value == AUTO else checked_over(value)
    if name == "user_key":
        return None if value is None else check.name(value, "user_key")
    return checked(name, value)
