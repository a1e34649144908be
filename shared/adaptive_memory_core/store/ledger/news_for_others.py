"""What is a transaction of the ledger to tell those who keep rows of it in RAM? Whose recall it counts, or anything.

A version stands in the ledger, and one with each user. A recall changes its user's alone, so that nobody reads again
what it did not touch; whatever else is written changes the version, and then all is read again.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple


class Kind(NamedTuple):
    """Of a transaction: its writer has `told` those of this process who keep rows in RAM, or will; it is a recall of
    this user; it is `unheard`, and writes nothing that others keep in RAM."""

    told: bool = False
    recall_of: int = 0
    unheard: bool = False


class NewsForOthers:
    """What the transaction under way has to tell, and how often others have told something.

    >>> news = NewsForOthers(); news.notice(4); news.begin(Kind(recall_of=7)); news.counted[7] += 1
    >>> news.kept(); news.wrote, dict(news.counted), news.from_others
    (False, {7: 1}, 1)
    >>> news.begin(Kind()); news.kept(); news.notice(5); news.from_others      # our own
    1
    >>> news.notice(6); news.from_others
    2
    """

    def __init__(self) -> None:
        self.recall_of = 0  # whose recall the transaction is
        self.counted: Counter[int] = Counter()  # whose recalls it counts
        self.wrote = False  # more than a recall does
        self.only_recall = False  # whether it has no other part, heard or not
        self.from_others = 0  # how often the version was another than ours
        self._version = -1

    def begin(self, kind: Kind) -> None:
        """A transaction begins."""
        self.counted.clear()
        self.recall_of, self.wrote = kind.recall_of, not (kind.recall_of or kind.unheard)
        self.only_recall = kind.recall_of != 0

    def part(self, kind: Kind) -> None:
        """A part of it begins."""
        of_recall = kind.recall_of != 0 and kind.recall_of == self.recall_of
        self.wrote = self.wrote or not (kind.unheard or of_recall)
        self.only_recall = self.only_recall and of_recall

    def notice(self, version: int | None) -> None:
        """The version that stands in the ledger; None where there is none yet."""
        if version is not None and version != self._version:
            self._version, self.from_others = version, self.from_others + 1

    def kept(self) -> None:
        """The transaction was kept, and has counted the version up where it `wrote`."""
        self._version += self.wrote
