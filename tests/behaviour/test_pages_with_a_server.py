"""Does the code run that the pages show for a Chroma server? With a real one, over the directory that each names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.chroma_server import ChromaServer
from tests.postgres_server import new_database

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|python needs-server)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVED = re.compile(r"chroma run --path \./(\w+)")


@pytest.mark.hard("server")
@pytest.mark.parametrize("page", ["going_to_a_server.md", "operations.md"])
def test_what_a_page_shows_for_a_server_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text("utf-8")
    blocks = BLOCK.findall(text)
    first = next(number for number, (language, _) in enumerate(blocks) if language != "python")
    names: dict[str, Any] = {"__name__": "page"}
    for _, code in blocks[:first]:
        exec(compile(code, page, "exec", dont_inherit=True), names)
    folder = SERVED.search(text)
    assert folder is not None
    server = ChromaServer(tmp_path / folder[1])
    server.start()
    try:
        exec(compile(blocks[first][1].replace("8000", str(server.port)), page, "exec", dont_inherit=True), names)
        names["memory"].close()
    finally:
        server.stop()


def test_every_page_with_such_code_is_run_here() -> None:
    pages = {page.name for page in DOCS.glob("*.md") if "```python needs-server" in page.read_text("utf-8")}
    assert pages == {"going_to_a_server.md", "operations.md", "scaling.md"}


@pytest.mark.hard("server")
def test_what_the_page_on_several_machines_shows_runs(chroma_server: ChromaServer) -> None:
    code = dict(BLOCK.findall((DOCS / "scaling.md").read_text("utf-8")))["python needs-server"]
    for example, ours in (
        ("chroma.example", "127.0.0.1"),
        ("8000", str(chroma_server.port)),
        ("postgresql://app@db.example/memories", new_database()),
    ):
        assert example in code
        code = code.replace(example, ours)
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, "scaling.md", "exec", dont_inherit=True), names)
    with names["memory"] as memory:
        assert [hit.text for hit in memory.for_user("ana").recall("when does the bakery open?")]
