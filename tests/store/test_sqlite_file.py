"""Can a ledger's file be written after a query was broken off in the middle, and its cursor kept?"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.store.ledger.schema import UnreadableRowError
from adaptive_memory_core.store.sqlite_connection import SETTINGS, connect
from adaptive_memory_core.store.sqlite_file import LedgerFile


class Interrupt(BaseException):
    """What Ctrl-C is."""


@pytest.mark.parametrize("within", ["reading", "writing"])
@pytest.mark.parametrize("why", [Interrupt, UnreadableRowError])
def test_a_query_that_was_broken_off_keeps_nobody_from_writing(
    tmp_path: Path, within: str, why: type[BaseException]
) -> None:
    kept = []
    with closing(LedgerFile(str(tmp_path / "ledger.sqlite3"))) as file:
        with file.reading() as sql:
            before = [sql.execute(f"PRAGMA {name}").fetchone() for name in SETTINGS]
        with pytest.raises((Interrupt, LedgerError)), getattr(file, within)() as sql:  # noqa: PT012 - a block is interrupted
            kept.append(sql.execute("SELECT name FROM sqlite_master"))
            next(kept[0])
            raise why
        with closing(connect(file.path)) as other:
            other.execute("CREATE TABLE more (number)")
        with file.writing() as sql:
            sql.execute("INSERT INTO more VALUES (1)")
        with file.reading() as sql:
            assert sql.execute("SELECT number FROM more").fetchall() == [(1,)]
            assert [sql.execute(f"PRAGMA {name}").fetchone() for name in SETTINGS] == before
