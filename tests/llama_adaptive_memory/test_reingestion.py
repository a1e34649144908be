"""Does what was learned outlive what users of LlamaIndex do to keep an index up to date?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chromadb import Collection
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llama_adaptive_memory import AdaptiveMemoryPostprocessor, AdaptiveMemoryRetriever
from tests.llama_adaptive_memory.conftest import HashedWords, counts, ids, index_over


@pytest.fixture
def index(collection: Collection) -> VectorStoreIndex:
    return index_over(collection, ["tea at four", "coffee at nine"])


@pytest.fixture
def retriever(index: VectorStoreIndex) -> Iterator[AdaptiveMemoryRetriever]:
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=1) as ours:
        yield ours


def document(text: str, number: int = 0, **metadata: object) -> Document:
    return Document(text=text, id_=f"d{number}", metadata={"number": number, **metadata})


def looked(retriever: AdaptiveMemoryRetriever, query: str) -> list[int]:
    """The counts of what is found, without adding to them."""
    retriever.reinforce = False
    found = counts(retriever.memory, retriever.retrieve(query))
    retriever.reinforce = True
    return found


def test_a_document_that_is_updated_keeps_what_was_learned_of_its_text(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever
) -> None:
    before = ids(retriever.retrieve("tea at four"))
    index.update_ref_doc(document("tea at four", topic="new"))
    assert looked(retriever, "tea at four") == [1]
    assert ids(retriever.retrieve("tea at four")) != before
    assert looked(retriever, "coffee at nine") == [0]


def test_a_text_that_changed_begins_anew(index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever) -> None:
    retriever.retrieve("tea at four")
    index.update_ref_doc(document("tea at five"))
    assert looked(retriever, "tea at four") == [0]


def test_refreshing_documents_keeps_what_was_learned_of_those_that_stayed(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever
) -> None:
    retriever.retrieve("tea at four")
    retriever.retrieve("coffee at nine")
    assert index.refresh_ref_docs([document("tea at four", 0, topic="new"), document("cake at ten", 1)]) == [True, True]
    assert looked(retriever, "tea at four") == [1]
    assert looked(retriever, "cake at ten") == [0]


def test_a_document_that_was_deleted_and_inserted_again_is_known(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever
) -> None:
    retriever.retrieve("tea at four")
    index.delete_ref_doc("d0", delete_from_docstore=True)
    index.insert(document("tea at four"))
    assert looked(retriever, "tea at four") == [1]


def test_a_file_that_was_read_again_is_known_whatever_its_documents_are_called(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever
) -> None:
    """`SimpleDirectoryReader` gives each reading of a file another id."""
    index.insert(document("milk at noon", 7, file_path="drinks.md"))
    retriever.retrieve("milk at noon")
    index.delete_ref_doc("d7", delete_from_docstore=True)
    index.insert(document("milk at noon", 8, file_path="drinks.md"))
    assert looked(retriever, "milk at noon") == [1]


def test_another_program_that_writes_over_a_node_is_noticed(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever, collection: Collection
) -> None:
    (found,) = ids(retriever.retrieve("tea at four"))
    vectors: Any = [HashedWords().get_text_embedding("cake at ten")]
    collection.update(ids=[found], documents=["cake at ten"], embeddings=vectors)
    assert looked(retriever, "cake at ten") == [0]


def pipeline(vector_store: BasePydanticVectorStore) -> IngestionPipeline:
    return IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=20, chunk_overlap=0), HashedWords()],
        vector_store=vector_store,
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS,
        disable_cache=True,
    )


LONG = " ".join(
    f"Fact {number}: the {word} stands in room {number}." for number, word in enumerate(["tea", "oven", "cat"])
)


def test_a_pipeline_that_upserts_keeps_the_chunks_that_are_the_same(collection: Collection) -> None:
    index = index_over(collection)
    ingest = pipeline(index.vector_store)
    ingest.run(documents=[document(LONG)])
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=1) as retriever:
        query = "Fact 0: the tea stands in room 0."
        before = retriever.retrieve(query)
        ingest.run(documents=[document(LONG)])
        assert looked(retriever, query) == [1]
        assert ids(retriever.retrieve(query)) == ids(before)
        ingest.run(documents=[document(LONG.replace("cat", "dog"))])
        assert looked(retriever, query) == [1]
        assert ids(retriever.retrieve(query)) != ids(before)


def test_the_post_processor_sees_what_was_carried_over(index: VectorStoreIndex) -> None:
    plain = index.as_retriever(similarity_top_k=1)
    with AdaptiveMemoryPostprocessor.from_index(index) as ours:
        ours.postprocess_nodes(plain.retrieve("tea at four"), query_str="tea")
        index.update_ref_doc(document("tea at four", topic="new"))
        again = ours.postprocess_nodes(plain.retrieve("tea at four"), query_str="tea")
        assert ours.last_recall is not None
        assert [hit.record.read.retrieval_count for hit in ours.last_recall] == [1]
        assert len(again) == 1


def test_a_state_moves_to_an_index_that_was_built_anew(
    retriever: AdaptiveMemoryRetriever, new_collection: Callable[..., Collection]
) -> None:
    retriever.retrieve("tea at four")
    exported = json.dumps(retriever.memory.export_state())
    with AdaptiveMemoryRetriever.from_index(
        index_over(new_collection(), ["tea at four", "coffee at nine"]), similarity_top_k=1
    ) as moved:
        assert moved.memory.restore_state(json.loads(exported)).records == 1
        assert looked(moved, "tea at four") == [1]


def test_what_was_carried_over_is_exported_before_it_is_read_again(
    index: VectorStoreIndex, retriever: AdaptiveMemoryRetriever
) -> None:
    retriever.retrieve("tea at four")
    index.update_ref_doc(document("tea at four", topic="new"))
    assert len(retriever.memory.export_state()["records"]) == 1


def by_words(retriever: AdaptiveMemoryRetriever, query: str) -> list[str]:
    """What is found by words of the query."""
    retriever.retrieve(query)
    return sorted(hit.text for hit in retriever.last_recall or () if hit.parts["words"] > 0)


def test_what_a_pipeline_or_a_refresh_replaced_is_found_by_its_words_at_once(collection: Collection) -> None:
    index = index_over(collection)
    store: Any = index.vector_store
    transformations: Any = [SentenceSplitter(), HashedWords()]
    pipeline = IngestionPipeline(
        transformations=transformations,
        vector_store=store,
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS,
    )
    pipeline.run(documents=[document(f"tea on day {number}", number) for number in range(10)])
    with AdaptiveMemoryRetriever.from_index(index, similarity_top_k=5) as ours:
        ours.retrieve("tea")
        for replaced in (1, 2, 3):
            pipeline.run(documents=[document(f"zebra{replaced} number {number}", number) for number in range(replaced)])
            assert by_words(ours, f"zebra{replaced}") == [f"zebra{replaced} number {n}" for n in range(replaced)]
        for number in range(2):
            index.refresh_ref_docs([document(f"giraffe{number} slept", 5)])
            assert by_words(ours, f"giraffe{number}") == [f"giraffe{number} slept"]
