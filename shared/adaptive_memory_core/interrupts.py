"""How are locks and transactions released when an interrupt strikes? By blocks that begin and end outside Python."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar

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
        generator = function(*args, **kwargs)
        leave = _Leave(_leave, weakref.ref(generator))
        leave.generator = generator
        taken = _Taken()
        taken.__enter__, taken.__exit__ = generator.__next__, leave
        return taken

    return entered


class _Taken:
    """What `with` is given: both its methods stand in slots, so that it calls them, and nothing else, itself."""

    __slots__ = ("__enter__", "__exit__")
    __enter__: Callable[[], Any]
    __exit__: Callable[..., bool]


class _Leave(functools.partial[bool]):
    """`with` holds this, and this the generator. The call below holds it only weakly: a traceback keeps its frames."""

    __slots__ = ("generator",)
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
