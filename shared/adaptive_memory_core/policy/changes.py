"""How does `Policy.replace` work? Unknown names are refused, and a mapping changes fields of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from adaptive_memory_core.errors import PolicyError


def changed(owner: Any, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes with whole groups in place of mappings, or a PolicyError that lists the fields there are."""
    known = [field.name for field in fields(owner)]
    unknown = sorted(set(changes) - set(known))
    if unknown:
        raise PolicyError(f"{type(owner).__name__} has no {', '.join(unknown)}. Its fields are: {', '.join(known)}.")
    return {name: _whole(getattr(owner, name), given) for name, given in changes.items()}


def _whole(now: Any, given: Any) -> Any:
    is_group = is_dataclass(now) and not isinstance(now, type)
    return replace(now, **changed(now, given)) if is_group and isinstance(given, Mapping) else given
