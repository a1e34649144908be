"""Policies as JSON, and in files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from adaptive_memory_core.error_messages import reason, shown
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.advanced import Weights
from adaptive_memory_core.policy.learning import Remembrance
from adaptive_memory_core.whole_file import expanded, write_whole

WrittenPolicy = Mapping[str, Any]


def fields_of(text: str, kind: Any) -> dict[str, Any]:
    """The fields of a policy, which is of this kind, as `to_json` wrote them.

    >>> from adaptive_memory_core.policy import Policy
    >>> fields_of('{"recall_k": 7, "weights": {"recency": 0.5}, "of_tomorrow": 1}', Policy)
    {'weights': Weights(recency=0.5, ...), 'recall_k': 7}
    """
    return _fields(kind, _object(text))


def _fields(kind: Any, written: WrittenPolicy) -> dict[str, Any]:
    """What is written of the fields that the kind has, each as it was; others, of a newer version, are left out."""
    return {field.name: _value(field, written[field.name]) for field in fields(kind) if field.name in written}


def _value(field: Any, written: Any) -> Any:
    if field.name in _MADE_OF:
        return _MADE_OF[field.name](written)
    if not is_dataclass(field.default):
        return written
    group: Any = type(field.default)
    return group(**_fields(group, written))


def _object(text: str) -> WrittenPolicy:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(
            f"A policy was given as text that is no JSON: {reason(error)}. Give what Policy.to_json() wrote."
        ) from error
    if not isinstance(given, dict):
        raise PolicyError(f"A policy was given as {shown(given)}. Give what Policy.to_json() wrote: an object.")
    return given


def _channels(written: Any) -> Any:
    return written if written == "auto" else tuple(written)


def _pairs(written: Any) -> tuple[tuple[str, float], ...]:
    return tuple((name, weight) for name, weight in written)


def _by_kind(written: Any) -> tuple[tuple[str, Remembrance], ...]:
    return tuple((kind, Remembrance(**_fields(Remembrance, numbers))) for kind, numbers in written)


def _kind_weights(written: Any) -> tuple[tuple[str, Weights], ...]:
    return tuple((kind, Weights(**_fields(Weights, weights))) for kind, weights in written)


_MADE_OF = {"channels": _channels, "by_kind": _by_kind, "kind_weights": _kind_weights, "channel_weights": _pairs}


def read_policy(path: str | Path) -> str:
    """The text of the file, or a PolicyError that says what to give."""
    try:
        return expanded(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError, TypeError, ValueError) as error:
        raise PolicyError(
            f"No policy can be read from {shown(path)}: {reason(error)}. Give a file of Policy.save()."
        ) from error


def write_policy(path: str | Path, text: str) -> None:
    """The file has the old text or the new one, whatever happens meanwhile."""
    try:
        write_whole(path, f"{text}\n")
    except (OSError, TypeError, ValueError) as error:
        raise PolicyError(
            f"The policy cannot be written to {shown(path)}: {reason(error)}. Give a file in a directory that is there."
        ) from error
