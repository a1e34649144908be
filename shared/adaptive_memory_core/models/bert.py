"""How does MiniLM run without onnxruntime? A small BERT's forward pass in numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

LAYERS, HEADS = 6, 12  # MiniLM-L6
EPSILON = np.float32(1e-12)


class Bert:
    """Token ids (batch, length) and mask to the last hidden state (batch, length, width)."""

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
    """x times the share of a standard normal below x.

    The normal is Abramowitz and Stegun 7.1.26: numpy has no erf, and this one is off by at most 1.5e-7.

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
