"""Which embedders are measured? The two bundled ones, and a crude one: trigrams of letters, hashed.

Each can be treated as one that nobody knows: under a name for which the package has no measured weights.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import LocalEmbedder, MiniLMEmbedder
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from benchmarks.kept_vectors import KeptVectors

DIMENSIONS, LONGEST = 1024, 4_000  # of a vector; characters of a text that are read
UNKNOWN = "theirs"


def trigrams(texts: Sequence[str]) -> Any:
    """How often each text has each three letters, hashed, as unit vectors.

    >>> tea, tee, box = trigrams(["green tea", "green tee", "a box"])
    >>> bool(tea @ tee > 0.7 > tea @ box)
    True
    """
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for vector, text in zip(vectors, texts, strict=True):
        padded = f" {text.lower()[:LONGEST]} ".encode()
        for start in range(len(padded) - 2):
            vector[zlib.crc32(padded[start : start + 3]) % DIMENSIONS] += 1.0
    rooted = np.sqrt(vectors)
    return rooted / np.maximum(np.linalg.norm(rooted, axis=1, keepdims=True), 1e-9)


EMBEDDERS: dict[str, Callable[[], Any]] = {
    "local": LocalEmbedder,
    "minilm": MiniLMEmbedder,
    "trigrams": lambda: trigrams,
}


def embedder_of(name: str, *, unknown: bool = False, vectors: Path | None = None) -> Embedder:
    """The embedder of that name; as one that nobody measured, if `unknown`. `vectors` is a folder where its vectors are
    kept.

    >>> embedder_of("trigrams").name, embedder_of("trigrams", unknown=True).name
    ('trigrams', 'theirs')
    """
    embed = as_embedder(EMBEDDERS[name]())
    kept = embed if vectors is None else KeptVectors(embed, vectors).as_embedder()
    return as_embedder(kept, name=UNKNOWN) if unknown else kept
