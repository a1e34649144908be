"""One argument gives LlamaIndex's retriever and block a judge."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from chromadb import Collection
from llama_index.core.base.llms.types import ChatMessage

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy
from adaptive_memory_core.judges import Judge
from llama_adaptive_memory import AdaptiveMemoryBlock, AdaptiveMemoryRetriever
from tests.conftest import word_vectors
from tests.llama_adaptive_memory.conftest import TEXTS, index_over


def supports(question: str, answer: str, texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if "tea" in text]


JUDGE = Judge(supports=supports, sufficient=lambda question, texts: True)


async def test_the_retriever_says_what_an_answer_rests_on(collection: Collection) -> None:
    index = index_over(collection, TEXTS)
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=3, judge=JUDGE) as retriever:
        found = retriever.retrieve("who drinks tea or coffee?")
        assert retriever.feedback(found, answer="Alice.") == 3
        assert await retriever.afeedback(found, answer="Alice.") == 0
        judged = {one.text: one.read for one in retriever.memory.records() if one.read.helpful + one.read.unhelpful}
        assert len(judged) == 3
        assert all(bool(read.helpful) is ("tea" in text) for text, read in judged.items())


def test_the_judge_decides_on_rounds_in_the_retriever_and_in_a_call(collection: Collection) -> None:
    with AdaptiveMemory(collection, embedder=word_vectors, policy=Policy.preset("gam_rag")) as memory:
        ann = memory.for_user("ann")
        ann.remember_many(["Ada met Bob.", "Bob met Eve."])
        plain = AdaptiveMemoryRetriever(ann)
        plain.retrieve("Ada?")
        assert "rounds" not in plain.explain_last()
        plain.retrieve("Ada?", judge=JUDGE)
        assert "made 1 of 3 rounds" in plain.explain_last()
        judged = AdaptiveMemoryRetriever(ann, judge=JUDGE)
        judged.retrieve("Ada?")
        assert "made 1 of 3 rounds" in judged.explain_last()
        with pytest.raises(InvalidInputError, match="chat model"):
            AdaptiveMemoryRetriever(ann, judge=5)


async def test_the_block_says_what_an_answer_rests_on(collection: Collection) -> None:
    with AdaptiveMemory(collection, embedder=word_vectors) as memory:
        ann = memory.for_user("ann")
        ann.remember_many([{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
        block = AdaptiveMemoryBlock(ann, judge=JUDGE, similarity_top_k=3)
        await block.aget([ChatMessage(role="user", content="who drinks tea or coffee?")])
        assert block.feedback(block.last_recall, answer="Alice.") == 3
        assert await block.afeedback(block.last_recall, answer="Alice.") == 0
        assert ann.get("0").read.helpful == 1
