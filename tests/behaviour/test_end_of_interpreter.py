"""Does a process that never closes its memory end without a word and lose nothing, whoever holds the directory?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory
from tests.behaviour.other_process import EMBEDDER, OtherProcess, by_letters

GUEST = (
    """
import sys
from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.store.chroma import exporter
exporter.TRIED_SECONDS = 3_600.0  # at its end alone
exporter.PREPARED_SECONDS = 0.0  # and due to get ready
"""
    + EMBEDDER
    + """
memory = AdaptiveMemory.open(sys.argv[1], embedder=by_letters)
print("opened", flush=True)
sys.stdin.readline()
memory.for_user("alice").remember("green tea", id="tea")
print("chromadb.api.rust" in sys.modules)
"""
)


@pytest.mark.hard("processes")
@pytest.mark.parametrize("holder_ends", [False, True])
def test_a_process_that_has_not_met_chroma_ends_without_a_word(tmp_path: Path, *, holder_ends: bool) -> None:
    pipe = subprocess.PIPE
    with OtherProcess(tmp_path) as holder:
        assert holder.holds
        guest = subprocess.Popen(
            [sys.executable, "-c", GUEST, str(tmp_path)], stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        assert guest.stdout is not None
        assert guest.stdout.readline() == "opened\n"
        if holder_ends:
            holder.kill()
        answered, said = guest.communicate("remember\n", timeout=60)
        assert (guest.returncode, answered, said) == (0, "False\n", "")
    with AdaptiveMemory.open(tmp_path, embedder=by_letters) as memory:
        assert memory.for_user("alice").recall("tea", k=1).ids == ("tea",)
        memory.flush()
        assert memory.ports().records.collection.get()["ids"] == ["tea"]
