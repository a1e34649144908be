"""How do several systems share one embedder? What is stored is embedded once; each question is embedded by each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.models.vectors import Vectors


def embeds_texts_once(given: Any) -> Embedder:
    """The embedder, which remembers the vectors of texts. Those of questions it does not, so that timings hold them.

    >>> calls = []
    >>> one = embeds_texts_once(lambda texts: [calls.append(text) or [1.0] for text in texts])
    >>> one.embed_documents(["a", "b"]).shape, one.embed_documents(["b", "c"]).shape, calls
    ((2, 1), (2, 1), ['a', 'b', 'c'])
    """
    inner = as_embedder(given)
    return Embedder(inner.name, _remembering(inner.embed_documents), inner.embed_query, inner.dimension)


def _remembering(embed: Callable[[list[str]], Vectors]) -> Callable[[list[str]], Any]:
    known: dict[str, Any] = {}

    def vectors(texts: list[str]) -> Any:
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, embed(new), strict=True))
        return np.array([known[text] for text in texts])

    return vectors
