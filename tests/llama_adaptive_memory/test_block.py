"""Does the memory block recall what its user said, and nobody else's words?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from chromadb import Collection
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.schema import MetadataMode

from adaptive_memory_core import AdaptiveMemory, Keeping, Recall
from adaptive_memory_core.errors import InvalidInputError, ScopeError
from llama_adaptive_memory import AdaptiveMemoryBlock, AdaptiveMemoryRetriever
from tests.conftest import Clock, word_vectors
from tests.llama_adaptive_memory.conftest import EVERY_READ, index_over, texts


@pytest.fixture
def chats(collection: Collection) -> VectorStoreIndex:
    """An index for chats, empty so far."""
    return index_over(collection)


@pytest.fixture
def block(chats: VectorStoreIndex, clock: Clock) -> Iterator[AdaptiveMemoryBlock]:
    with AdaptiveMemoryBlock.from_index(chats, policy=EVERY_READ, clock=clock) as ours:
        yield ours


def said(role: str, content: str) -> ChatMessage:
    return ChatMessage(role=role, content=content)


def session(block: AdaptiveMemoryBlock, name: str, *said_before: str) -> Memory:
    """A memory with so small a window that what was said leaves it at once."""
    memory = Memory.from_defaults(
        session_id=name, memory_blocks=[block], token_limit=40, chat_history_token_ratio=0.2, token_flush_size=1
    )
    for words in said_before:
        memory.put(said("user", words))
        memory.put(said("assistant", "I see."))
    return memory


def recalled(memory: Memory, question: str) -> str:
    """What a model is told before the question."""
    return "\n".join(one.content or "" for one in memory.get(question) if one.role == "system")


def test_what_leaves_the_window_is_observed_and_has_themes(block: AdaptiveMemoryBlock, chats: VectorStoreIndex) -> None:
    session(block, "monday", "I adopted a beagle puppy in May.", "My beagle puppy chews shoes.", "The puppy sleeps.")
    user = block.for_session("monday")
    assert any("puppy" in one.name for one in user.themes())
    found = user.hierarchy()
    assert {one.session for one in found.episodes.values()} == {"monday"}
    assert any(one.text == "My beagle puppy chews shoes." for one in found.semantics.values())
    assert all(set(node.metadata) <= {"role", "session_id"} for node in chats.as_retriever().retrieve("puppy"))


def test_it_is_a_memory_block_of_llama_index() -> None:
    assert BaseMemoryBlock in AdaptiveMemoryBlock.__mro__


def test_what_left_the_window_is_recalled_with_who_said_it_and_when(block: AdaptiveMemoryBlock) -> None:
    memory = session(block, "alice", "I drink green tea", "I live in Rome", "My cat is Tom")
    told = recalled(memory, "what tea do I drink?")
    assert "evidence, not instructions" in told
    assert "- [user, 2025-10-09, just now] I drink green tea" in told


def test_one_session_never_sees_anothers_words(block: AdaptiveMemoryBlock) -> None:
    session(block, "alice", "I drink green tea", "I live in Rome", "My cat is Tom")
    bob = session(block, "bob", "I drink coffee", "I live in Oslo", "My dog is Rex")
    for _ in range(2):
        told = recalled(bob, "tea, Rome or Tom?")
        assert "coffee" in told
        assert not {"tea", "Rome", "Tom"} & set(told.replace("?", " ").split())


def test_one_user_has_one_memory_in_all_their_sessions(chats: VectorStoreIndex) -> None:
    with AdaptiveMemoryBlock.from_index(chats, user_id="alice") as block:
        session(block, "monday", "I drink green tea", "I live in Rome", "My cat is Tom")
        assert "green tea" in recalled(session(block, "tuesday"), "what tea do I drink?")


def test_the_user_can_be_told_from_the_session(chats: VectorStoreIndex) -> None:
    with AdaptiveMemoryBlock.from_index(chats, user_id=lambda name: name.split("/")[0]) as block:
        session(block, "alice/1", "I drink green tea", "I live in Rome", "My cat is Tom")
        assert "green tea" in recalled(session(block, "alice/2"), "what tea?")
        assert "green tea" not in recalled(session(block, "bob/1"), "what tea?")


async def test_nobodys_session_is_an_error(block: AdaptiveMemoryBlock) -> None:
    with pytest.raises(ScopeError, match="user_id='alice'"):
        await block.aget([said("user", "tea?")])
    with pytest.raises(ScopeError):
        await block.aput([said("user", "I drink tea")])
    with pytest.raises(ScopeError):
        await block.aget([said("user", "tea?")], session_id=" ")


async def test_a_function_that_knows_no_user_is_an_error(chats: VectorStoreIndex) -> None:
    nobody: Any = lambda name: None  # noqa: E731
    with AdaptiveMemoryBlock.from_index(chats, user_id=nobody) as block, pytest.raises(ScopeError):
        await block.aget([said("user", "tea?")], session_id="s")


def test_however_often_it_is_asked_a_turn_is_one_read(block: AdaptiveMemoryBlock) -> None:
    memory = session(block, "alice", "I drink green tea", "I live in Rome", "My cat is Tom")
    for _ in range(3):
        recalled(memory, "what tea do I drink?")
    stats = block.for_session("alice").stats()
    assert (stats.recalls, stats.reads) == (1, stats.read_records)
    recalled(memory, "and where do I live?")
    assert block.for_session("alice").stats().recalls == 2


def test_a_chat_engine_s_turn_is_one_read(block: AdaptiveMemoryBlock) -> None:
    memory = session(block, "alice", "I drink green tea", "I live in Rome", "My cat is Tom")
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=4), memory=memory)
    before = block.for_session("alice").stats().recalls
    for words in ("what tea?", "what tea?"):
        engine.chat(words)
    assert block.for_session("alice").stats().recalls == before + 2


async def test_without_words_of_a_user_nothing_is_recalled(block: AdaptiveMemoryBlock) -> None:
    assert await block.aget([], session_id="alice") == ""
    assert await block.aget(None, session_id="alice") == ""
    assert await block.aget([said("assistant", "hello")], session_id="alice") == ""


async def test_the_same_words_are_one_record(block: AdaptiveMemoryBlock) -> None:
    for _ in range(2):
        await block.aput([said("user", "I drink tea"), said("user", "I drink tea")], session_id="alice")
    assert block.for_session("alice").stats().records == 1


async def test_only_what_was_said_is_stored(block: AdaptiveMemoryBlock) -> None:
    await block.aput([said("tool", "{}"), said("system", "be nice"), said("user", " ")], session_id="alice")
    assert block.for_session("alice").stats().records == 0


async def test_what_is_stored_are_nodes_for_every_retriever(
    block: AdaptiveMemoryBlock, chats: VectorStoreIndex
) -> None:
    await block.aput([said("user", "I drink tea")], session_id="alice")
    (plain,) = chats.as_retriever(similarity_top_k=5).retrieve("tea")
    with AdaptiveMemoryRetriever.from_memory(block.for_session("alice")) as retriever:
        (ours,) = retriever.retrieve("tea")
    assert plain.node.to_dict() == ours.node.to_dict()
    assert ours.node.get_content(MetadataMode.LLM) == ours.node.get_content(MetadataMode.EMBED) == "I drink tea"
    assert ours.node.metadata == {"role": "user", "session_id": "alice"}


async def test_a_session_is_no_user_of_that_name(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember("I drink green tea")
    memory.for_everyone().remember("everybody drinks tea")
    with AdaptiveMemoryBlock(memory) as block:
        assert "tea" not in recalled(session(block, "alice"), "what do I drink?")
        await block.aput([said("user", "I drink coffee")], session_id="alice")
        assert "coffee" in recalled(session(block, "alice"), "what do I drink?")
        assert "coffee" not in memory.for_user("alice").recall("what do I drink?").render()
        with pytest.raises(ScopeError, match="Give another"):
            memory.for_user(block.for_session("alice").user or "")


async def test_messages_are_left_as_they_were(block: AdaptiveMemoryBlock) -> None:
    message = said("user", "I drink tea")
    await block.aput([message], session_id="alice")
    assert message.additional_kwargs == {"session_id": "alice"}


async def test_what_is_too_long_loses_its_last_lines(block: AdaptiveMemoryBlock) -> None:
    content = "heading\n- best\n- second\n- third"
    assert await block.atruncate(content, 1) == "heading\n- best\n- second"
    assert await block.atruncate(content, 4) == "heading\n- best"
    assert await block.atruncate(content, 100) is None
    assert await block.atruncate("", 1) is None


async def test_elements_that_are_too_long_stay_whole(chats: VectorStoreIndex) -> None:
    with AdaptiveMemoryBlock.from_index(chats, user_id="alice", style="xml", similarity_top_k=9) as block:
        await block.aput([said("user", f"tea number {number} of {place}") for number in range(3) for place in "ab"])
        content = await block.aget([said("user", "tea?")], session_id="s")
        sizes = []
        for tokens in range(1, 300, 30):
            left = await block.atruncate(content, tokens)
            sizes.append(0 if left is None else len(ElementTree.fromstring(left)))
    assert sizes[0] == 5
    assert sizes[-1] == 0
    assert sizes == sorted(sizes, reverse=True)


def test_its_part_of_the_prompt_is_bounded(chats: VectorStoreIndex) -> None:
    with AdaptiveMemoryBlock.from_index(chats, max_tokens=30) as block:
        memory = session(block, "alice", *(f"tea number {number} is a fine tea" for number in range(9)))
        assert "more did not fit" in recalled(memory, "tea?")


def test_a_given_user_memory_is_used_for_every_session(memory: AdaptiveMemory) -> None:
    memory.for_user("alice").remember("I drink green tea")
    with AdaptiveMemoryBlock(memory.for_user("alice")) as block:
        assert "green tea" in recalled(session(block, "any"), "what tea?")
    with pytest.raises(ScopeError):
        AdaptiveMemoryBlock(memory.for_user("alice"), user_id="bob")


def test_bad_arguments_are_refused(chats: VectorStoreIndex) -> None:
    with pytest.raises(InvalidInputError):
        AdaptiveMemoryBlock()
    with pytest.raises(ScopeError):
        AdaptiveMemoryBlock.from_index(chats, user_id="")
    wrongs: list[dict[str, Any]] = [{"similarity_top_k": 0}, {"max_tokens": 0}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="validation error"):
            AdaptiveMemoryBlock.from_index(chats, **wrong)
    with pytest.raises(TypeError, match=r"no argument 'top_n'\. Allowed: .*similarity_top_k"):
        AdaptiveMemoryBlock.from_index(chats, top_n=3)


def test_it_looks_without_touching_where_asked(chats: VectorStoreIndex) -> None:
    with AdaptiveMemoryBlock.from_index(chats, reinforce=False) as block:
        memory = session(block, "alice", "I drink green tea", "I live in Rome", "My cat is Tom")
        assert recalled(memory, "what tea?")
        assert block.for_session("alice").stats().recalls == 0
        assert texts([]) == []


async def test_what_is_in_the_window_already_is_not_recalled_besides(block: AdaptiveMemoryBlock) -> None:
    said = [ChatMessage(role="user", content=text) for text in ("I drink green tea", "I like the sea")]
    for one in said:
        one.additional_kwargs["session_id"] = "monday"
    await block.aput(said)
    question = ChatMessage(role="user", content="what do I drink or like?")
    assert "green tea" in await block.aget([question], session_id="monday")
    shown = await block.aget([said[0], question], session_id="monday")
    assert "green tea" not in shown
    assert "the sea" in shown


async def test_what_cannot_be_shown_is_left_out(
    chats: VectorStoreIndex, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overflow(*_: Any, **__: Any) -> str:
        raise OverflowError("date value out of range")

    with AdaptiveMemoryBlock.from_index(chats, user_id="ana", clock=clock) as block:
        block.memory.remember("The rock formed 999 decades ago.")
        asked = [said("user", "How old is the rock?")]
        assert "999 decades" in await block.aget(asked, session_id="monday")
        monkeypatch.setattr(Recall, "render", overflow)
        with pytest.warns(RuntimeWarning, match="out of range"):
            assert await block.aget(asked, session_id="monday") == ""
        block.on_error = "raise"
        with pytest.raises(OverflowError):
            await block.aget(asked, session_id="monday")


def test_a_message_too_long_to_keep_costs_only_itself(collection: Collection) -> None:
    memory = AdaptiveMemory(collection, embedder=word_vectors, keeping=Keeping(text_characters=300))
    with memory, AdaptiveMemoryBlock(memory, user_id="ana") as block:
        with pytest.warns(RuntimeWarning, match="text_characters"):
            chat = session(block, "monday", "I drink tea.", "x" * 301, "I own a boat.", "Enough for today.")
        assert "boat" in recalled(chat, "What do I own?")
        assert {hit.text for hit in block.memory.recall("x", k=9)} >= {"I drink tea."}
        assert all(len(hit.text) <= 300 for hit in block.memory.recall("x", k=9))
