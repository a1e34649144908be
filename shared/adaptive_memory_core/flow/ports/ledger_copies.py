"""The ports of the ledger's copies of records, in its tables and in files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from adaptive_memory_core.flow.ports.ledger_values import (
    DueRecord,
    MirrorNews,
    MirrorPage,
    MirrorRow,
    Target,
    Unfinished,
    Unplaced,
    Versions,
    WordNews,
    WordRow,
)
from adaptive_memory_core.records import Metadata, Scope

FileKind = Literal["vectors", "words"]


class UserFile(NamedTuple):
    """A file with what the rows of `owner` came to: up to the row numbered `written`, after the removal numbered
    `removed`."""

    place: Path
    owner: int
    written: int
    removed: int


class UserFiles(Protocol):
    """Copies that may be deleted at any time. None is found in which something stands that was removed since."""

    def find(self, scope: Scope, kind: FileKind) -> UserFile | None: ...
    def new(self, owner: int, kind: FileKind) -> Path | None:
        """The place for another one, which nobody finds yet; None where none can be kept."""

    def keep(self, kind: FileKind, made: UserFile) -> UserFile | None:
        """Have it found from now on, unless a row was removed since; gives it at its final place."""

    def drop(self, useless: UserFile) -> None:
        """It is not what was written."""

    def sweep(self) -> None:
        """Delete the files that are not found any more."""


RowsOf = Callable[[Sequence[tuple[str, str | None, Metadata | None]], Mapping[str, bytes]], list[WordRow]]


class WordRows(Protocol):
    """The words of each record as rows, which follow the records. No rows are left of a removed record."""

    def behind(self, scope: Scope, most: int) -> int:
        """How many of the user's records have changed since their words were read, counted up to `most`."""

    def users_behind(self) -> list[Scope]: ...
    def follow(self, scope: Scope, rows_of: RowsOf, most: int) -> bool:
        """Write the words of the next records that changed, about so many; whether there may be more. `rows_of` is
        given the records and the marks of the words that are known."""

    def stored_ids(self) -> set[str]: ...
    def last_change(self, scope: Scope) -> Hashable:
        """Equal as long as there can be no news for anybody; what is to be known of the scope is looked at with it."""

    def news(self, scope: Scope, written: int, removed: int) -> WordNews: ...


class MirrorRows(Protocol):
    """The records, vectors included. No row is left of a removed record."""

    def put(self, rows: Mapping[Scope | None, Sequence[MirrorRow]], gone: Collection[str] = ()) -> None: ...
    def annotate(self, changes: Mapping[str, Metadata]) -> None:
        """Merge keys into the metadata of those of the records that have a row; None takes a key away."""

    def drop(self, stored_ids: Sequence[str]) -> None: ...
    def size(self) -> int: ...
    def stored_ids(self) -> set[str]: ...
    def rows(self, stored_ids: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]:
        """Those of the records that have a row, no matter which user they belong to: id, text, metadata."""

    def vectors(self, stored_ids: Sequence[str]) -> dict[str, bytes]: ...
    def last_change(self, scope: Scope) -> Hashable:
        """Equal as long as there can be no news for anybody; what is to be known of the scope is looked at with it."""

    def news(self, scope: Scope, written: int, removed: int) -> MirrorNews: ...
    def changes(self, scope: Scope, since: int) -> list[tuple[int, int, str | None, Metadata | None]]:
        """The user's rows that changed after the change numbered `since`: number of the change, row, text, metadata."""

    def versions(self, stored_ids: Sequence[str]) -> Versions: ...
    def renew(
        self,
        rows: Mapping[Scope | None, Sequence[MirrorRow]],
        gone: Collection[str],
        before: Versions,
        revised: Mapping[str, Metadata | None] | None = None,
    ) -> list[str]:
        """`put` for what was read from the collection after `before` was: what was written here meanwhile is newer and
        stays. Those that are `revised` get other metadata, and else stay. Gives what was left out for that."""

    def complete_at(self) -> str | None:
        """The state of the collection, as `keep_complete_at` was told, in which all of it was last compared."""

    def keep_complete_at(self, state: str | None) -> None: ...


class MirrorPages(Protocol):
    """What is asked of the mirror besides records by their ids."""

    def page(self, scope: Scope, after: int, limit: int) -> MirrorPage: ...
    def count(self, scope: Scope) -> int: ...
    def mentioning(self, scope: Scope, fragments: Sequence[str]) -> list[tuple[str, str | None, Metadata | None]]:
        """Those of the scope's records in whose metadata, as JSON, one of these stands somewhere."""

    def latest(self, most: int) -> list[str]: ...
    def names_users(self) -> bool | None:
        """Whether any record names a user; None if that is not known, or if there are no records."""


class NewVectors(Protocol):
    """Another embedder's vectors for the records in the mirror, until they take the place of the old ones at once."""

    def begin(self, target: Target) -> None:
        """They go into this collection; anything begun before is discarded."""

    def target(self) -> Target | None: ...
    def progress(self) -> tuple[int, int]:
        """How many records have a new vector, and how many there are."""

    def missing(self, after: int, limit: int) -> list[tuple[int, str | None]]:
        """Row and text of records without one, behind that row."""

    def sample(self, limit: int) -> list[tuple[str, bytes]]:
        """Texts and the new vectors that they have, the first ones, without vectors that are all zero."""

    def keep(self, uuid: str, vectors: Mapping[int, bytes]) -> bool:
        """Keep the vectors of these rows; False, and nothing is kept, where they go into another collection by now."""

    def unplaced(self, after: int, limit: int) -> list[Unplaced]:
        """Records with a new vector that the new collection does not hold as they are, behind that row."""

    def place(self, uuid: str, placed: Sequence[Unplaced]) -> None:
        """The new collection holds these."""

    def displaced(self, limit: int) -> list[str]:
        """What it holds, and is gone."""

    def remove(self, stored_ids: Sequence[str]) -> None:
        """It holds these no more."""

    def swap(self, uuid: str, *, written: int | None, complete_at: str | None) -> bool:
        """All at once: the ledger speaks for the new collection, the mirror has the new vectors, and what differs
        between the two is due. False, and nothing is changed, where a record has no new vector yet.

        `written` is the last write of the old collection that the mirror knows, `complete_at` the state of the new one.
        """

    def with_lists(self) -> list[str]:
        """The records in whose metadata there are lists."""

    def unfinished(self, name: str) -> Unfinished | None:
        """The collection that has yet to take over this name."""

    def finish(self) -> None:
        """The collection that the ledger speaks for has its name."""


class Exports(Protocol):
    """What was put into the collection in the last minutes, as digests."""

    def note(self, digests: Sequence[bytes]) -> None: ...
    def among(self, digests: Sequence[bytes]) -> set[bytes]:
        """Those of them that were."""


class DueRecords(Protocol):
    """Records that were written, changed or removed, and have yet to be in the collection: noted in the transaction
    that changes the mirror. A later change of such a record in the mirror is due as well."""

    def mark(self, stored_ids: Sequence[str], *, gone: bool) -> None: ...
    def ids(self, limit: int) -> list[str]: ...
    def of(self, stored_ids: Sequence[str]) -> list[DueRecord]: ...
    def settle(self, done: Sequence[DueRecord]) -> None:
        """The collection shows these; those that changed since stay. Their read states are due from here on."""

    def among(self, stored_ids: Collection[str]) -> set[str]: ...
    def waiting(self) -> int: ...
