"""Is a file of arrays read as it was written, and not at all where a bit of it is another?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.store import user_copies
from adaptive_memory_core.store.user_copies import load, packed, unpacked, write

ROWS = np.arange(30, dtype=np.float32).reshape(10, 3)
ARRAYS = {"rows": ROWS, "ids": packed(f"m{number}" for number in range(10)), "none": np.empty(0)}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path / "file", {"space": "cosine"}, ARRAYS)
    return tmp_path / "file"


def test_it_is_read_as_it_was_written(place: Path) -> None:
    found = load(place)
    assert found is not None
    assert found.notes == {"space": "cosine"}
    assert np.array_equal(found["rows"], ROWS)
    assert unpacked(found["ids"]) == [f"m{number}" for number in range(10)]
    assert found["none"].shape == (0,)


def test_there_is_room_behind_the_rows_and_what_is_written_there_stays_in_ram(place: Path) -> None:
    before = place.read_bytes()
    found = load(place)
    assert found is not None
    assert len(found.arrays["rows"]) >= len(ROWS) + user_copies.LEAST_ROOM
    found.arrays["rows"][:12] = 7.0
    assert place.read_bytes() == before


def test_two_read_one_file_and_it_may_go_meanwhile(place: Path) -> None:
    one, other = load(place), load(place)
    assert one is not None
    assert other is not None
    one.arrays["rows"][0] = 9.0
    place.unlink()
    assert np.array_equal(other["rows"], ROWS)
    assert load(place) is None


def test_a_torn_file_is_none(place: Path) -> None:
    whole = place.read_bytes()
    for size in {0, 1, 20, 60, 4_096, len(whole) // 2, len(whole) - 1}:
        place.write_bytes(whole[:size])
        assert load(place) is None, size
    place.write_bytes(whole + b"\0")
    assert load(place) is None


def test_a_bit_that_changed_is_seen_in_all_that_was_written(place: Path) -> None:
    whole, rows = place.read_bytes(), ROWS.tobytes()
    head, body = whole.index(b'{"notes"'), whole.index(rows)
    for at in (0, 30, head, head + 40, body, body + 7, body + len(rows) - 1, whole.index(b'"m3"')):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        assert load(place) is None, at


@pytest.mark.parametrize("foreign", [b"", b"SQLite format 3\0" * 99, b"adaptive-memory arrays 1\n" + b"\xff" * 99])
def test_a_file_of_another_kind_is_none(tmp_path: Path, foreign: bytes) -> None:
    (tmp_path / "file").write_bytes(foreign)
    assert load(tmp_path / "file") is None


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_texts_come_back(texts: list[str]) -> None:
    assert unpacked(packed(texts)) == texts
