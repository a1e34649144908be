"""Is nothing lost when a process is killed while Chroma writes its index, and does the check tell what may be?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.processes import embed, opened
from benchmarks.processes_check import check

ROOT = Path(__file__).parents[2]


@pytest.mark.hard("kill")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes to be killed are forks")
def test_kills_timed_to_each_file_of_the_index_lose_nothing() -> None:
    command = [sys.executable, "-m", "benchmarks.kill_index", "--kills", "6", "--records", "500"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "shared")])}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("| writing |") == 5


SAID = {"user": "thread 0", "id": "o-0-0-1"}


def log(folder: Path, lines: list[dict[str, Any]]) -> None:
    (folder / "0-0.log").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("is_answered", [False, True])
def test_new_words_that_a_kill_kept_from_the_ledger(is_answered: bool, tmp_path: Path) -> None:
    """They are there, and the reads are those of the old ones: wrong where somebody was told that all is done."""
    with opened(tmp_path / "memory") as memory:
        user = memory.for_user(SAID["user"])
        user.remember("tea 1", id=SAID["id"], metadata={"said": "tea 1"})
        recalled = user.recall("tea 1", k=1)
        memory.flush()
        store: Any = memory.ports().records
        vector: Any = embed(["milk 3"])
        store.collection.update(
            ids=[SAID["id"]], documents=["milk 3"], embeddings=vector, metadatas=[{"said": "milk 3"}]
        )
        memory.sync()
    lines: list[dict[str, Any]] = [
        {**SAID, "verb": "remember", "text": "tea 1", "n": 1},
        {"n": 1, "answer": {}},
        {**SAID, "verb": "recall", "text": "tea 1", "n": 2},
        {"n": 2, "answer": {"recall": recalled.id, "ids": list(recalled.ids)}},
        {**SAID, "verb": "revise", "text": "milk 3", "n": 3},
    ]
    log(tmp_path, [*lines, {"n": 3, "answer": {}}] if is_answered else lines)
    _, wrong = check(tmp_path / "memory", tmp_path, opened)
    assert len(wrong) == is_answered, wrong
    assert all("written over with other words" in one for one in wrong)
