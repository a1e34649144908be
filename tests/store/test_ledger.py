"""Is the ledger's word good? Point lookups, atomic changes, a cache that is never behind, migrations, retention."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive_memory_core import (
    Hit,
    LedgerError,
    LedgerVersionError,
    Policy,
    ReadState,
    Record,
    Scope,
    Scored,
    SQLiteLedger,
    Verdict,
)
from adaptive_memory_core.flow.ports import Entry
from adaptive_memory_core.learn.decay import strength as remembrance
from adaptive_memory_core.learn.decay.strength import Timeline, strength
from adaptive_memory_core.learn.verdicts import Judging, Occasion
from adaptive_memory_core.policy.decay import Phase, Regime
from adaptive_memory_core.records import Seen
from adaptive_memory_core.store.ledger import schema, state_rows
from adaptive_memory_core.store.ledger.outbox import due, settle, trim, waiting

ALICE, BOB, EVERYONE = Scope("alice"), Scope("bob"), Scope(None)
EVERY = Policy(refresh_floor_seconds=0.0)
NEW = Seen(ReadState(), None)


def turned(seen: Seen, *, timeline: Timeline) -> ReadState:
    """Pinned where it was not, and the other way round."""
    return replace(seen.state, pinned=not seen.state.pinned)


def opened(path: Path | str) -> SQLiteLedger:
    ledger = SQLiteLedger(str(path))
    ledger.attach("uuid-of-a-collection", "memories")
    return ledger


def entry(recall_id: str, at: float = 1.0, *ids: str, logged: bool = True) -> Entry:
    kept = [Scored(Hit(Record(one, one), 0.25, one), 0.5, {"similarity": 0.5}, {"similarity": 0.25}) for one in ids]
    return Entry(
        recall_id,
        at,
        "tea",
        5,
        EVERY.hash,
        EVERY.to_json(),
        kept,
        [],
        Regime((Phase(EVERY.pace, 0.0),)),
        EVERY.pace,
        None,
        {},
        None,
        logged,
    )


def read(ledger: SQLiteLedger, scope: Scope, recall_id: str, *ids: str, at: float = 1.0) -> int:
    rule = partial(remembrance.read, policy=EVERY, now=at)
    return ledger.record_recall(scope, entry(recall_id, at, *ids), dict.fromkeys(ids, NEW), rule).step


def test_states_are_looked_up_point_by_point(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    ledger.enrol(ALICE, {f"m{number}": None for number in range(500)}, now=1.0)
    seen: list[str] = []
    with ledger.file.reading() as sql:
        sql.set_trace_callback(seen.append)
        state_rows.known_states(sql, ledger.collection_key, 1, ["m1", "m2"])
        sql.set_trace_callback(None)
        plan = sql.execute("EXPLAIN QUERY PLAN " + seen[0]).fetchall()
    assert [step[3] for step in plan] == [
        "SEARCH records USING INDEX records_by_stored_id (collection_key=? AND stored_id=?)"
    ]


def test_a_read_counts_and_its_step_is_the_users_own(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    assert [read(ledger, ALICE, "r1", "m1"), read(ledger, ALICE, "r2", "m1", at=2.0)] == [1, 2]
    assert read(ledger, BOB, "r3", "m2") == 1
    assert ledger.standing(ALICE, ["m1"]).states["m1"].retrieval_count == 2
    assert ledger.standing(BOB, ["m1"]).states == {}


def test_a_failed_recall_leaves_no_trace(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    read(ledger, ALICE, "r1", "m1")
    with pytest.raises(LedgerError):
        read(ledger, ALICE, "r1", "m1", at=2.0)  # the same recall id: refused by the log, after the state was written
    assert ledger.tally(ALICE).recalls == 1
    assert ledger.standing(ALICE, ["m1"]).states["m1"].retrieval_count == 1
    with ledger.file.reading() as sql:
        assert sql.execute("SELECT retrieval_count FROM records").fetchall() == [(1,)]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["m1", "m2"]), st.sampled_from("rjce")), max_size=25))
def test_the_cache_is_never_behind_another_connection(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[int, str, str]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    both = [opened(path), opened(path)]
    for number, (who, record, act) in enumerate(acts):
        ledger = both[who]
        if act == "r":
            read(ledger, ALICE, f"r{number}", record, at=float(number))
        elif act == "j":
            state = ledger.standing(ALICE, [record]).states.get(record, ReadState())
            rule = Judging(EVERY, Occasion(1.0, number), 1.0)
            ledger.judge(ALICE, f"v{number}", {record: (Verdict.HELPFUL, Seen(state, None))}, rule, now=1.0)
        elif act == "c":
            ledger.change(ALICE, record, NEW, turned, what="pinned", by="test", now=1.0)
        else:
            ledger.erase(ALICE, record, record, existed=True, now=1.0)
            ledger.enrol(ALICE, {record: None}, now=1.0)
        with sqlite3.connect(path) as fresh:
            rows = fresh.execute("SELECT stored_id, retrieval_count, pinned, boost FROM records").fetchall()
        truth = {row[0]: row[1:] for row in rows}
        for one in both:
            states = one.standing(ALICE, ["m1", "m2"]).states
            assert {name: (s.retrieval_count, int(s.pinned), s.boost) for name, s in states.items()} == truth
    for ledger in both:
        ledger.close()


PACES = [EVERY, *(EVERY.replace(decay={"rate": rate}) for rate in (0.5, 0.9))]


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 2), st.sampled_from([None, "t1", "t2"]), st.sampled_from("rrrexs")),
        max_size=12,
    )
)
def test_a_users_recalls_paces_turns_and_forgotten_records_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[int, int, str | None, str]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    both, forgotten = [opened(path), opened(path)], False
    for number, (who, pace, turn, act) in enumerate(acts):
        at = float(number)
        if act == "r":
            asked = replace(entry(f"r{number}", at, "m1"), turn=turn, pace=PACES[pace].pace)
            rule = partial(remembrance.read, policy=PACES[pace], now=at)
            both[who].record_recall(ALICE, asked, {"m1": NEW}, rule)
        elif act == "e":
            both[who].erase(ALICE, "m1", "m1", existed=True, now=at)
            forgotten = True
        elif act == "x":
            trim(both[who], now=at + 3 * 86_400.0, log_days=1.0, log_recalls=100)
            forgotten = False
        else:
            settle(both[who], due(both[who], 10))
        fresh = opened(path)
        for one, name in product(both, (None, "t1", "t2")):
            assert one.standing(ALICE, ["m1"], name) == fresh.standing(ALICE, ["m1"], name)
            assert not (forgotten and one.standing(ALICE, ["m1"]).states)
        fresh.close()
    for ledger in both:
        ledger.close()


def test_a_record_that_changed_hands_starts_anew(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    read(ledger, ALICE, "r1", "m1")
    assert ledger.standing(BOB, ["m1"]).states == {}
    read(ledger, BOB, "r2", "m1")
    assert ledger.standing(BOB, ["m1"]).states["m1"].retrieval_count == 1
    assert ledger.standing(ALICE, ["m1"]).states == {}


def test_an_id_is_given_to_one_user_only(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    assert ledger.enrol(ALICE, {"m1": None}, now=1.0) == [True]
    assert ledger.enrol(BOB, {"m1": None, "m2": None}, now=1.0) == [False, True]
    assert ledger.enrol(EVERYONE, {"m2": None}, now=1.0) == [False]


def test_a_recall_under_way_does_not_write_back_what_was_forgotten(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    read(ledger, ALICE, "r1", "m1", "m2")
    ledger.erase(ALICE, "m1", "m1", existed=True, now=1.0)
    read(ledger, ALICE, "r2", "m1", "m2", at=2.0)  # it had found m1 before
    assert ledger.standing(ALICE, ["m1"]).states == {}
    logged = ledger.log(ALICE, since=None, until=None, limit=10, containing=None)
    assert [[one.id for one in recall.candidates] for recall in logged] == [["m2"], ["m2"]]
    ledger.enrol(ALICE, {"m1": None}, now=1.0)  # remembered again: it may be read again
    read(ledger, ALICE, "r3", "m1", at=3.0)
    assert ledger.standing(ALICE, ["m1"]).states["m1"].retrieval_count == 1


def test_verdicts_count_once_and_can_be_taken_back(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    read(ledger, ALICE, "r1", "m1")
    rule = Judging(EVERY, Occasion(1.0, 1), 1.0)

    def judge(verdict: Verdict) -> int:
        return ledger.judge(ALICE, "r1", {"m1": (verdict, NEW)}, rule, now=1.0)

    assert (judge(Verdict.HELPFUL), judge(Verdict.HELPFUL)) == (1, 0)
    assert ledger.standing(ALICE, ["m1"]).states["m1"].boost == pytest.approx(0.05)
    assert judge(Verdict.UNHELPFUL) == 1
    assert ledger.standing(ALICE, ["m1"]).states["m1"].boost == pytest.approx(-0.05)


def test_what_changes_while_it_is_written_back_stays_due(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    read(ledger, ALICE, "r1", "m1", "m2")
    batch = due(ledger, 10)
    read(ledger, ALICE, "r2", "m1", at=2.0)
    settle(ledger, batch)
    assert [one.stored_id for one in due(ledger, 10)] == ["m1"]
    assert waiting(ledger) == 1
    settle(ledger, due(ledger, 10))
    assert waiting(ledger) == 0


def test_the_log_lets_go_of_the_old_and_of_the_many(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    day = 86_400.0
    for number in range(1_200):
        read(ledger, ALICE, f"a{number}", "m1", at=number * day / 100)
    read(ledger, BOB, "b1", "m2", at=0.0)
    assert trim(ledger, now=12 * day, log_days=10, log_recalls=100_000) == 201
    assert trim(ledger, now=12 * day, log_days=10, log_recalls=300) == 700
    kept = ledger.log(ALICE, since=None, until=None, limit=10_000, containing=None)
    assert [one.step for one in kept] == list(range(1_200, 900, -1))
    assert ledger.log(BOB, since=None, until=None, limit=10, containing=None) == []
    assert ledger.tally(ALICE).recalls == 1_200  # the counter is no log


def test_the_log_can_be_asked_by_time_and_by_record(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    read(ledger, ALICE, "r1", "m1", at=10.0)
    read(ledger, ALICE, "r2", 'quo"te', at=20.0)
    ids = [one.id for one in ledger.log(ALICE, since=15.0, until=None, limit=10, containing=None)]
    assert ids == ["r2"]
    assert [one.id for one in ledger.log(ALICE, since=None, until=None, limit=10, containing='quo"te')] == ["r2"]
    assert ledger.log(BOB, since=None, until=None, limit=10, containing="m1") == []
    assert ledger.logged(BOB, "r1") is None


def test_an_older_ledger_is_brought_up_to_date_with_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = opened(path)
    read(ledger, ALICE, "r1", "m1")
    ledger.close()
    step = "ALTER TABLE users ADD COLUMN motto TEXT;\nUPDATE users SET motto = 'read';"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    ledger = opened(path)
    assert ledger.standing(ALICE, ["m1"]).states["m1"].retrieval_count == 1
    with ledger.file.reading() as sql:
        assert sql.execute("SELECT motto FROM users").fetchall() == [("read",)]
    ledger.close()
    monkeypatch.undo()
    with pytest.raises(LedgerVersionError, match="newer version"):
        opened(path)


def test_what_an_older_version_kept_has_not_decayed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.sqlite3"
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        with sqlite3.connect(path) as sql:
            schema.migrate(sql)
            sql.execute("INSERT INTO collections (uuid, name) VALUES ('uuid-of-a-collection', 'memories')")
            sql.execute("INSERT INTO users (collection_key, name, steps) VALUES (1, 'alice', 40)")
            sql.execute(
                "INSERT INTO records (collection_key, user_key, stored_id, settled_step, last_read, retrieval_count) "
                "VALUES (1, 1, 'm1', 3, 5.0, 1), (1, 1, 'm2', 0, NULL, 0)"
            )
    ledger = opened(path)
    known = ledger.standing(ALICE, ["m1", "m2"])
    arm = Policy.preset("aggressive")
    timeline = known.timeline.under(Regime((Phase(arm.pace, 0.0),)))
    assert [strength(known.states[one], None, timeline, now=9e9) for one in ("m1", "m2")] == [1.0, 1.0]
    assert known.states["m1"].retrieval_count == 1
    with ledger.file.reading() as sql:
        assert sql.execute("SELECT rows FROM collections").fetchone() == (2,)


def test_what_no_recall_can_bear_is_mended_when_an_older_ledger_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, strange = tmp_path / "ledger.sqlite3", (1e308, float("inf"), -3.0, -1e300, 10**13)
    good = ReadState(last_read=5.0, retrieval_count=2, strength=0.5, boost=0.25, useful_at=4.0, helpful=1)
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:7])
        with sqlite3.connect(path) as sql:
            schema.migrate(sql)
            sql.execute("INSERT INTO collections (uuid, name) VALUES ('uuid-of-a-collection', 'memories')")
            sql.execute("INSERT INTO users (collection_key, name, steps) VALUES (1, 'alice', 40)")
            state_rows.insert_states(sql, 1, 1, {"good": Seen(good, None), "bad": Seen(good, None)})
            sql.execute(
                "UPDATE records SET strength = ?, useful_at = ?, boost = ?, last_read = ?, retrieval_count = ? "
                "WHERE stored_id = 'bad'",
                strange,
            )
    known = opened(path).standing(ALICE, ["good", "bad"]).states
    mended = replace(good, strength=1.0, useful_at=None, boost=0.0, last_read=None, retrieval_count=0)
    assert known == {"good": good, "bad": mended}


def test_a_floor_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite3")
    for damaged in ("", "{", "[]", '{"no": "floor"}'):
        with ledger.file.writing() as sql:
            user = ledger.user_key(sql, ALICE)
            sql.execute("INSERT OR REPLACE INTO floors VALUES (?, 'manner', 0, ?)", (user, damaged))
        assert ledger.floor(ALICE, "manner") is None


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.sqlite3"
    opened(path).close()
    step = "ALTER TABLE users ADD COLUMN motto TEXT;\nUPDATE nowhere SET motto = 'read';"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    with pytest.raises(LedgerError):
        opened(path)
    monkeypatch.undo()
    ledger = opened(path)
    with ledger.file.reading() as sql:
        assert "motto" not in [column[1] for column in sql.execute("PRAGMA table_info(users)")]


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes, not a database, and they shall stay as they are" * 20)
    with pytest.raises(LedgerError, match="SQLite file"):
        opened(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("these are notes")


@pytest.mark.parametrize(("durability", "level"), [("normal", 1), ("full", 2)])
def test_durability_is_what_sqlite_is_told(tmp_path: Path, durability: Any, level: int) -> None:
    ledger = SQLiteLedger(str(tmp_path / "ledger.sqlite3"), durability=durability)
    with ledger.file.reading() as sql:
        assert sql.execute("PRAGMA synchronous").fetchone() == (level,)
        assert sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)
