"""What stands in for a model too large for a test? A real ONNX file and tokenizer, with one vector for each word."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.models.chat_server import FakeChat, serving

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # one test lets Chroma import onnxruntime by itself

WORDS = ["[PAD]", "[UNK]", "cat", "dog", "tax"]
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@pytest.fixture
def word_vectors() -> np.ndarray:
    """The one vector each word of the tiny model has."""
    return np.random.default_rng(7).normal(size=(len(WORDS), 384)).astype(np.float32)


@pytest.fixture
def tiny_minilm(word_vectors: np.ndarray) -> Callable[..., Path]:
    """Writes model.onnx (a Gather from the word vectors) and tokenizer.json into a folder."""

    def write(folder: Path, inputs: Sequence[str] = INPUTS) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.save(str(folder / "tokenizer.json"))
        file = folder / "model.onnx"
        file.write_bytes(_gather_model(word_vectors, inputs))
        return file

    return write


def _gather_model(table: np.ndarray, inputs: Sequence[str]) -> bytes:
    """ONNX by hand, so that the tests need no builder: onnx.proto has the field numbers."""
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, "last_hidden_state") + _text(4, "Gather")
    tensor = b"".join(_number(1, size) for size in table.shape) + _number(2, 1) + _text(8, "table")
    tensor += _bytes(9, table.astype("<f4").tobytes())
    ports = [_bytes(11, _port(name, 7, ["b", "l"])) for name in inputs]
    out = _bytes(12, _port("last_hidden_state", 1, ["b", "l", "w"]))
    graph = _bytes(1, node) + _text(2, "tiny") + _bytes(5, tensor) + b"".join(ports) + out
    return _number(1, 7) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 13))


def _port(name: str, kind: int, axes: list[str]) -> bytes:
    shape = b"".join(_bytes(1, _text(2, axis)) for axis in axes)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _varint(value: int) -> bytes:
    return struct.pack("B", value) if value < 128 else struct.pack("B", value % 128 + 128) + _varint(value // 128)


def _number(field: int, value: int) -> bytes:
    return _varint(field * 8) + _varint(value)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field * 8 + 2) + _varint(len(content)) + content


def _text(field: int, content: str) -> bytes:
    return _bytes(field, content.encode())


@pytest.fixture
def server() -> Iterator[FakeChat]:
    with serving() as running:
        yield running
