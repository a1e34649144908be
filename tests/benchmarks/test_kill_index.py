"""Is nothing lost when a process is killed while Chroma writes its index?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.hard("kill")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes to be killed are forks")
def test_kills_timed_to_each_file_of_the_index_lose_nothing() -> None:
    command = [sys.executable, "-m", "benchmarks.kill_index", "--kills", "12", "--records", "500"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "shared")])}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("| writing |") == 5
