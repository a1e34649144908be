"""How does a LlamaIndex query engine get a memory? As its retriever, or as a post-processor behind the one it has."""

from __future__ import annotations

import chromadb
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.vector_stores.chroma import ChromaVectorStore

from llama_adaptive_memory import AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever, LocalEmbedding

TEXTS = [
    "Deploys are done on Tuesdays, before noon.",
    "The staging database is reset every Monday night.",
    "A deploy on a Friday needs the consent of the person on call.",
    "The cafeteria closes at three.",
]


def existing_index() -> VectorStoreIndex:
    """An index as users have one; nothing in it is of this package."""
    collection = chromadb.EphemeralClient().create_collection("handbook", configuration={"hnsw": {"space": "cosine"}})
    store = ChromaVectorStore(chroma_collection=collection)
    index = VectorStoreIndex.from_vector_store(store, embed_model=LocalEmbedding())
    for number, text in enumerate(TEXTS):
        index.insert(Document(text=text, id_=f"page {number}"))
    return index


def with_a_retriever(index: VectorStoreIndex) -> None:
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=2) as retriever:
        engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM(max_tokens=8))
        answer = engine.query("When can I deploy?")
        for node in answer.source_nodes:
            read = retriever.memory.get(node.node.node_id).read
            print(f"{node.score:.2f} read {read.retrieval_count} time: {node.text}")
        print(retriever.explain_last())
        print("verdicts:", retriever.feedback(helpful=answer.source_nodes[0]))


def with_a_post_processor(index: VectorStoreIndex) -> None:
    """Behind any retriever: bring more than you need, keep what memory ranks highest."""
    with AdaptiveMemoryPostprocessor.from_index(index, top_n=1) as memory:
        engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[memory], llm=MockLLM(max_tokens=8))
        print("post-processed:", engine.query("When is the database reset?").source_nodes[0].text)


def document_updated(index: VectorStoreIndex) -> None:
    """The page is written anew, under a new node id; what was learned of its text stays."""
    index.update_ref_doc(Document(text=TEXTS[0], id_="page 0", metadata={"reviewed": "today"}))
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=1, reinforce=False) as retriever:
        retriever.memory.memory.sync()  # the index wrote while no memory was open: take that in now, not in a moment
        (node,) = retriever.retrieve("Deploys are done on Tuesdays")
        print("after the update: read", retriever.memory.get(node.node.node_id).read.retrieval_count, "time")


if __name__ == "__main__":
    handbook = existing_index()
    with_a_retriever(handbook)
    with_a_post_processor(handbook)
    document_updated(handbook)
