"""Is every pruned record in the archive once, and whole? After a failure, a full disk, a crash mid-line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.records import Record
from adaptive_memory_core.store.output_files import JSONLines

RECORDS = [Record(str(number), f"tea number {number}") for number in range(3)]


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_what_could_not_be_removed_and_comes_again_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    JSONLines(path)(RECORDS[:2])
    JSONLines(path)(RECORDS)
    assert ids(path) == ["0", "1", "2"]


def test_half_a_line_that_a_crash_left_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    JSONLines(path)(RECORDS)
    whole = path.read_bytes()
    for cut in range(len(whole) - 10, len(whole)):
        path.write_bytes(whole[:cut])
        JSONLines(path)(RECORDS)
        assert ids(path) == ["0", "1", "2"]


def test_lines_of_somebody_else_stay(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_bytes(b"notes\nwithout an end")
    JSONLines(path)(RECORDS[:1])
    assert path.read_text().splitlines()[:2] == ["notes", "without an end"]
    assert json.loads(path.read_text().splitlines()[2])["id"] == "0"


def test_a_disk_that_is_full_leaves_no_half_of_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.jsonl"
    JSONLines(path)(RECORDS[:1])

    def full(_: Any) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            JSONLines(path)(RECORDS[1:])
    assert ids(path) == ["0"]
