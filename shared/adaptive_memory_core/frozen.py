"""Frozen values that are computed once: their hash, and properties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class HashedOnce:
    """A frozen dataclass whose hash is computed once, which may have properties with `computed_once`.

    A subclass must set `__hash__ = HashedOnce.__hash__`, otherwise the dataclass decorator creates its own.
    """

    __slots__ = ("__dict__", "_hash")
    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            values: Any = self
            object.__setattr__(self, "_hash", hash(tuple(getattr(values, one.name) for one in fields(values))))
            return self._hash


class computed_once(Generic[T]):  # noqa: N801 - a decorator
    """`functools.cached_property` without its lock before Python 3.12, which costs more than computing most values.

    Two threads may compute a value at the same time; one of the two results is stored.

    >>> class Word:
    ...     @computed_once
    ...     def letters(self):
    ...         print("counted")
    ...         return 3
    >>> tea = Word()
    >>> tea.letters, tea.letters
    counted
    (3, 3)
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, one: None, kind: type) -> computed_once[T]: ...
    @overload
    def __get__(self, one: object, kind: type) -> T: ...
    def __get__(self, one: object | None, kind: type) -> T | computed_once[T]:
        if one is None:
            return self
        value = one.__dict__[self._name] = self._compute(one)
        return value
