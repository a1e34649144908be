"""One argument gives LlamaIndex's retriever and block a judge."""

from __future__ import annotations

from collections.abc import Sequence

from chromadb import Collection
from llama_index.core.base.llms.types import ChatMessage

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.judges import Judge
from llama_adaptive_memory import AdaptiveMemoryBlock
from tests.conftest import word_vectors
from tests.llama_adaptive_memory.conftest import TEXTS


def supports(question: str, answer: str, texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if "tea" in text]


JUDGE = Judge(supports=supports, sufficient=lambda question, texts: True)


async def test_the_block_says_what_an_answer_rests_on(collection: Collection) -> None:
    with AdaptiveMemory(collection, embedder=word_vectors) as memory:
        ann = memory.for_user("ann")
        ann.remember_many([{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
        block = AdaptiveMemoryBlock(ann, judge=JUDGE, similarity_top_k=3)
        await block.aget([ChatMessage(role="user", content="who drinks tea or coffee?")])
        assert block.feedback(block.last_recall, answer="Alice.") == 3
        assert await block.afeedback(block.last_recall, answer="Alice.") == 0
        assert ann.get("0").read.helpful == 1
