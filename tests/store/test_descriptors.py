"""Does a process that has run out of file descriptors say so?"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import LedgerError
from tests.conftest import word_vectors


@pytest.fixture
def no_descriptors(memory: AdaptiveMemory, tmp_path: Path) -> Iterator[None]:
    """Nothing more can be opened; all that an open memory imports has been read."""
    assert not memory.closed
    assert tmp_path.is_dir()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(one) for one in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
    taken = []
    try:
        while True:
            try:
                taken.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for one in taken:
            os.close(one)


@pytest.mark.usefixtures("no_descriptors")
def test_a_ledger_that_cannot_be_opened_for_want_of_descriptors(collection: Collection, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="run out of file descriptors"):
        AdaptiveMemory(collection, embedder=word_vectors, ledger=tmp_path / "ledger.sqlite3")


def test_one_in_a_directory_that_is_a_file_is_told_otherwise(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="directory that may be written"):
        AdaptiveMemory(collection, embedder=word_vectors, ledger=tmp_path / "file" / "ledger.sqlite3")
