"""What of a TimeWeightedVectorStoreRetriever and its stamps? They move into the store's own metadata, and count on."""

from __future__ import annotations

import tempfile
from datetime import datetime
from typing import Any

import chromadb
from langchain_chroma import Chroma
from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
from langchain_core.documents import Document

from adaptive_memory_core import Fields
from langchain_adaptive_memory import AdaptiveMemoryRetriever, LocalEmbeddings

FIELDS = Fields(last_read="last_accessed_at")  # the names that its stamps have already
DAY = 86_400.0


def seconds(stamp: Any) -> float:
    """A stamp as POSIX seconds: LangChain keeps naive local datetimes, or the floats that it was given."""
    return stamp.timestamp() if isinstance(stamp, datetime) else float(stamp)


def move_stamps(retriever: TimeWeightedVectorStoreRetriever, store: Chroma) -> int:
    """Write what it knows only in RAM, when each document was last read, into the store; gives how many moved.

    Where its documents are in another store, or in none, add them to a Chroma one first, with these metadata.
    """
    collection = store._collection
    for document in retriever.memory_stream:
        place = collection.get(where={"buffer_idx": document.metadata["buffer_idx"]}, include=[])["ids"]
        stamps = {name: seconds(document.metadata[name]) for name in ("last_accessed_at", "created_at")}
        collection.update(place, metadatas=[stamps] * len(place))
    return len(retriever.memory_stream)


def as_it_was(store: Chroma) -> TimeWeightedVectorStoreRetriever:
    """The old retriever: two notes of a month ago, one of which is read today."""
    retriever = TimeWeightedVectorStoreRetriever(vectorstore=store, k=1, decay_rate=0.01)
    begun = datetime.now().astimezone().timestamp() - 30 * DAY
    texts = ["The staging database is postgres-7.", "The lift is slow on Mondays."]
    stamps = {"last_accessed_at": begun, "created_at": begun}
    retriever.add_documents([Document(text, metadata=dict(stamps)) for text in texts])
    print("old: ", retriever.invoke("which database is staging?")[0].page_content)
    return retriever


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        settings: Any = {"hnsw": {"space": "cosine"}}
        client = chromadb.PersistentClient(directory)
        store = Chroma(
            "notes", LocalEmbeddings(), client=client, collection_configuration=settings
        )  # or OpenAIEmbeddings()
        print("moved:", move_stamps(as_it_was(store), store))

        with AdaptiveMemoryRetriever.from_vectorstore(store, k=2, fields=FIELDS) as retriever:
            for one in retriever.invoke("which database is staging?", reinforce=False):
                last_read = one.metadata["adaptive_memory"]["last_read"]
                days = (datetime.now().astimezone().timestamp() - last_read) / DAY
                print(f"new:  {one.page_content} (last read {days:.0f} days ago)")


if __name__ == "__main__":
    main()
