"""What is looked for, as a vector? Made by the index's own embedding model, or taken from the query bundle."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import QueryBundle

from adaptive_memory_core import Cue, Embedder, as_embedder
from llama_adaptive_memory.local import LocalEmbedding


def embedder_of(embed_model: Any) -> Embedder:
    """A LlamaIndex embedding model as an embedder; anything else that this package takes as one.

    It is called by its class and model, as other frameworks' are, so that the same model is known as the same.
    """
    if isinstance(embed_model, LocalEmbedding):
        return embed_model.embedder
    if not isinstance(embed_model, BaseEmbedding):
        return as_embedder(embed_model)
    return Embedder(_name(embed_model), embed_model.get_text_embedding_batch, embed_model.get_query_embedding)


def cue_of(asked: QueryBundle, embed_model: Any) -> Cue | None:
    """The words with their vector; None where nothing is asked."""
    words, texts = asked.query_str.strip(), _texts(asked)
    if asked.embedding is not None:
        return Cue(words, asked.embedding)
    if not texts:
        return None
    if isinstance(embed_model, BaseEmbedding):
        return Cue(words, embed_model.get_agg_embedding_from_queries(texts))
    return Cue(words, np.mean([embed_model.embed_query(text) for text in texts], axis=0))


async def acue_of(asked: QueryBundle, embed_model: Any) -> Cue | None:
    """`cue_of`, with the model's own async call."""
    texts = _texts(asked)
    if asked.embedding is not None or not texts:
        return cue_of(asked, embed_model)
    if not isinstance(embed_model, BaseEmbedding):
        return await asyncio.to_thread(cue_of, asked, embed_model)
    return Cue(asked.query_str.strip(), await embed_model.aget_agg_embedding_from_queries(texts))


def _texts(asked: QueryBundle) -> list[str]:
    """The texts to embed. What an agent's tool asks comes wrapped in line breaks."""
    return [text for text in asked.embedding_strs if text.strip()]


def _name(embed_model: BaseEmbedding) -> str:
    kind, model = type(embed_model).__name__, embed_model.model_name
    return f"{kind}:{model}" if model and model != "unknown" else kind
