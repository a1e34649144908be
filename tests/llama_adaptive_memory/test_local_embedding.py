"""Does the bundled embedder travel as LlamaIndex's own models do: pickled, dumped, into workers?"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline

from adaptive_memory_core import InvalidInputError
from llama_adaptive_memory import LocalEmbedding
from tests.conftest import word_vectors
from tests.test_examples import environment

WAYS: dict[str, Callable[[LocalEmbedding], Any]] = {
    "pickled": lambda model: pickle.loads(pickle.dumps(model)),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "model_copy": lambda model: model.model_copy(),
}
DUMPS: dict[str, Callable[[LocalEmbedding], Any]] = {
    "to_dict": lambda model: LocalEmbedding.from_dict(model.to_dict()),
    "to_json": lambda model: LocalEmbedding.from_json(model.to_json()),
    "model_dump": lambda model: LocalEmbedding.model_validate(model.model_dump()),
}


@pytest.mark.parametrize("way", WAYS | DUMPS)
def test_a_copy_embeds_alike_and_keeps_its_settings(way: str) -> None:
    model = LocalEmbedding(embed_batch_size=7)
    again = (WAYS | DUMPS)[way](model)
    assert type(again) is LocalEmbedding
    assert (again.model_name, again.embed_batch_size) == (model.model_name, 7)
    assert np.allclose(again.get_query_embedding("tea"), model.get_query_embedding("tea"))
    assert again.to_dict() == model.to_dict()


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_ones_own_embedder_has_it_too(way: str) -> None:
    again = WAYS[way](LocalEmbedding(word_vectors))
    assert again.model_name == "word_vectors"
    assert len(again.get_text_embedding("tea")) == 32


def test_a_dump_does_not_hold_ones_own_embedder_which_is_given_again() -> None:
    dumped = LocalEmbedding(word_vectors).to_dict()
    with pytest.raises(InvalidInputError, match="Give it again"):
        LocalEmbedding.from_dict(dumped)
    assert LocalEmbedding.from_dict(dumped, embedder=word_vectors).get_text_embedding("tea")
    with pytest.raises(InvalidInputError, match="word_vectors"):
        LocalEmbedding(LocalEmbedding().embedder, model_name="word_vectors")


def test_an_ingestion_remembers_what_it_embedded() -> None:
    pipeline = IngestionPipeline(transformations=[LocalEmbedding()])
    document = Document(text="tea at four", id_="d")
    (first,), (second,) = (pipeline.run(documents=[document]) for _ in range(2))
    assert first.embedding == second.embedding
    assert len(first.embedding or []) == 256


@pytest.mark.hard("processes")
def test_an_ingestion_embeds_in_workers() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.llama_adaptive_memory.ingest"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert done.stdout.split("\n")[:4] == [f"tea {number} 256" for number in range(4)]
