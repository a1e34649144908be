"""How do frozen values stay cheap where every recall needs them? What can be reckoned once is."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class HashedOnce:
    """A frozen dataclass whose hash is reckoned once: a recall looks up again and again what was made of its policy.

    A dataclass that inherits from it says `__hash__ = HashedOnce.__hash__`, or else it gets its own.
    """

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            values: Any = self
            object.__setattr__(self, "_hash", hash(tuple(getattr(values, one.name) for one in fields(values))))
            return self._hash
