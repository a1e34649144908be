"""Where do the systems of a comparison keep their vectors? Each in a directory of its own, removed at the end."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path
from typing import Any

import chromadb
from chromadb import Collection


class OnDisk:
    """An embedded Chroma, as programs use it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # Windows: a file may still be open
        self.client = chromadb.PersistentClient(Path(self._folder.name))

    def new_collection(self) -> Collection:
        """An empty one that compares by cosine."""
        settings: Any = {"hnsw": {"space": "cosine"}}
        name = f"compared-{uuid.uuid4().hex}"
        return self.client.create_collection(name, embedding_function=None, configuration=settings)

    def close(self) -> None:
        self.client.close()  # type: ignore[attr-defined] # of the client that is made here
        self._folder.cleanup()
