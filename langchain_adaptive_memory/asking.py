"""How is a step of a turn written once for blocking and async agents? It asks for verbs, a driver calls them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NamedTuple, TypeVar

from adaptive_memory_core import UserMemory

T = TypeVar("T")


class Ask(NamedTuple):
    """A verb of a user's memory, to be called with these arguments."""

    scope: UserMemory
    verb: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]


Step = Generator[Ask, Any, T]


def ask(scope: UserMemory, verb: str, *arguments: Any, **options: Any) -> Step[Any]:
    """Have the driver call the verb; evaluates to what it gives."""
    return (yield Ask(scope, verb, arguments, options))


def run(step: Step[T]) -> T:
    """Take a step, blocking."""
    try:
        asked = next(step)
        while True:
            try:
                answer = getattr(asked.scope, asked.verb)(*asked.arguments, **asked.options)
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
                answer = await getattr(asked.scope, f"a{asked.verb}")(*asked.arguments, **asked.options)
            except Exception as error:  # noqa: BLE001 - the step decides what an error costs
                asked = step.throw(error)
            else:
                asked = step.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
