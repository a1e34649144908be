"""The metadata keys of a record, and their values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

from adaptive_memory_core.error_messages import shown, tells_unknown_names
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.frozen import HashedOnce
from adaptive_memory_core.ranges import LARGEST

RESERVED = ("chroma:", "#", "$")  # prefixes of metadata keys that Chroma reserves
HIGHEST_SCALE = 1e9


def _unusable(names: tuple[object, ...]) -> list[object]:
    """The names that are duplicates or cannot be metadata keys.

    >>> _unusable(("kind", "", "owner", 5, "kind", "chroma:x"))
    ['', 5, 'kind', 'chroma:x']
    """
    return [
        name
        for place, name in enumerate(names)
        if not isinstance(name, str) or not name or name.startswith(RESERVED) or name in names[:place]
    ]


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Fields(HashedOnce):
    """The metadata keys under which the collection stores a record's properties; rename them for an existing
    collection.

    `importance_scale` is the highest importance in the collection: 10 for a scale from 0 to 10. Importances are read
    and written on that scale; everywhere else an importance is in [0, 1].

    >>> Fields(user_id="owner", importance="salience", importance_scale=10).user_id
    'owner'
    """

    user_id: str = "user_id"
    kind: str = "kind"
    importance: str = "importance"
    created_at: str = "created_at"
    valid_from: str = "valid_from"
    valid_until: str = "valid_until"
    supersedes: str = "supersedes"
    superseded_by: str = "superseded_by"
    derived: str = "derived"
    derived_from: str = "derived_from"
    derived_stale: str = "derived_stale"
    last_read: str = "last_read"
    retrieval_count: str = "retrieval_count"
    remembered: str = "remembered"
    strength: str = "strength"
    boost: str = "importance_boost"
    pinned: str = "pinned"
    useful_at: str = "useful_at"
    speaker: str = "speaker"
    session: str = "session"
    seq: str = "seq"
    language: str = "language"
    title: str = "title"
    importance_scale: float = 1.0  # above 0, at most 1e9

    def __post_init__(self) -> None:
        names = (*self.names(), *(getattr(self, name) for name in _CALLERS_OWN))
        if unusable := _unusable(names):
            raise PolicyError(
                f"Fields were given {shown(unusable)}: taken already, or no name. They must be {len(names)} different "
                f"non-empty strings that do not start with {' or '.join(RESERVED)}. Rename it."
            )

        scale = self.importance_scale
        if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0 < scale <= HIGHEST_SCALE:
            raise PolicyError(
                f"Fields were given importance_scale={shown(scale)}. It is the highest importance in the collection, "
                f"above 0 and at most {HIGHEST_SCALE:g}. Give e.g. 10 for a scale from 0 to 10."
            )

    __hash__ = HashedOnce.__hash__

    def names(self) -> tuple[str, ...]:
        """The keys that we write. The keys for conversations and the language are the caller's and only read."""
        return tuple(getattr(self, name) for name in self.__slots__ if name not in (*_CALLERS_OWN, "importance_scale"))


@lru_cache(maxsize=16)
def read_driven(fields: Fields) -> frozenset[str]:
    """The keys that reads and feedback write into the collection."""
    return frozenset(getattr(fields, name) for name in READ_DRIVEN)


_CALLERS_OWN = ("speaker", "session", "seq", "language", "title")
READ_DRIVEN = ("last_read", "retrieval_count", "remembered", "strength", "boost", "pinned", "useful_at")  # of Fields
DEFAULT_FIELDS = Fields()


def as_texts(value: Any) -> tuple[str, ...]:
    """The strings in a list; empty if the value is not a list.

    >>> as_texts(["a", "b"]), as_texts("a")
    (('a', 'b'), ())
    """
    return tuple(one for one in value if type(one) is str) if isinstance(value, list) else ()


def as_words(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_number(value: Any, low: float, high: float = math.inf) -> float | None:
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, int | float)):
        return None
    return value if low <= value <= high and value - value == 0 else None  # inf - inf is NaN


def as_moment(value: Any) -> float | None:
    """POSIX seconds from a number or an ISO text; None if not valid. A text without a zone is read as UTC.

    >>> as_moment("1970-01-02"), as_moment(1e308), as_moment(float("nan"))
    (86400.0, None, None)
    """
    if value is None or (type(value) is float and -LARGEST <= value <= LARGEST):
        return value
    if not isinstance(value, str):
        return as_number(value, -LARGEST, LARGEST)
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
