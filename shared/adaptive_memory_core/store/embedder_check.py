"""Check that embedder and vectors fit the collection: the embedder's name, its dimension, and the collection's id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.errors import EmbedderMismatchError
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.store.chroma.chroma_calls import call_chroma

if TYPE_CHECKING:
    from chromadb import Collection

    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

Recorded = tuple[str | None, int | None]  # an embedder's name and dimension
NAME_KEY, DIMENSION_KEY = "adaptive_memory:embedder", "adaptive_memory:dimension"


class CheckedEmbedder:
    """An embedder whose name and dimension are compared with the collection's; the first write records them."""

    def __init__(self, embedder: Embedder, collection: str, ledger: Ledger, known: Recorded) -> None:
        self._embedder, self._collection, self._ledger = embedder, collection, ledger
        self.can_wait, self.can_wait_for_documents = embedder.aquery is not None, embedder.adocuments is not None
        self._name, self._dimension = known
        self.embed_query: Callable[[str], Any] = self._query_checked
        self._compare_names()
        if embedder.dimension is not None:
            self._compare(embedder.dimension)
        self._learn(embedder)

    def embed_documents(self, texts: Sequence[str]) -> Any:
        asked = self._unlearned()
        return self._noted(asked, asked.embed_documents(texts))

    async def aembed_documents(self, texts: Sequence[str]) -> Any:
        asked = self._unlearned()
        return self._noted(asked, await asked.aembed_documents(texts))

    def _noted(self, asked: Embedder, vectors: Any) -> Any:
        if len(vectors):
            self._reread()
            self._compare(len(vectors[0]))
            self._record(len(vectors[0]))
            self._learn(asked)
        return vectors

    def _query_checked(self, text: str) -> Any:
        asked = self._unlearned()
        return self._confirmed(asked, asked.embed_query(text))

    async def aembed_query(self, text: str) -> Any:
        asked = self._unlearned()
        return self._confirmed(asked, await asked.aembed_query(text))

    def _confirmed(self, asked: Embedder, vector: Any) -> Any:
        self._compare(len(vector))
        self._learn(asked)
        return vector

    def _unlearned(self) -> Embedder:
        """The embedder, or a copy until the collection has confirmed its dimension: an embedder takes the length of its
        first vector as its dimension, and a wrong first one must not make it refuse correct ones."""
        return replace(self._embedder) if self._embedder.dimension is None else self._embedder

    def _learn(self, asked: Embedder) -> None:
        """Use this embedder without further checks if the collection confirms its dimension: from then on it refuses
        vectors of another length itself."""
        if asked.dimension == self._dimension is not None:
            self._embedder, self.embed_query = asked, asked.embed_query

    def _reread(self) -> None:
        """Read name and dimension again if they were unknown: another process may have recorded them since."""
        if self._name is None or self._dimension is None:
            name, dimension = self._ledger.notes.embedder()
            self._name = name if self._name is None else self._name
            self._dimension = dimension if self._dimension is None else self._dimension
            self._compare_names()

    def _compare_names(self) -> None:
        if self._name is not None and not same_model(self._name, self._embedder.name):
            raise self._mismatch(self._embedder.name, self._embedder.dimension)

    def _compare(self, dimension: int) -> None:
        if self._dimension is not None and self._dimension != dimension:
            raise self._mismatch(self._embedder.name, dimension)

    def _record(self, dimension: int) -> None:
        if self._name is None or self._dimension is None:
            name = self._name or self._embedder.name
            self._ledger.notes.keep_embedder(name, dimension)
            self._name, self._dimension = name, dimension

    def _mismatch(self, name: str, dimension: int | None) -> EmbedderMismatchError:
        renamed = (
            ""
            if self._name is None
            else " If it is the same model under another name, pass the recorded name: "
            f"as_embedder(your_callable, name={self._name!r})."
        )
        return EmbedderMismatchError(
            f"The collection {self._collection!r} was written with {_shown(self._name, self._dimension)}; given "
            f"is {_shown(name, dimension)}. Pass the embedder it was written with; to change it, open the "
            f"memory with the old one and call memory.reembed(new_embedder).{renamed}"
        )


def recorded(collection: Collection, ledger: Ledger) -> Recorded:
    """Name and dimension of the embedder that the collection was written with; None if unknown. The collection's
    metadata come first, then the ledger, then the length of a stored vector."""
    noted: Mapping[str, Any] = collection.metadata or {}
    name, dimension = ledger.notes.embedder()
    name, dimension = noted.get(NAME_KEY, name), noted.get(DIMENSION_KEY, dimension)
    return name, _stored_dimension(collection) if dimension is None else dimension


def same_model(one: str, other: str) -> bool:
    """Whether two names stand for the same model, which different frameworks wrap in classes of different names.

    >>> same_model("OpenAIEmbeddings:text-embedding-3-small", "OpenAIEmbedding:text-embedding-3-small")
    True
    >>> same_model("openai:text-embedding-3-small:512", "OpenAIEmbedding:text-embedding-3-small")
    False
    >>> same_model("Hashed", "Hashed"), same_model("Hashed", "Lengths")
    (True, False)
    """
    model, other_model = one.partition(":")[2], other.partition(":")[2]
    return one == other or (model != "" and model == other_model)


def notes_on(embedder: Embedder) -> dict[str, str | int]:
    """The embedder's name and dimension for a new collection's metadata, so that a copy without the ledger has them
    too.

    >>> notes_on(Embedder("my-model", lambda texts: [], lambda text: [], dimension=384))
    {'adaptive_memory:embedder': 'my-model', 'adaptive_memory:dimension': 384}
    """
    return {NAME_KEY: embedder.name} | ({} if embedder.dimension is None else {DIMENSION_KEY: embedder.dimension})


def _stored_dimension(collection: Collection) -> int | None:
    vectors = call_chroma(lambda: collection.get(limit=1, include=["embeddings"]))["embeddings"]
    return None if vectors is None or not len(vectors) else len(vectors[0])


def _shown(name: str | None, dimension: int | None) -> str:
    length = "" if dimension is None else f" ({dimension} dimensions)"
    return f"{'another embedder' if name is None else repr(name)}{length}"


class EmbedderVersion:
    """The collection's id in the ledger when a memory was opened; re-embedding replaces it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._uuid = ledger.notes.uuid()

    @property
    def is_over(self) -> bool:
        """Whether the collection has been re-embedded, so that this memory's embedder no longer fits."""
        return self._ledger.notes.uuid() not in (self._uuid, None)

    def check(self) -> None:
        """Raise rather than mix vectors of two embedders. Within a transaction the answer holds until its end."""
        if self.is_over:
            embedder = self._ledger.notes.embedder()[0]
            raise EmbedderMismatchError(
                f"The collection was re-embedded with {embedder!r} after this memory was opened. "
                "Nothing from this call was kept. Close this memory and open it again with that embedder."
            )
