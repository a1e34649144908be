"""What does a logged recall cost, and are the lines of earlier versions still read and struck out?"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Policy, SQLiteLedger
from adaptive_memory_core.learn.logged_state import STRUCK_OUT
from adaptive_memory_core.store.ledger import schema
from adaptive_memory_core.store.ledger.packed_candidates import Columns, pack, unpack, with_keys
from tests.conftest import Clock, Open
from tests.store.ledger.reads import ALICE, recalls

RECORDS, RECALLS, WARM_UP = 200, 150, 50  # at first every record that is seen takes a row of its own, once
MOST_BYTES = 1_500
OLD_LINE = {
    "id": ["m1", "m2"],
    "reason": [None, "superseded by m1"],
    "score": [5000],
    "parts": {"similarity": [5000]},
    "signals": {"similarity": [250000]},
}


def opened(path: Path) -> SQLiteLedger:
    ledger = SQLiteLedger(str(path))
    ledger.attach("uuid-of-a-collection", "memories")
    return ledger


@pytest.mark.parametrize("channels", [("dense",), ("dense", "lexical")])
def test_a_recall_costs_at_most_1500_bytes(open_memory: Open, clock: Clock, channels: tuple[str, ...]) -> None:
    random = np.random.default_rng(1)
    memory = open_memory(policy=Policy(channels=channels))
    alice = memory.for_user("alice")
    alice.remember_many([" ".join(f"word{one}" for one in random.integers(0, 300, 12)) for _ in range(RECORDS)])
    cues = [" ".join(f"word{one}" for one in random.integers(0, 300, 8)) for _ in range(WARM_UP + RECALLS)]
    for cue in cues[:WARM_UP]:
        alice.recall(cue)
    ledger: Any = memory.ports().ledger

    def size() -> int:
        with ledger.file.reading() as sql:
            sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(ledger.file.place.stat().st_size)

    before = size()
    for cue in cues[WARM_UP:]:
        clock.pass_seconds(3_600.0)
        alice.recall(cue)
    assert (size() - before) / RECALLS <= MOST_BYTES
    assert len(alice.recalls()[0].candidates) >= 20


NUMBERS = st.integers(1, 5).flatmap(
    lambda rows: st.integers(0, 12).flatmap(
        lambda scored: st.lists(
            st.lists(st.integers(-(10**12), 10**12) | st.integers(-3, 300), min_size=scored, max_size=scored),
            min_size=rows,
            max_size=rows,
        )
    )
)


@given(numbers=NUMBERS, unscored=st.integers(0, 300), title=st.text(max_size=300))
def test_any_numbers_and_reasons_come_out_as_they_went_in(numbers: list[list[int]], unscored: int, title: str) -> None:
    scored = len(numbers[0])
    reasons = [*[None] * scored, *(f"superseded by {one} {title}" for one in range(unscored))]
    titles = [["score"], [f"{title}{row}" for row in range(len(numbers) - 1)]]
    given = Columns(reasons, titles, np.array(numbers, dtype=np.int64).reshape(len(numbers), scored))
    keys, found = unpack(with_keys(pack(given), range(5, 5 + scored + unscored)))
    assert keys == list(range(5, 5 + scored + unscored))
    assert (found.reasons, found.titles, found.numbers.tolist()) == (reasons, titles, numbers)


def test_lines_of_an_older_ledger_are_read_and_struck_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.sqlite3"
    before = next(n for n, step in enumerate(schema.MIGRATIONS) if "CREATE TABLE logged_ids" in step)
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:before])
        with sqlite3.connect(path) as sql:
            schema.migrate(sql)
            sql.execute("INSERT INTO collections (uuid, name) VALUES ('uuid-of-a-collection', 'memories')")
            sql.execute("INSERT INTO users (collection_key, name, steps) VALUES (1, 'alice', 1)")
            line = json.dumps(OLD_LINE, separators=(",", ":"))
            sql.execute(
                "INSERT INTO recalls (recall_id, user_key, step, at, cue, k, policy_hash, candidates) "
                "VALUES ('r1', 1, 1, 1.0, 'tea', 5, 'hash', ?)",
                (line,),
            )
    ledger = opened(path)
    (found,) = recalls(ledger)
    assert [(one.id, one.score, one.reason) for one in found.candidates] == [
        ("m1", 0.5, None),
        ("m2", None, "superseded by m1"),
    ]
    assert dict(found.candidates[0].signals) == {"similarity": 0.25}
    assert [one.id for one in recalls(ledger, containing="m1")] == ["r1"]
    assert ledger.removal.erase(ALICE, "m1", "m1", existed=True, now=2.0).log_entries == 1
    (struck,) = recalls(ledger)
    assert [(one.id, one.reason) for one in struck.candidates] == [("m2", "superseded by a forgotten record")]
    with ledger.file.reading() as sql:
        assert sql.execute("SELECT id FROM logged_ids").fetchall() == [("m2",)]


def test_what_a_floor_left_out_keeps_its_numbers_also_after_another_one_was_forgotten(
    open_memory: Open, clock: Clock
) -> None:
    alice = open_memory().for_user("alice")
    alice.remember_many(
        [{"id": "a", "text": "tea"}, {"id": "b", "text": "tea cup"}, {"id": "c", "text": "quite other"}]
    )
    alice.recall("tea", policy=Policy(similarity_floor=0.5))
    clock.pass_days(1)
    alice.recall("tea", policy=Policy(similarity_floor=0.99))
    last, first = alice.recalls()
    assert [(one.id, one.score, one.parts, one.reason) for one in first.candidates][-1] == (
        ("c", None, {}, "below the similarity floor")
    )
    assert set(last.candidates[-1].signals) == set(first.candidates[-1].signals) >= {"similarity", "words"}
    kept = [one for line in (last, first) for one in line.candidates if one.id != "b"]
    alice.forget("b")
    struck = [replace(one, then={**one.then, STRUCK_OUT: 1}) for one in kept]
    assert [one for line in alice.recalls() for one in line.candidates] == struck
    assert all(one.then for one in kept)
