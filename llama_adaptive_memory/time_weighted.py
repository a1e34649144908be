"""LlamaIndex's own time-weighted post-processor over Chroma, as a system for `adaptive-memory compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.postprocessor import TimeWeightedPostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, TextNode
from llama_index.core.vector_stores import VectorStoreQuery
from llama_index.vector_stores.chroma import ChromaVectorStore

from adaptive_memory_core.evaluate.datasets import Item
from adaptive_memory_core.evaluate.systems import OnDisk, SystemQuery, SystemResult
from adaptive_memory_core.models.embedder import Embedder

READ_AT, SEARCHED = "__last_accessed__", 100  # its own key; nearest texts that it weighs
BATCH = 2_000  # texts in one write; Chroma takes 5,461


class TimeWeighted:
    """A store per user, and the post-processor over the nearest texts. `settings` are the post-processor's, such as
    time_decay.

    It records reads on the returned nodes, but the next query creates new nodes. So reads change nothing here, as in
    any program that uses it; only the time of writing counts.
    """

    def __init__(self, embedder: Embedder, settings: Mapping[str, Any]) -> None:
        self._embedder, self._settings = embedder, dict(settings)
        self._stores: dict[str, ChromaVectorStore] = {}
        self._place = OnDisk()

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:
        vectors = self._embedder.embed_documents([item.labelled_text for item in items]).tolist()
        self._stores[user] = ChromaVectorStore(chroma_collection=self._place.new_collection())
        nodes: list[BaseNode] = [
            TextNode(id_=item.id, text=item.labelled_text, embedding=vector, metadata={READ_AT: item.ts or now})
            for item, vector in zip(items, vectors, strict=True)
        ]
        for start in range(0, len(nodes), BATCH):
            self._stores[user].add(nodes[start : start + BATCH])

    def prepare(self, asked: SystemQuery) -> None:
        """Do nothing."""

    def ask(self, asked: SystemQuery) -> SystemResult:
        vector = self._embedder.embed_query(asked.text).tolist()
        query = VectorStoreQuery(query_embedding=vector, similarity_top_k=max(SEARCHED, asked.k))
        nearest = self._stores[asked.user].query(query)
        scored = [
            NodeWithScore(node=node, score=score)
            for node, score in zip(nearest.nodes or [], nearest.similarities or [], strict=True)
        ]
        weigh = TimeWeightedPostprocessor(now=asked.now, top_k=asked.k, **self._settings)
        return SystemResult([one.node.node_id for one in weigh.postprocess_nodes(scored)])

    def figures(self) -> Sequence[Mapping[str, float]]:
        return ()

    def close(self) -> None:
        self._place.close()
