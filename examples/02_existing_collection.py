"""What if the collection is already there? Keys under other names, an own embedder, nothing of it changed."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Mapping
from typing import Any

import chromadb

from adaptive_memory_core import AdaptiveMemory, Fields

WORDS = 512  # dimensions
TICKETS: dict[str, tuple[str, dict[str, Any]]] = {
    "t1": ("The printer on floor two jams with thick paper.", {"owner": "ana", "salience": 0.4, "team": "it"}),
    "t2": ("The printer on floor three needs a new drum.", {"owner": "ana", "salience": 0.7, "team": "it"}),
    "t3": ("Ana's laptop battery lasts forty minutes.", {"owner": "ana", "written": "2026-01-15T10:00:00Z"}),
    "t4": ("Ben's printer account is locked.", {"owner": "ben", "strength": "500 mg"}),
    "t5": ("The building is closed on the first of May.", {"team": "facilities"}),
}


def embed_words(texts: list[str]) -> list[list[float]]:
    """An embedder of our own: each word counts in the dimension that its checksum names."""
    vectors = []
    for text in texts:
        vector = [0.0] * WORDS
        for word in text.lower().strip(".?").split():
            vector[zlib.crc32(word.encode()) % WORDS] += 1.0
        vectors.append(vector)
    return vectors


def someone_elses_collection(client: Any) -> chromadb.Collection:
    """A collection as another program made it: no key of this package in it."""
    collection: chromadb.Collection = client.create_collection(
        "tickets", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    texts = [text for text, _ in TICKETS.values()]
    metadatas: list[Mapping[str, Any]] = [metadata for _, metadata in TICKETS.values()]
    collection.add(ids=list(TICKETS), documents=texts, metadatas=metadatas, embeddings=embed_words(texts))  # type: ignore[arg-type]
    return collection


def recall_from(collection: chromadb.Collection) -> None:
    fields = Fields(user_id="owner", importance="salience", created_at="written", strength="memory_strength")
    with AdaptiveMemory(collection, embedder=embed_words, fields=fields) as memory:
        print(memory.for_user("ana").recall("the printer on floor three", k=2).explain(), "\n")
        print(memory.for_user("ben").recall("the printer on floor three", k=2).explain(), "\n")
        print(memory.for_everyone().recall("when is the building closed?", k=2).explain(), "\n")


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        client = chromadb.PersistentClient(directory)
        collection = someone_elses_collection(client)
        recall_from(collection)
        held = collection.get()
        after = dict(zip(held["ids"], zip(held["documents"] or [], held["metadatas"] or [], strict=True), strict=True))
        for record_id, (text, metadata) in TICKETS.items():
            new_text, new = after[record_id]
            same = text == new_text and all(new.get(key) == value for key, value in metadata.items())
            added = {key: value for key, value in sorted(new.items()) if key not in metadata}
            print(f"{record_id}: {'unchanged' if same else 'CHANGED'}; added {added or 'nothing'}")


if __name__ == "__main__":
    main()
