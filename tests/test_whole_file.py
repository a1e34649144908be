"""Is a file always whole, as private as before, and is nothing else touched? And is `~` the home directory?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from adaptive_memory_core import AdaptiveMemory, SQLiteLedger
from adaptive_memory_core.cli.app import app
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.whole_file import write_whole
from langchain_adaptive_memory.langgraph_store.store import AdaptiveMemoryStore
from tests.conftest import word_vectors


def test_what_fails_leaves_the_earlier_text_and_nothing_beside(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write_whole(file, "earlier")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "later" * 10_000 + "\ud800")
    assert file.read_text() == "earlier"
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, "a text")
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_who_may_read_a_file_stays_as_it_was_and_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "export.json", tmp_path / "link.json"
    file.write_text("earlier")
    file.chmod(0o600)
    link.symlink_to(file)
    write_whole(link, "later")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode), link.is_symlink()) == ("later", 0o600, True)


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    Policy().save(pipe)
    assert os.read(reading, 1) == b"{"
    os.close(reading)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's home directory; the test is in another one, in which nothing may be made."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(elsewhere)
    yield tmp_path
    assert not list(elsewhere.iterdir())


def test_every_path_may_start_in_the_home_directory(home: Path) -> None:
    with AdaptiveMemory.open("~/memory", embedder=word_vectors, ledger="~/ledger.sqlite3") as memory:
        alice = memory.for_user("alice")
        alice.remember_many(["green tea", "black coffee"])
        assert memory.backup("~/copy") == home / "copy"
        alice.report("~/page.html")
        alice.prune(max_records=1, archive="~/archive.jsonl")
    assert AdaptiveMemory.repair(Path("~/memory"), embedder=word_vectors, ledger="~/ledger.sqlite3").ok
    AdaptiveMemory.move_ledger("~/copy/adaptive_memory.sqlite3", "~/moved.sqlite3")
    SQLiteLedger("~/other.sqlite3").close()
    Policy(half_life_days=3).save("~/policy.json")
    assert Policy.load("~/policy.json").half_life_days == 3
    AdaptiveMemoryStore({"dims": 32, "embed": lambda texts: word_vectors(texts).tolist()}, path="~/store").close()
    made = {"memory", "copy", "store", "page.html", "archive.jsonl", "moved.sqlite3", "other.sqlite3", "policy.json"}
    assert made | {"ledger.sqlite3"} <= {one.name for one in home.iterdir()}


def test_a_command_takes_paths_in_the_home_directory_also_where_the_shell_leaves_them(home: Path) -> None:
    def run(*given: str) -> Result:
        options = ["--path=~/memory", "--user", "ana", "--embedder", "tests.conftest:word_vectors"]
        return CliRunner().invoke(app, [*options, *given])

    assert run("init").exit_code == 0
    assert run("remember", "~/notes is where green tea is").exit_code == 0
    assert "~/notes is where" in run("recall", "green tea").stdout
    assert [run("export", "~/export.json").exit_code for _ in range(2)] == [0, 2]  # it is not written over
    assert run("backup", "~/copy").exit_code == 0
    assert {"memory", "export.json", "copy"} <= {one.name for one in home.iterdir()}
