"""One user's memory as a LangChain `VectorStore`, for code that requires one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Policy, Recall, Record, UserMemory
from adaptive_memory_core.error_messages import shown
from langchain_adaptive_memory.call import is_blank, policy_of
from langchain_adaptive_memory.convert import items_of
from langchain_adaptive_memory.source import in_threads
from langchain_adaptive_memory.user import Default, Over, checked_default, checked_memory, scope_of

Scores = list[tuple[Document, float]]


class AdaptiveMemoryVectorStore(VectorStore):
    """One user's part of a memory as a LangChain vector store: what is read through it counts as read.

    Setup: `pip install "adaptive-memory-retrieval[langchain]"`

    Key init args:
        memory: AdaptiveMemory | UserMemory
            The memory, with a `user_id` (a name, or EVERYONE), or one user's part of it. It is never closed here.
        policy: Policy | None
            How to rank; None is the memory's own.
        reinforce: bool
            Whether the found documents count as read.
        over: "everyone" | None
            Whether the records that belong to nobody are found as well; the state learned about them is this user's
            alone.

    A document comes back with its metadata, except the keys that the memory uses (`importance`, `kind`, times). Scores
    are similarities. For chains, `AdaptiveMemoryRetriever` gives more detail.
    """

    def __init__(
        self,
        memory: AdaptiveMemory | UserMemory,
        *,
        user_id: Default = None,
        policy: Policy | None = None,
        reinforce: bool = True,
        over: Over = None,
    ) -> None:
        self.scope = scope_of(checked_memory(memory), default=checked_default(user_id), key=None, over=over)
        self._policy, self._reinforce = policy, reinforce

    @property
    def embeddings(self) -> Embeddings | None:
        """None, since the memory embeds by itself."""
        return None

    def add_documents(self, documents: list[Document], **options: Any) -> list[str]:
        """Remember documents, under `ids` if given; an existing id is overwritten, and its read state starts again if
        the text changes. Documents without text are skipped with a warning."""
        return self._add(documents, options.get("ids"))

    async def aadd_documents(self, documents: list[Document], **options: Any) -> list[str]:
        return await in_threads(self.scope, self._add, documents, options.get("ids"))

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **options: Any,  # noqa: ARG002 - of other stores
    ) -> list[str]:
        return self._add(_documents(list(texts), metadatas), ids)

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **options: Any,  # noqa: ARG002 - of other stores
    ) -> list[str]:
        return await in_threads(self.scope, self._add, _documents(list(texts), metadatas), ids)

    def delete(self, ids: list[str] | None = None, **options: Any) -> bool:  # noqa: ARG002
        """Forget these ids; missing ids are skipped. If a text was already added again from the same `source`, as
        `index()` does, it keeps its learned state."""
        return self._forget(ids)

    async def adelete(self, ids: list[str] | None = None, **options: Any) -> bool:  # noqa: ARG002
        return await in_threads(self.scope, self._forget, ids)

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents that exist; this does not count as a read."""
        return self._get(ids)

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        return await in_threads(self.scope, self._get, ids)

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        return [document for document, _ in self._search(query, k, options)]

    async def asimilarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        return [document for document, _ in await in_threads(self.scope, self._search, query, k, options)]

    def similarity_search_with_score(self, query: str, k: int = 4, **options: Any) -> Scores:
        """The documents in the order of the memory's ranking, each with its similarity."""
        return self._search(query, k, options)

    async def asimilarity_search_with_score(self, query: str, k: int = 4, **options: Any) -> Scores:
        return await in_threads(self.scope, self._search, query, k, options)

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        more = {**options, "fetch_k": fetch_k, "lambda_mult": lambda_mult}
        return [document for document, _ in self._search(query, k, more)]

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        more = {**options, "fetch_k": fetch_k, "lambda_mult": lambda_mult}
        return [document for document, _ in await in_threads(self.scope, self._search, query, k, more)]

    def similarity_search_by_vector(self, embedding: list[float], *_: Any, **__: Any) -> list[Document]:
        raise _asked_by_vector(embedding)

    def max_marginal_relevance_search_by_vector(self, embedding: list[float], *_: Any, **__: Any) -> list[Document]:
        raise _asked_by_vector(embedding)

    @classmethod
    def from_texts(cls, texts: list[str], embedding: Embeddings, *_: Any, **__: Any) -> AdaptiveMemoryVectorStore:
        raise InvalidInputError(
            f"There is no memory to put {len(texts)} texts into. Create one, with {type(embedding).__name__} as its "
            "embedder, and give it the texts: AdaptiveMemoryVectorStore(memory, user_id='alice').add_texts(texts)."
        )

    def _select_relevance_score_fn(self) -> Any:
        return lambda similarity: min(1.0, max(0.0, similarity))

    def _add(self, documents: Sequence[Document], ids: Sequence[str | None] | None) -> list[str]:
        if ids is not None and len(ids) != len(documents):
            raise InvalidInputError(f"{len(ids)} ids are given for {len(documents)} documents. Give one for each.")
        named = ids or [document.id for document in documents]
        items = items_of(documents, self.scope.scope, self.scope.memory.fields, named)
        added: list[str] = self.scope.remember_many(items)
        return added

    def _forget(self, ids: Sequence[str] | None) -> bool:
        if ids is None:
            raise InvalidInputError("delete was given no ids. Give a list of ids to forget.")
        for one in ids:
            try:
                self.scope.forget(one, replaced=True)
            except NotFoundError:
                continue
        return True

    def _get(self, ids: Sequence[str]) -> list[Document]:
        found: list[Document] = []
        for one in ids:
            try:
                found.append(_document(self.scope.get(one)))
            except NotFoundError:
                continue
        return found

    def _search(self, query: str, k: int, options: Mapping[str, Any]) -> Scores:
        """The results of a recall; `filter` is a Chroma `where`."""
        if is_blank(query):
            return []
        policy = policy_of(self.scope.memory.policy if self._policy is None else self._policy, options)
        asked: dict[str, Any] = {name: options.get(name) for name in ("filter", "min_score", "min_similarity")}
        asked |= {"k": k, "policy": policy, "reinforce": self._reinforce}
        recall: Recall = self.scope.recall(query, on_embedder_error="raise", **asked)
        return [(_document(hit.record), float(hit.similarity)) for hit in recall]


def _asked_by_vector(embedding: Sequence[float]) -> NotImplementedError:
    return NotImplementedError(
        f"A memory needs a query in words, but was given a vector of {len(embedding)} numbers. Give the question to "
        "similarity_search(), or the vector to the store over the collection."
    )


def _documents(texts: Sequence[str], metadatas: Sequence[Mapping[str, Any]] | None) -> list[Document]:
    known = [{} for _ in texts] if metadatas is None else metadatas
    if len(known) != len(texts):
        raise InvalidInputError(f"{len(known)} metadatas are given for {len(texts)} texts. Give one for each, or None.")
    if wrong := [more for more in known if more is not None and not isinstance(more, Mapping)]:
        raise InvalidInputError(f"A metadata is {shown(wrong[0])}. Give a mapping for each text.")
    return [Document(text, metadata=dict(more or {})) for text, more in zip(texts, known, strict=True)]


def _document(record: Record) -> Document:
    return Document(record.text, id=record.id, metadata=dict(record.metadata))
