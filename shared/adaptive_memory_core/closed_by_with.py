"""How does a `with` statement close what it was given, blocking and async?"""

from __future__ import annotations

from typing_extensions import Self


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

    def close(self) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
