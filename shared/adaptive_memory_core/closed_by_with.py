"""How does a `with` statement close what it was given, blocking and async?"""

from __future__ import annotations

from typing import Protocol

from typing_extensions import Self


class Closable(Protocol):
    """What has an end, blocking and async."""

    def close(self) -> None: ...

    async def aclose(self) -> None: ...


class ClosedByWith:
    """What has `close` and `aclose` may stand in `with` and `async with`, and is closed at their end.

    >>> class Door(ClosedByWith):
    ...     def close(self) -> None:
    ...         print("closed")
    >>> with Door():
    ...     print("open")
    open
    closed
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self: Closable, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self: Closable, *_: object) -> None:
        await self.aclose()
