"""The word index as a follower of the ledger's records: each recall takes in what changed, or the background does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from adaptive_memory_core.flow.ports import JudgedQuestion, Stored, Vector
from adaptive_memory_core.flow.ports.words import Pair, WordsFound, no_words
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.records import Scope, Verdict
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.words.word_index import WordIndex

AT_ONCE = 3_000  # records that a recall waits for; of more it goes without words until the background has read them
PAGE = 500  # records of one transaction, for whose end other writers wait
INCOMPLETE = "the words of {left} records are not indexed yet, so words say nothing"
NOT_COPIED = "the collection's records are not copied, so words say nothing"


class WordFollower:
    """Who has not asked for words yet needs none indexed; from then on they are indexed as they are written."""

    name = "word index"

    def __init__(
        self, index: WordIndex, copied: Callable[[], bool], wake: Callable[[], object], *, read_only: bool
    ) -> None:
        """`copied` says whether the ledger has all records."""
        self._index, self._copied, self._wake, self._read_only = index, copied, wake, read_only
        self._due: dict[Scope, None] = {}  # users whose words the background reads
        self._all_due = self._asked = False

    def expect(self) -> None:
        """Somebody is going to look: what is written from now on is taken in at once, and all there is beside."""
        self._asked = True
        self.others_changed()

    def others_changed(self) -> None:
        """Others' records were imported, of whichever users."""
        if self._asked and not self._read_only:
            self._all_due = True
            self._wake()

    def look(self, scope: Scope, cue: str, fusion: Fusion, limit: int, within: Set[str] | None) -> WordsFound:
        """The records with the most of the cue's words; none, and a note that says why, until all of the user's records
        are taken in."""
        note = self.lacking(scope)
        return self._index.look(scope, cue, fusion, limit, within) if note is None else no_words(cue, note)

    def lacking(self, scope: Scope) -> str | None:
        """Take in what is new; why the words of a scope say nothing until the rest of it is taken in, if that is so."""
        self._asked = True
        if not self._copied():
            return NOT_COPIED
        left = sum(self._taken_in(part) for part in scope.parts)
        return None if not left else INCOMPLETE.format(left=f"{left:,}" if left <= AT_ONCE else f"over {AT_ONCE:,}")

    def beside(self, scope: Scope, stored_ids: Sequence[str]) -> Mapping[str, Pair]:
        """What was said right before and right after each of them, as far as it is taken in."""
        self.lacking(scope)
        return self._index.beside(scope, stored_ids)

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:  # noqa: ARG002
        """Within the transaction that wrote them."""
        if self._asked:
            self._taken_in(scope)

    def judged(self, scope: Scope, verdicts: Mapping[str, Verdict], question: JudgedQuestion | None = None) -> None:
        """Words are not moved by verdicts."""

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """They go with the record."""

    def stored_ids(self) -> set[str]:
        return self._index.stored_ids()

    def sync(self) -> None:
        """Take in all there is now: who follows the rows of words waits for that."""
        for scope in self._index.users_behind():
            while self._index.follow(scope, PAGE):
                pass

    def wait(self) -> float | None:
        return 0.0 if self._due or self._all_due else None

    def work(self, _going: Going) -> None:
        """The next page of a user's; what an error leaves undone is seen by the next recall."""
        if self._all_due:
            self._all_due = False
            self._due.update(dict.fromkeys(self._index.users_behind()))
        scope = next(iter(self._due), None)
        if scope is not None and not self._index.follow(scope, PAGE):
            self._due.pop(scope, None)

    def _taken_in(self, scope: Scope) -> int:
        """How many of the user's records are left after what little there is was taken in."""
        left = self._index.behind(scope, AT_ONCE + 1)
        if not left or self._read_only:
            return left
        if left > AT_ONCE:
            self._due[scope] = None
            self._wake()
            return left
        while self._index.follow(scope, PAGE):
            pass
        return 0
