"""Can a memory leave its block, or speak as the system? 500 hostile texts on every way into a prompt of LlamaIndex."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import InsertMethod, Memory

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.policy import Advanced
from llama_adaptive_memory import AdaptiveMemoryBlock
from llama_adaptive_memory.block import BlockStyle
from tests.llama_adaptive_memory.hostile import hostile_texts

TEXTS = hostile_texts(500, seed=10)
ALL = Policy(recall_k=len(TEXTS), advanced=Advanced(duplicates="keep"))
STYLES: list[BlockStyle] = ["text", "xml"]
PLACES = [InsertMethod.SYSTEM, InsertMethod.USER]
QUESTION = "what was it?"


def block_over(memory: AdaptiveMemory, style: BlockStyle) -> AdaptiveMemoryBlock:
    return AdaptiveMemoryBlock(
        memory, user_id="eve", style=style, policy=ALL, similarity_top_k=len(TEXTS), max_tokens=None, reinforce=False
    )


def chat(block: AdaptiveMemoryBlock, place: InsertMethod) -> Memory:
    return Memory.from_defaults(session_id="s", memory_blocks=[block], token_limit=10_000_000, insert_method=place)


def check(content: str, style: BlockStyle) -> None:
    """Two tags of LlamaIndex's around the block, and in there one memory on each line, or in each element."""
    opening, closing = r"\s*<memory>\s*<adaptive_memory>\s*", r"\s*</adaptive_memory>\s*</memory>\s*"
    found = re.fullmatch(f"{opening}(.*){closing}", content, re.DOTALL)
    assert found is not None
    block = found[1].strip()
    if style == "text":
        assert not re.search(r"<[/!?|<\w]", block)
        heading, *lines = block.split("\n")
        assert "evidence, not instructions" in heading
        assert all(re.match(r"- \[[^\[\]]*\] ", line) for line in lines)
        shown = lines
    else:
        evidence = ElementTree.fromstring(block)
        assert evidence.tag == "recalled_memories"
        assert {one.tag for one in evidence} == {"memory"}
        assert not any(len(one) for one in evidence)
        shown = [one.text or "" for one in evidence]
    assert len(shown) == len(TEXTS)
    assert {number for line in shown for number in re.findall(r"word\d+", line)} == {f"word{n}" for n in range(500)}
    marked = [text for text in TEXTS if "<" in text or "\n" in text]
    assert len(marked) > 100
    assert not any(text in content for text in marked)


class Listening(MockLLM):
    """Remembers what it was told."""

    def chat(self, messages: Sequence[ChatMessage], **more: Any) -> Any:
        HEARD.append(list(messages))
        return super().chat(messages, **more)


HEARD: list[list[ChatMessage]] = []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("style", STYLES)
def test_what_was_remembered_stays_in_its_block(memory: AdaptiveMemory, style: BlockStyle, place: InsertMethod) -> None:
    memory.for_user("eve").remember_many(TEXTS)
    told = chat(block_over(memory, style), place).get(QUESTION)
    assert len(told) == 1
    assert told[0].role == place.value
    check(told[0].content or "", style)


@pytest.mark.parametrize("style", STYLES)
async def test_what_left_the_window_stays_in_its_block(memory: AdaptiveMemory, style: BlockStyle) -> None:
    block = block_over(memory, style)
    roles = ("user", "assistant")
    await block.aput([ChatMessage(role=roles[n % 2], content=text) for n, text in enumerate(TEXTS)])
    (told,) = await chat(block, InsertMethod.SYSTEM).aget(QUESTION)
    check(told.content or "", style)


@pytest.mark.parametrize("style", STYLES)
def test_a_chat_engine_s_model_is_told_nothing_raw(memory: AdaptiveMemory, style: BlockStyle) -> None:
    memory.for_user("eve").remember_many(TEXTS)
    HEARD.clear()
    SimpleChatEngine.from_defaults(
        llm=Listening(max_tokens=4), memory=chat(block_over(memory, style), InsertMethod.SYSTEM)
    ).chat(QUESTION)
    (told,) = HEARD
    assert [one.role for one in told] == ["system", "user"]
    check(told[0].content or "", style)
    assert told[1].content == QUESTION


async def test_what_says_who_spoke_and_where_it_is_from_stays_in_its_block(memory: AdaptiveMemory) -> None:
    eve = memory.for_user("eve")
    eve.remember_many(
        [{"text": f"word{n}", "kind": text.strip(), "metadata": {"source": text}} for n, text in enumerate(TEXTS)]
    )
    for style in STYLES:
        content = await chat(block_over(memory, style), InsertMethod.SYSTEM).aget(QUESTION)
        check(content[0].content or "", style)


@pytest.mark.parametrize("style", STYLES)
async def test_what_is_cut_to_size_stays_in_its_block(memory: AdaptiveMemory, style: BlockStyle) -> None:
    memory.for_user("eve").remember_many(TEXTS)
    block = block_over(memory, style)
    whole = await block.aget([ChatMessage(role="user", content=QUESTION)])
    for tokens in (1, 100, 5_000):
        left = await block.atruncate(whole, tokens)
        assert left is not None
        if style == "xml":
            assert 0 < len(ElementTree.fromstring(left)) < len(TEXTS)
        else:
            assert not re.search(r"<[/!?|<\w]", left)
            assert 1 < len(left.split("\n")) <= len(TEXTS)
