"""Which files hold copies of a user's rows, which need not be read one by one then? The ledger knows them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from adaptive_memory_core.records import Scope

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
