"""Does a person in a terminal see tables, colours and local dates, and a pipe plain lines?"""

from __future__ import annotations

from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory
from tests.cli.conftest import EMBEDDER, command, in_terminal
from tests.conftest import word_vectors

AT = 1_760_000_000.0  # 2025-10-09, 08:53 UTC


@pytest.fixture
def place(tmp_path: Path) -> list[str]:
    with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors) as memory:
        memory.for_user("ana").remember("Ana likes green tea", id="tea", created_at=AT)
    return ["--path", str(tmp_path / "memory"), "--embedder", EMBEDDER, "--user", "ana"]


def test_a_terminal_gets_a_table_with_colours_and_local_dates(place: list[str]) -> None:
    shown, code = in_terminal(*place, "recall", "green tea", "--look", TZ="Asia/Tokyo")
    assert code == 0
    assert "\x1b[1;32m" in shown  # bold and green: the score
    assert all(name in shown for name in ("score", "when", "text", "2025-10-09 17:53", "Ana likes green tea"))


def test_no_color_leaves_the_table_and_takes_every_escape(place: list[str]) -> None:
    shown, _ = in_terminal(*place, "get", "tea", NO_COLOR="1", TZ="Asia/Tokyo")
    assert "\x1b" not in shown
    assert [line.split()[-2:] for line in shown.splitlines() if "created_at" in line] == [["2025-10-09", "17:53"]]


def test_a_pipe_gets_lines_with_dates_of_utc_and_programs_numbers(place: list[str]) -> None:
    lines = command(*place, "get", "tea").stdout.splitlines()
    assert "created_at: 2025-10-09 08:53:20Z" in lines
    assert f'"created_at": {AT}' in command(*place, "get", "tea", "--json").stdout
    assert command(*place, "recall", "green tea", "--look").stdout.endswith("  tea  Ana likes green tea\n")


def test_prune_shows_what_it_would_remove_and_asks(place: list[str]) -> None:
    rule = ["prune", "--unread-for", "1e-6"]
    shown, code = in_terminal(*place, *rule, keys="n\n")
    assert (code, "1 record would be removed:" in shown, "tea  Ana likes green tea" in shown) == (1, True, True)
    assert "nothing was removed" in shown
    shown, code = in_terminal(*place, *rule, keys="y\n")
    assert (code, "1 record removed, 0 kept" in shown) == (0, True)
    assert command(*place, "stats").stdout.startswith("records: 0\n")
