"""What does memory cost inside LlamaIndex? Ratios from one run, calls taken in turn.

    python -m benchmarks.llama_speed [--sizes 1000 10000] [--top 2 10 20] [--embed-ms 0 10]

Embedded Chroma behind a `ChromaVectorStore`, 384 dimensions, nodes of about 600 characters, ledger and log on.
All nodes are one user's. "retrieve" compares `AdaptiveMemoryRetriever.retrieve` with `index.as_retriever().retrieve`
for as many nodes, on the same query bundle, which carries its vector; "of the user" with that user as the plain one's
filter, as one must set it where an index has several. "query engine" compares `query_engine.retrieve` with the
post-processor and without; there a query is embedded by a stand-in that takes `--embed-ms` (0: nothing; 10: about a
small model on a CPU).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import chromadb
from llama_index.core import Settings, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.vector_stores.chroma import ChromaVectorStore

from benchmarks.report import print_table, write_json
from benchmarks.speed import Samples, clustered, near, row, timed
from llama_adaptive_memory import AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever

WORDS = "the quarterly report of the northern branch was sent to the board on monday "
BATCH = 1_000
WARM = 20
USER = "ana"


class Looked(BaseEmbedding):
    """Vectors looked up by text, after as long as a model might take."""

    vectors: dict[str, Any]
    seconds: float = 0.0

    def _get_query_embedding(self, query: str) -> list[float]:
        if self.seconds:
            time.sleep(self.seconds)
        vector: list[float] = self.vectors[query].tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--top", type=int, nargs="+", default=[2, 10, 20], help="nodes asked for")
    parser.add_argument("--keep", type=int, default=4, help="nodes the post-processor keeps")
    parser.add_argument("--embed-ms", type=float, nargs="+", default=[0.0, 10.0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    Settings.llm = MockLLM(max_tokens=1)
    rows = [one for size in arguments.sizes for one in rows_of(size, arguments)]
    print_table(rows, title="Cost over plain LlamaIndex (ratio = ours / plain)")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(size: int, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        vectors = clustered(size)
        cues = [f"cue {number}" for number in range(1_000)]
        vectors.update(near(vectors, cues))
        index = filled(Path(folder), vectors, size)
        for top in arguments.top:
            plain, of_user, ours = retrieving(index, cues, top, arguments.rounds)
            yield named(f"retrieve, top {top}", size, ours, plain)
            yield named(f"retrieve, top {top}, of the user", size, ours, of_user)
        for milliseconds in arguments.embed_ms:
            index._embed_model.seconds = milliseconds / 1_000  # type: ignore[attr-defined] # our own model
            plain, ours = post_processing(index, cues, max(arguments.top), arguments.keep, arguments.rounds)
            yield named(f"query engine, embedding {milliseconds:g} ms", size, ours, plain)


def named(what: str, size: int, ours: Samples, plain: Samples) -> dict[str, Any]:
    return row(what, size, ours, plain, "p50")


def filled(folder: Path, vectors: dict[str, Any], size: int) -> VectorStoreIndex:
    client = chromadb.PersistentClient(str(folder))
    collection = client.create_collection("speed", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    store = ChromaVectorStore(chroma_collection=collection)
    for start in range(0, size, BATCH):
        store.add([node(number, vectors) for number in range(start, min(size, start + BATCH))])
    return VectorStoreIndex.from_vector_store(store, embed_model=Looked(vectors=vectors))


def node(number: int, vectors: dict[str, Any]) -> TextNode:
    metadata = {"file_name": "report.pdf", "page_label": str(number % 40), "user_id": USER}
    text = f"{number}: {WORDS * 8}"
    return TextNode(text=text, id_=str(number), metadata=metadata, embedding=vectors[f"text {number}"].tolist())


def retrieving(index: VectorStoreIndex, cues: list[str], top: int, rounds: int) -> list[Samples]:
    plain = index.as_retriever(similarity_top_k=top)
    filters = MetadataFilters(filters=[MetadataFilter(key="user_id", value=USER)])
    of_user = index.as_retriever(similarity_top_k=top, filters=filters)
    with AdaptiveMemoryRetriever.from_index(index, USER, similarity_top_k=top) as ours:

        def asked(cue: str) -> QueryBundle:
            return QueryBundle(cue, embedding=index._embed_model.get_query_embedding(cue))

        calls = [plain.retrieve, of_user.retrieve, ours.retrieve]
        return in_turn(calls, [asked(cue) for cue in cues], rounds)


def post_processing(index: VectorStoreIndex, cues: list[str], top: int, keep: int, rounds: int) -> list[Samples]:
    """The engine's own retrieval: embedding, search and post-processors."""
    with AdaptiveMemoryPostprocessor.from_index(index, top_n=keep, user_id=USER) as memory:
        plain: Any = index.as_query_engine(similarity_top_k=top)
        ours: Any = index.as_query_engine(similarity_top_k=top, node_postprocessors=[memory])
        calls = [lambda cue, one=one: one.retrieve(QueryBundle(cue)) for one in (plain, ours)]
        return in_turn(calls, cues, rounds)


def in_turn(calls: Sequence[Callable[[Any], object]], cues: list[Any], rounds: int) -> list[Samples]:
    """Seconds of each way; in each round all are asked the same, and each is as often the first."""
    samples: list[Samples] = [[] for _ in calls]
    for number in range(rounds + WARM):
        cue = cues[number % len(cues)]
        for place in range(len(calls)):
            which = (number + place) % len(calls)
            samples[which].append(timed(lambda cue=cue, call=calls[which]: call(cue)))  # type: ignore[misc]
    return [taken[WARM:] for taken in samples]


if __name__ == "__main__":
    main()
