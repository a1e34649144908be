"""How is a step written once for blocking and async agents? It asks for verbs, and a driver calls them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, TypeVar

from adaptive_memory_core import UserMemory

T = TypeVar("T")


class Ask(NamedTuple):
    """A verb of a user's memory, to be called with these arguments."""

    scope: UserMemory
    verb: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]

    def call(self) -> Any:
        return getattr(self.scope, self.verb)(*self.arguments, **self.options)

    async def acall(self) -> Any:
        return await getattr(self.scope, f"a{self.verb}")(*self.arguments, **self.options)


class Away(NamedTuple):
    """Any other call that waits for something: off the event loop, where there is one."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def call(self) -> Any:
        return self.function(*self.arguments)

    async def acall(self) -> Any:
        return await asyncio.to_thread(self.function, *self.arguments)


Step = Generator[Ask | Away, Any, T]


def ask(scope: UserMemory, verb: str, *arguments: Any, **options: Any) -> Step[Any]:
    """Have the driver call the verb; evaluates to what it gives."""
    return (yield Ask(scope, verb, arguments, options))


def away(function: Callable[..., T], *arguments: Any) -> Step[T]:
    """Have the driver call a function that blocks; evaluates to what it gives."""
    result: T = yield Away(function, arguments)
    return result


def run(step: Step[T]) -> T:
    """Take a step, blocking."""
    try:
        asked = next(step)
        while True:
            try:
                answer = asked.call()
            except Exception as error:  # noqa: BLE001 - the step decides what an error costs
                asked = step.throw(error)
            else:
                asked = step.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


async def arun(step: Step[T]) -> T:
    """Take a step from an event loop, by the memory's own async verbs: nothing queues behind the loop's executor."""
    try:
        asked = next(step)
        while True:
            try:
                answer = await asked.acall()
            except Exception as error:  # noqa: BLE001 - the step decides what an error costs
                asked = step.throw(error)
            else:
                asked = step.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
