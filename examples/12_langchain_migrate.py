"""What of the Chroma store that a LangChain program has already? One line changes; nothing in the store does."""

from __future__ import annotations

import tempfile

import chromadb
from langchain_chroma import Chroma

from adaptive_memory_core import Policy
from langchain_adaptive_memory import AdaptiveMemoryRetriever, LocalEmbeddings

NOTES = {
    "tram": "To get to the office, take the tram at Mill Road.",
    "bus": "To get to the office, take the bus at Mill Road.",
    "cellar": "The office has a bicycle cellar.",
    "dentist": "The dentist is open on Saturdays.",
}
CUE = "how do I get to the office?"


def stored(store: Chroma) -> dict[str, tuple[str, str]]:
    return {str(one.id): (one.page_content, one.metadata["source"]) for one in store.get_by_ids(list(NOTES))}


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        store = Chroma("notes", LocalEmbeddings(), client=chromadb.PersistentClient(directory))  # or OpenAIEmbeddings()
        store.add_texts(list(NOTES.values()), metadatas=[{"source": "wiki"}] * len(NOTES), ids=list(NOTES))
        before = stored(store)

        retriever = store.as_retriever(search_kwargs={"k": 2})  # as it was
        print("plain:   ", [one.id for one in retriever.invoke(CUE)])

        with AdaptiveMemoryRetriever.from_vectorstore(
            store, k=2, policy=Policy.preset("equal")
        ) as adaptive:  # as it is
            print("adaptive:", [one.id for one in adaptive.invoke(CUE)])
            for _ in range(3):
                found = {one.id: one for one in adaptive.invoke(CUE)}
                adaptive.feedback(helpful=[found["bus"]], unhelpful=[found["tram"]])

        with AdaptiveMemoryRetriever.from_vectorstore(store, k=2, policy=Policy.preset("equal")) as adaptive:
            print("later:   ", [one.id for one in adaptive.invoke(CUE, reinforce=False)])
            print("and so:  ", store.get_by_ids(["bus"])[0].metadata)
        print("texts and metadata of the store:", "unchanged" if stored(store) == before else "CHANGED")


if __name__ == "__main__":
    main()
