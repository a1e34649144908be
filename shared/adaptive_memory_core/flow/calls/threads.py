"""Where does a call run that may never end? In threads that neither `close` nor the interpreter waits for."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


def settled(given: Any) -> Any:
    """What a call gave; where that is still to be awaited, what comes of it."""
    if inspect.isawaitable(given):
        return asyncio.run_coroutine_threadsafe(awaited(given), background.loop()).result()
    return given


def threaded(call: Callable[[], Any], then: Callable[[Any], Any]) -> Future[Any]:
    """The call in a thread of its own, which neither `close` nor the end of the interpreter waits for."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result(then(context.run(call)))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            future.set_exception(error)

    threading.Thread(target=work, name="adaptive-memory-outside", daemon=True).start()
    return future


async def awaited(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


class Background:
    """An event loop in a thread of its own, for coroutines asked for by code that blocks. One for all calls, since
    their clients keep connections that belong to the loop they were made on."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._turn:
            if (
                self._loop is None or self._thread is None or not self._thread.is_alive()
            ):  # a fork leaves threads behind
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="adaptive-memory-loop", daemon=True)
                self._thread.start()
            return self._loop


background = Background()
