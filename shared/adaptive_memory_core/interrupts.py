"""How are locks and transactions released when an interrupt strikes? By blocks that begin and end outside Python."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def interruptible(function: Callable[P, Generator[T, None, None]]) -> Callable[P, AbstractContextManager[T]]:
    """`contextlib.contextmanager`, for what must never stay taken.

    Ctrl-C and `PyThreadState_SetAsyncExc` strike between any two steps of Python code. `contextlib` runs some between
    the generator's `yield` and the block, and an exception there leaves the generator waiting, with its locks, for as
    long as somebody keeps the traceback. Here the block begins and ends in the interpreter itself: the generator is
    held by the `with` statement alone, so that it is finished, or closed, when that is left in whatever way.

    >>> @interruptible
    ... def noted(lines):
    ...     try:
    ...         yield lines.append
    ...     finally:
    ...         lines.append("given back")
    >>> lines = []
    >>> with noted(lines) as note:
    ...     note("taken")
    >>> lines
    ['taken', 'given back']
    """

    @functools.wraps(function)
    def entered(*args: P.args, **kwargs: P.kwargs) -> AbstractContextManager[T]:
        return cast("AbstractContextManager[T]", _Taken(function(*args, **kwargs)))

    return entered


class _Taken:
    """What `with` is given: both its methods stand in slots, so that it calls them, and nothing else, itself."""

    __slots__ = ("__enter__", "__exit__")

    def __init__(self, generator: Generator[Any, None, None]) -> None:
        leave = _Leave(_leave, weakref.ref(generator))
        leave.generator = generator
        self.__enter__, self.__exit__ = generator.__next__, leave


class _Leave(functools.partial[bool]):
    """`with` holds this, and this the generator. The call below holds it only weakly: a traceback keeps its frames."""

    generator: Generator[Any, None, None]


def _leave(
    generator: Callable[[], Generator[Any, None, None]], kind: Any, error: BaseException | None, _trace: Any
) -> bool:
    if generator() is None:  # garbage, as the block's own frame is: it was, or is, closed by itself
        return False
    try:
        if kind is None:
            next(generator(), None)
            return False
        generator().throw(error)  # type: ignore[arg-type] # an error comes with its kind
    except StopIteration:
        return True
    except BaseException as raised:
        if raised is not error:
            raise
        return False
    raise RuntimeError("A context manager went on after its end.")
