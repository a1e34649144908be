"""What could find more here? Said once to a memory that goes by vectors alone because nobody measured its embedder."""

from __future__ import annotations

import threading

UNTRIED = (
    "found by vectors alone, for this embedder was not measured. With those that were, words helped or did no harm: "
    "Policy(channels=('dense', 'lexical')) asks them too, and channels=('dense',) leaves out this note"
)


class UntriedChannels:
    """Whether it was said; of one open memory."""

    def __init__(self) -> None:
        self._turn, self._said = threading.Lock(), False

    def note(self, channels: object, *, found: int, asked: int) -> tuple[str, ...]:
        """The note, the first time that there may be more than was looked at and nobody has chosen channels.

        >>> untried = UntriedChannels()
        >>> len(untried.note("auto", found=9, asked=20)), len(untried.note(("dense",), found=20, asked=20))
        (0, 0)
        >>> len(untried.note("auto", found=20, asked=20)), len(untried.note("auto", found=20, asked=20))
        (1, 0)
        """
        if self._said or channels != "auto" or found < asked:
            return ()
        with self._turn:
            first, self._said = not self._said, True
        return (UNTRIED,) if first else ()
