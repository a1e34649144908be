"""Does the log's table of each day take its lines, and go as a whole when all of them are past?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from adaptive_memory_core.store.postgres.postgres_ledger import PostgresLedger
from tests.postgres_server import new_database
from tests.store.ledger.reads import ALICE, BOB, DAY, read
from tests.store.postgres.test_database import Cut, cut

pytestmark = pytest.mark.hard("PostgreSQL")

__all__ = ["cut"]  # a fixture
FIRST = 20_000 * DAY
KEEPS: dict[str, Any] = {"log_days": 10.0, "log_recalls": 100_000}
_DAYS = (
    "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
    "WHERE inhparent = 'adaptive_memory.recalls'::regclass ORDER BY relname"
)


@pytest.fixture
def address() -> str:
    return new_database()


@pytest.fixture
def ledger(address: str) -> Iterator[PostgresLedger]:
    yield from _opened(address)


def _opened(address: str) -> Iterator[PostgresLedger]:
    ledger = PostgresLedger(address)
    ledger.attach("uuid", "memories")
    yield ledger
    ledger.close()


def asked(address: str, query: str, *values: Any) -> list[Any]:
    with psycopg.connect(address, autocommit=True) as connection:
        found = connection.execute(query, values)
        return [] if found.description is None else [row[0] for row in found]


def days(address: str, *, of: str = "2024") -> list[str]:
    return [name for name in asked(address, _DAYS) if f"_{of}_" in name]


def lines(address: str, table: str) -> int:
    found: int = asked(address, f"SELECT count(*) FROM adaptive_memory.{table}")[0]
    return found


def trimmed(ledger: PostgresLedger, *, by: float) -> int:
    """By the word of two readings of the clock."""
    ledger.retention.trim(now=by - DAY / 10, **KEEPS)
    return ledger.retention.trim(now=by, **KEEPS)


def logged(ledger: Any, scope: Any) -> list[str]:
    found = ledger.log.recalls(scope, since=None, until=None, limit=100, containing=None)
    return [one.id for one in found]


def test_a_day_of_lines_stands_in_a_table_and_goes_with_it(ledger: PostgresLedger, address: str) -> None:
    for day in range(4):
        at = FIRST + day * DAY
        ledger.retention.trim(now=at, **KEEPS)
        for number in range(3):
            read(ledger, ALICE, f"a{day}-{number}", "m1", at=at + number)
        read(ledger, BOB, f"b{day}", "m2", at=at + 5)
    made = days(address)
    assert made == [f"recalls_of_2024_10_{day:02}" for day in range(4, 10)]
    assert [lines(address, one) for one in made] == [4, 4, 4, 4, 0, 0]
    assert lines(address, "recalls_of_any_day") == 0
    trimmed(ledger, by=FIRST + 12 * DAY)
    gone = [f"recalls_of_2024_10_{day:02}" for day in (4, 5)]
    assert set(days(address)) & set(made) == set(made) - set(gone)
    assert logged(ledger, BOB) == ["b3", "b2"]
    assert len(logged(ledger, ALICE)) == 6
    assert ledger.statistics.tally(ALICE).recalls == 12  # the counter is no log


def test_days_go_though_the_connection_is_lost_as_they_are_dropped(
    ledger: PostgresLedger, address: str, cut: Cut
) -> None:
    ledger.retention.trim(now=FIRST, **KEEPS)
    cut.at, cut.cut = "drop_log_days(%s)", Cut.before
    trimmed(ledger, by=FIRST + 20 * DAY)
    assert cut.at == ""  # it broke
    assert [one for one in days(address) if one < "recalls_of_2024_10_07"] == []


def test_a_memory_that_is_opened_has_tables_for_today_and_two_more_days(address: str) -> None:
    for name in asked(address, _DAYS):
        asked(address, f"DROP TABLE adaptive_memory.{name}" if "any" not in name else "SELECT 1")
    PostgresLedger(address).close()
    today = asked(address, "SELECT floor(adaptive_memory.posix_now() / 86400)::bigint")[0]
    assert len(asked(address, _DAYS)) == 4
    assert asked(address, "SELECT adaptive_memory.make_log_days(%s, %s)", today, today + 2) == [3]


def test_what_one_user_has_too_many_of_goes_from_every_day(ledger: PostgresLedger, address: str) -> None:
    for day in range(3):
        ledger.retention.trim(now=FIRST + day * DAY, **KEEPS)
        for number in range(4):
            read(ledger, ALICE, f"a{day}-{number}", "m1", at=FIRST + day * DAY + number)
        read(ledger, BOB, f"b{day}", "m2", at=FIRST + day * DAY)
    assert ledger.retention.trim(now=FIRST + 3 * DAY, log_days=10, log_recalls=6) == 6
    assert logged(ledger, ALICE) == ["a2-3", "a2-2", "a2-1", "a2-0", "a1-3", "a1-2"]
    assert logged(ledger, BOB) == ["b2", "b1", "b0"]
    assert ledger.retention.trim(now=FIRST + 3 * DAY, log_days=10, log_recalls=6) == 0


def test_a_line_of_a_day_without_a_table_is_kept_and_goes_alone(ledger: PostgresLedger, address: str) -> None:
    read(ledger, ALICE, "early", "m1", at=FIRST + 1)
    ledger.retention.trim(now=FIRST + 2, **KEEPS)  # its day has lines already, and gets no table
    assert days(address) == ["recalls_of_2024_10_05", "recalls_of_2024_10_06"]
    read(ledger, ALICE, "later", "m1", at=FIRST + 9_000)
    assert lines(address, "recalls_of_any_day") == 2
    gone = [ledger.retention.trim(now=FIRST + 10 * DAY + seconds, **KEEPS) for seconds in (2, 4_000)]
    assert gone == [0, 1]  # two readings of the clock
    assert logged(ledger, ALICE) == ["later"]


def test_ten_at_once_make_each_day_once(address: str) -> None:
    failed, made = list[BaseException](), list[int]()

    def make() -> None:
        try:
            made.extend(asked(address, "SELECT adaptive_memory.make_log_days(20000, 20003)"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=make) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    asked(address, "SELECT adaptive_memory.make_log_days(20000, 20003)")  # what one could not wait for
    assert len(days(address)) == 4


def test_a_role_without_the_right_to_make_tables_works_and_may_be_granted_days(address: str) -> None:
    for statement in (
        "DROP ROLE IF EXISTS plain_app",
        "CREATE ROLE plain_app LOGIN",
        "GRANT USAGE ON SCHEMA adaptive_memory TO plain_app",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA adaptive_memory TO plain_app",
        "GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA adaptive_memory TO plain_app",
    ):
        asked(address, statement)
    theirs = address.replace("//postgres:@", "//plain_app@")
    for ledger in _opened(theirs):
        read(ledger, ALICE, "r1", "m1", at=FIRST)
        ledger.retention.trim(now=FIRST + 1, **KEEPS)
        trimmed(ledger, by=FIRST + 10.5 * DAY)
        assert (days(address), logged(ledger, ALICE)) == ([], [])
    grant = "GRANT EXECUTE ON FUNCTION adaptive_memory.{} TO plain_app"
    asked(address, grant.format("make_log_days(bigint, bigint)"))
    asked(address, grant.format("drop_log_days(double precision)"))
    for ledger in _opened(theirs):
        ledger.retention.trim(now=FIRST, **KEEPS)
        read(ledger, ALICE, "r2", "m1", at=FIRST)
        assert days(address) == [f"recalls_of_2024_10_0{day}" for day in (4, 5, 6)]
        assert (lines(address, "recalls_of_2024_10_04"), logged(ledger, ALICE)) == (1, ["r2"])
        with psycopg.connect(theirs) as connection:  # past the whole log it sees nothing
            assert connection.execute("SELECT adaptive_memory.make_log_days(20000, 20002)").fetchone() == (3,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT * FROM adaptive_memory.recalls_of_2024_10_04")


def test_a_sweep_leaves_alone_what_another_collection_knows(ledger: PostgresLedger, address: str) -> None:
    another = PostgresLedger(address)
    another.attach("other uuid", "others")
    read(another, ALICE, "r1", "m1", at=FIRST)
    trimmed(ledger, by=FIRST + 10.5 * DAY)  # the line is gone, and with it the use of its id
    read(another, ALICE, "r2", "m1", at=FIRST + 11 * DAY)
    found = another.log.recalls(ALICE, since=None, until=None, limit=9, containing=None)
    assert [(one.id, [kept.id for kept in one.kept]) for one in found] == [("r2", ["m1"])]
    assert another.log.policy(found[0].policy_hash) is not None
    another.close()
