"""Which vector is searched for? Made by the index's own embedding model, or taken from the query bundle."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import QueryBundle

from adaptive_memory_core import AdaptiveMemoryError, Cue, as_embedder
from adaptive_memory_core.models.embedder import as_vector, broken_promise


def cue_of(asked: QueryBundle, embed_model: Any) -> Cue | None:
    """The words with their vector; None where nothing is asked."""
    words, texts = asked.query_str.strip(), _texts(asked)
    if asked.embedding is not None:
        return Cue(words, asked.embedding)
    if not texts:
        return None
    if isinstance(embed_model, BaseEmbedding):
        with _named(embed_model) as name:
            vector = embed_model.get_agg_embedding_from_queries(texts)
        return Cue(words, as_vector(vector, name=name))
    return Cue(words, np.mean([embed_model.embed_query(text) for text in texts], axis=0))


async def acue_of(asked: QueryBundle, embed_model: Any) -> Cue | None:
    """`cue_of`, with the model's own async call."""
    texts = _texts(asked)
    if asked.embedding is not None or not texts:
        return cue_of(asked, embed_model)
    if not isinstance(embed_model, BaseEmbedding):
        return await asyncio.to_thread(cue_of, asked, embed_model)
    with _named(embed_model) as name:
        vector = await embed_model.aget_agg_embedding_from_queries(texts)
    return Cue(asked.query_str.strip(), as_vector(vector, name=name))


@contextmanager
def _named(embed_model: BaseEmbedding) -> Iterator[str]:
    """The model's name; what fails in it says so by that name."""
    name = as_embedder(embed_model).name
    try:
        yield name
    except AdaptiveMemoryError:
        raise
    except Exception as error:
        raise broken_promise(name, f"failed on a query with {type(error).__name__}: {error}") from error


def _texts(asked: QueryBundle) -> list[str]:
    """The texts to embed. What an agent's tool asks comes wrapped in line breaks."""
    return [text for text in asked.embedding_strs if text.strip()]
