"""How is a slow embedder asked once only? Its vectors stay in a file, for every measurement on the same texts.

MiniLM takes minutes to hours for the texts of some sets. What was embedded before a run was broken off is not lost.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core.models.embedder import Embedder

AT_ONCE = 64  # texts after which vectors are written down


class KeptVectors:
    """An embedder that asks another one for what it has not in its file.

    >>> import tempfile
    >>> asked = []
    >>> slow = Embedder("slow", lambda texts: asked.extend(texts) or [[1.0, len(one)] for one in texts], len)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = [KeptVectors(slow, Path(folder)).documents(["tea", "rice"]).tolist() for _ in range(2)]
    >>> found, asked
    ([[[1.0, 3.0], [1.0, 4.0]], [[1.0, 3.0], [1.0, 4.0]]], ['tea', 'rice'])
    """

    def __init__(self, embed: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embed = embed
        self._file = sqlite3.connect(folder / f"{embed.name}.sqlite3", isolation_level=None, check_same_thread=False)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB)")

    def documents(self, texts: Sequence[str]) -> Any:
        """The vector of each text, in float32."""
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        known = {key: found for key in set(keys) if (found := self._known(key)) is not None}
        new = [(key, text) for key, text in dict(zip(keys, texts, strict=True)).items() if key not in known]
        for start in range(0, len(new), AT_ONCE):
            some = new[start : start + AT_ONCE]
            known.update(self._kept(some, self._embed.embed_documents([text for _, text in some])))
        return np.stack([known[key] for key in keys])

    def query(self, text: str) -> Any:
        """The vector of a question, which some models make differently."""
        key = hashlib.sha256(f"query\0{text}".encode()).digest()
        found = self._known(key)
        return self._kept([(key, text)], [self._embed.embed_query(text)])[key] if found is None else found

    def as_embedder(self) -> Embedder:
        """Under the other one's name."""
        return Embedder(self._embed.name, self.documents, self.query, self._embed.dimension)

    def _known(self, key: bytes) -> Any:
        row = self._file.execute("SELECT vector FROM vectors WHERE text = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def _kept(self, new: Sequence[tuple[bytes, str]], vectors: Any) -> dict[bytes, Any]:
        made = dict(zip((key for key, _ in new), np.asarray(vectors, dtype=np.float32), strict=True))
        rows = [(key, vector.tobytes()) for key, vector in made.items()]
        self._file.execute("BEGIN")
        self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self._file.execute("COMMIT")
        return made
