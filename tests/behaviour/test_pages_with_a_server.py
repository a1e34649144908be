"""Does the code run that the pages show for a Chroma server? With a real one, over the directory that each names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.chroma_server import ChromaServer
from tests.postgres_server import new_database

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "deployment.md"
BLOCK = re.compile(r"^```(python|python needs-server)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVED = re.compile(r"chroma run --path \./(\w+)")
BLOCKS = BLOCK.findall(PAGE.read_text("utf-8"))
FIRST = next(number for number, (language, _) in enumerate(BLOCKS) if language != "python")


@pytest.mark.hard("server")
def test_the_move_to_a_server_runs_as_the_page_shows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for _, code in BLOCKS[:FIRST]:
        exec(compile(code, PAGE.name, "exec", dont_inherit=True), names)
    folder = SERVED.search(PAGE.read_text("utf-8"))
    assert folder is not None
    server = ChromaServer(tmp_path / folder[1])
    server.start()
    try:
        here = BLOCKS[FIRST][1].replace("8000", str(server.port))
        exec(compile(here, PAGE.name, "exec", dont_inherit=True), names)
        names["memory"].close()
    finally:
        server.stop()


def test_every_page_with_such_code_is_run_here() -> None:
    pages = PAGE.parents[1].rglob("*.md")
    assert {page for page in pages if "```python needs-server" in page.read_text("utf-8")} == {PAGE}
    assert [language for language, _ in BLOCKS].count("python needs-server") == 2


@pytest.mark.hard("server")
def test_what_the_page_on_several_machines_shows_runs(chroma_server: ChromaServer) -> None:
    code = BLOCKS[-1][1]
    for example, ours in (
        ("chroma.example", "127.0.0.1"),
        ("8000", str(chroma_server.port)),
        ("postgresql://app@db.example/memories", new_database()),
    ):
        assert example in code
        code = code.replace(example, ours)
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, PAGE.name, "exec", dont_inherit=True), names)
    with names["memory"] as memory:
        assert [hit.text for hit in memory.for_user("ana").recall("when does the bakery open?")]
