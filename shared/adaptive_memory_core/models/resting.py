"""How is a chat model asked that is down? Not for each message again: after some failures it is left alone a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from adaptive_memory_core.errors import JudgeError
from adaptive_memory_core.models.chat import Chat

FAILURES = 3  # in a row
REST_SECONDS = 60.0


class Resting:
    """A chat model that raises at once for a minute after it has failed three times in a row.

    >>> def down(instructions, material): raise TimeoutError("no answer")
    >>> chat, said = Resting(down, clock=lambda: 0.0), []
    >>> for _ in range(4):
    ...     try: chat("Judge.", "tea")
    ...     except Exception as error: said.append(type(error).__name__)
    >>> said
    ['TimeoutError', 'TimeoutError', 'TimeoutError', 'JudgeError']
    """

    def __init__(self, chat: Chat, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._chat, self._clock = chat, clock
        self._failures, self._until, self._last = 0, 0.0, ""

    def __call__(self, instructions: str, material: str) -> str:
        if self._failures >= FAILURES and self._clock() < self._until:
            rests = f"It failed {FAILURES} times in a row, and is not asked for {REST_SECONDS:.0f} seconds."
            raise JudgeError(f"{self._last} {rests}")
        try:
            said = self._chat(instructions, material)
        except Exception as error:
            self._failures, self._until, self._last = self._failures + 1, self._clock() + REST_SECONDS, str(error)
            raise
        self._failures = 0
        return said
