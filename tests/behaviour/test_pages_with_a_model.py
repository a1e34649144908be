"""Does the code run that the pages show for a chat model? With a server here that speaks OpenAI's protocol."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.judges import OpenAIChat
from tests.models.chat_server import FakeChat, serving

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
BLOCK = re.compile(r"^```(?:python|python needs-model)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Context:
    user_id: str


def of_langchain(server: FakeChat) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="m", base_url=server.url, api_key="none")  # type: ignore[arg-type] # a plain text will do


MODELS = {
    "conversations.md": lambda server: OpenAIChat("m", base_url=server.url, api_key="none"),
    "langchain.md": of_langchain,
}


@pytest.mark.hard("example")
@pytest.mark.parametrize("page", sorted(MODELS))
def test_what_a_page_shows_for_a_model_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving() as server:
        server.reply = "Noted."
        names: dict[str, Any] = {"__name__": "page", "model": MODELS[page](server), "Context": Context}
        for code in BLOCK.findall((GUIDES / page).read_text("utf-8")):
            here = code.replace("http://localhost:8000/v1", server.url)
            exec(compile(here, page, "exec", dont_inherit=True), names)
        assert server.requests != []


def test_every_page_with_such_code_is_run_here() -> None:
    pages = {page.name for page in GUIDES.parent.rglob("*.md") if "```python needs-model" in page.read_text("utf-8")}
    assert pages == set(MODELS)
