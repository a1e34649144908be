"""Where do the systems of a comparison keep their vectors? Each in a collection of its own, in RAM, by cosine."""

from __future__ import annotations

import uuid
from typing import Any

import chromadb
from chromadb import Collection


def new_collection() -> Collection:
    settings: Any = {"hnsw": {"space": "cosine", "sync_threshold": 100_000}}
    name = f"compared-{uuid.uuid4().hex}"
    return chromadb.EphemeralClient().create_collection(name, embedding_function=None, configuration=settings)


def drop(collection: Collection) -> None:
    chromadb.EphemeralClient().delete_collection(collection.name)
