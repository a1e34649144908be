"""Does the lock of the operating system keep everybody else out, and is it free again whatever was broken off?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adaptive_memory_core.store import process_locks
from adaptive_memory_core.store.process_locks import OsLock

TRY = "import sys; from pathlib import Path; from adaptive_memory_core.store.process_locks import OsLock; "
TRY += "print(OsLock(Path(sys.argv[1])).take())"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def another_process_takes(path: Path) -> bool:
    told = subprocess.run([sys.executable, "-c", TRY, str(path)], capture_output=True, text=True, check=True)
    return told.stdout.strip() == "True"


@pytest.mark.hard("processes")
def test_another_process_is_kept_out_until_it_is_given_back(path: Path) -> None:
    lock = OsLock(path)
    assert lock.take()
    assert not another_process_takes(path)
    lock.give_back()
    lock.give_back()
    assert another_process_takes(path)


def test_what_was_broken_off_after_it_was_locked_is_given_back_by_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = OsLock(path)

    def struck(*_given: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(process_locks, "_is_in_place", struck)
        with pytest.raises(KeyboardInterrupt):
            lock.take()
    assert not OsLock(path).take()  # as it would be, had nobody been told
    lock.give_back()
    assert OsLock(path).take()


def test_a_file_that_was_removed_meanwhile_is_made_anew(path: Path) -> None:
    first = OsLock(path)
    assert first.take()
    path.unlink()
    assert OsLock(path).take()  # those who come later all meet the new one
    assert path.exists()


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="lock"):
        OsLock(tmp_path / "nowhere" / "lock").take()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_neither_holds_it_nor_keeps_others_out(path: Path) -> None:
    lock, (told, tell) = OsLock(path), os.pipe()
    assert lock.take()
    child = os.fork()
    if child == 0:  # pragma: no cover - in the child
        os.close(tell)
        os.read(told, 1)  # until the parent has tried
        os._exit(0)
    os.close(told)
    try:
        lock._file.close()  # type: ignore[union-attr] # as it goes when a process dies: closed, not unlocked
        assert another_process_takes(path)
    finally:
        os.close(tell)
        os.waitpid(child, 0)
