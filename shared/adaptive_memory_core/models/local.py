"""The bundled embedder: 256 dimensions of WordLlama, offline, in microseconds."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.models.embedder import Vectors
from adaptive_memory_core.models.extras import folder_of, load, require, tensors

SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"  # the same in wordllama 0.2.2 and 0.4.0
BATCH = 256  # texts tokenised at once
OTHERWISE = (
    "Or pass another embedder=: MiniLMEmbedder(), OpenAIEmbedder(), a Chroma embedding function, "
    "or any callable from a list of texts to vectors."
)
_loading = threading.Lock()


class LocalEmbedder:
    """Texts to unit vectors: the mean of each text's token vectors, 256 of them, no network, no model to run.

    The files of the `wordllama` package are read directly. The package itself is not imported: it configures the root
    logger, and looks for its own tokenizer on the network. Loaded on first use, once for the whole process.
    A text without any token (only "" is one) gets the vector of the unknown token, which is near no ordinary text.

    Licence: the package is published under MIT. Its vectors were trained from the token codebooks of large language
    models (its README names LLaMA 2 70B and phi 3 medium, among others), and we found no statement on what the licences
    of those models ask of such weights. If that matters where you work, have it looked at, or use another embedder.

    >>> embed = LocalEmbedder()
    >>> cat, kitten, tax = embed(["a cat on the sofa", "a kitten on the couch", "quarterly tax return"])
    >>> bool(cat @ kitten > 0.5 > cat @ tax)
    True
    """

    name = "wordllama-l2-supercat-256"
    dimension = 256

    def __init__(self) -> None:
        require(["wordllama", "safetensors", "tokenizers"], extra="local", otherwise=OTHERWISE)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        split, table = _loaded()
        means = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            for row, encoding in enumerate(split.encode_batch_fast(batch, add_special_tokens=False), start):
                means[row] = _mean(table, encoding.ids)
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return means


def _mean(table: Vectors, tokens: list[int]) -> Vectors:
    unknown = 0
    rows = table[tokens or [unknown]]
    return rows.sum(axis=0) / np.float32(len(rows))  # type: ignore[no-any-return]


def _loaded() -> tuple[Any, Vectors]:
    with _loading:
        return _load()


@functools.cache
def _load() -> tuple[Any, Vectors]:
    weights = tensors(_packaged("l2_supercat_256.safetensors"), sha256=SHA256)
    return tokenizer(), weights["embedding.weight"].astype(np.float32)


@functools.cache
def tokenizer() -> Any:
    """The tokenizer by itself."""
    loaded = load("tokenizers").Tokenizer.from_file(str(_packaged("l2_supercat_tokenizer_config.json")))
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


def _packaged(file: str) -> Path:
    """Its folders changed their names between versions, the file did not."""
    folder = folder_of("wordllama")
    found = None if folder is None else next(folder.rglob(file), None)
    if found is None:
        raise EmbedderError(
            f"The installed wordllama does not contain {file}. Versions 0.2.2 to 0.4 do. "
            f'Install one of them: pip install "adaptive-memory-retrieval[local]". {OTHERWISE}'
        )
    return found
