"""Is a file always whole, as private as before, and is nothing else touched?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from adaptive_memory_core.policy import Policy
from adaptive_memory_core.whole_file import write_whole


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
