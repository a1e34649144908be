"""Does what cannot be read end as wrong usage, wherever a command takes a file or stdin?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

COMMANDS = {"import": ["import"], "restore": ["restore"], "replay": ["replay", "--policy"]}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("given", [b"caf\xe9", b"[1", b"[" * 100_000, b"plain words", b"[1]"])
def test_a_file_that_cannot_be_read_is_wrong_usage(command: str, given: bytes, with_three: Run, tmp_path: Path) -> None:
    file = tmp_path / "given.json"
    file.write_bytes(given)
    ended = with_three(*COMMANDS[command], str(file))
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1


def test_a_byte_order_mark_is_no_text(with_three: Run, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"text": "tea of windows", "id": "bom"}\r\n')
    assert with_three("import", str(file)).code == 0
    assert with_three("get", "bom").out.startswith("tea of windows\n")
