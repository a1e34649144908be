"""Can a memory leave its place in what LangChain shows a model? None of 500 hostile texts does, in any place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import chromadb
import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from adaptive_memory_core import AdaptiveMemory, UserMemory
from langchain_adaptive_memory.agents.evidence import evidence, marked
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from langchain_adaptive_memory.tools import create_recall_tool
from tests.conftest import word_vectors
from tests.context.hostile_texts import ALL_TOKENS, texts
from tests.langchain_adaptive_memory.scripted_agent import END, TAG, says

BATCH, COUNT = 50, 500
QUESTION = "what is known?"


@pytest.fixture(scope="module")
def eve() -> Iterator[UserMemory]:
    """A memory of hostile texts, with hostile kinds and speakers."""
    configuration: Any = {"hnsw": {"space": "cosine"}}
    client = chromadb.EphemeralClient()
    collection = client.create_collection("nothing-escapes", embedding_function=None, configuration=configuration)
    with closing(AdaptiveMemory(collection, embedder=word_vectors)) as memory:
        scope = memory.for_user("eve")
        said = [text if text.strip() else "nothing" for text in texts(COUNT)]
        scope.remember_many(
            [
                {
                    "text": text,
                    "kind": said[-1 - n][:60].strip() or "event",
                    "metadata": {"batch": n // BATCH, "speaker": said[n - 7]},
                }
                for n, text in enumerate(said)
            ]
        )
        yield scope
    client.delete_collection("nothing-escapes")


def tokens_in(text: str) -> list[str]:
    found = (token for token in ALL_TOKENS if token in text)
    return [one for one in found if not one[0].isalpha() or re.search(rf"(?<!\w){re.escape(one)}", text)]


def check_block(text: str, count: int) -> None:
    """A block of so many memories, each on its line and under its mark, and nothing else that means anything."""
    assert (text.count(TAG), text.count(END), text.count("<"), text.count(">")) == (1, 1, 2, 2)
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == (TAG, END)
    assert [one.split(" ", 1)[0] for one in lines[3:-1]] == [f"[m{number}]" for number in range(1, count + 1)]
    assert not [one for one in lines[3:-1] if re.search(r"\[\s*m\d", one[2:], re.IGNORECASE)]
    assert not tokens_in(text)


@pytest.mark.parametrize("place", ["user", "system"])
@pytest.mark.parametrize("batch", range(COUNT // BATCH))
def test_no_text_leaves_its_place_in_an_agents_prompt(eve: UserMemory, place: Any, batch: int) -> None:
    model = says("Well.")
    options: dict[str, Any] = {"k": BATCH, "filter": {"batch": batch}, "max_tokens": None, "place": place}
    agent: Any = create_agent(model, middleware=[AdaptiveMemoryMiddleware(eve, **options)], system_prompt="Be kind.")
    agent.invoke({"messages": [HumanMessage(QUESTION)]})
    (messages,) = model.shown
    assert [one.type for one in messages] == ["system", "human"]
    said = [one.text for one in messages]
    where = ["system", "user"].index(place)
    before, after = (f"{said[0]}", "") if place == "user" else ("", said[1])
    assert (before or after) == ("Be kind." if place == "user" else QUESTION)
    block = said[where].removesuffix(f"\n\n{QUESTION}") if where else said[where].removeprefix("Be kind.\n\n")
    shown = len(eve.recall(QUESTION, k=BATCH, filter={"batch": batch}, reinforce=False))
    assert shown > BATCH / 2
    check_block(block, shown)


@pytest.mark.parametrize("batch", range(COUNT // BATCH))
def test_no_text_leaves_its_place_where_there_is_little_room(eve: UserMemory, batch: int) -> None:
    hits = eve.recall(QUESTION, k=BATCH, filter={"batch": batch}, reinforce=False)
    for room in (160, 400):
        marks = marked(hits, max_tokens=room, cite=True)
        check_block(evidence(marks, hits, cite=True, max_tokens=room), len(marks))


@pytest.mark.parametrize("batch", range(COUNT // BATCH))
@pytest.mark.parametrize("show_ids", [False, True])
def test_no_text_leaves_its_line_in_what_the_tool_says(eve: UserMemory, batch: int, show_ids: bool) -> None:
    tool = create_recall_tool(eve, k=BATCH, filter={"batch": batch}, show_ids=show_ids)
    said = tool.invoke({"query": QUESTION})
    assert all(re.match(r"- \[|  [-+] \[", one) for one in said.splitlines()[1:])
    assert not re.search(r"<(?:[/!?]|[^\W\d])", said)
    assert not tokens_in(said)
