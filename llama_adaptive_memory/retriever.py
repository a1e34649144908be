"""A LlamaIndex retriever over an existing Chroma index, which learns from being read."""

from __future__ import annotations

import asyncio
from copy import copy
from typing import Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, QueryType
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index_instrumentation import get_dispatcher
from typing_extensions import Self, Unpack

from adaptive_memory_core import AdaptiveMemory, Policy, Recall, UserMemory
from adaptive_memory_core.arguments import count, flag
from adaptive_memory_core.arguments.values import Moment
from adaptive_memory_core.store.named_users import reading_everyones, stays_as_it_is, with_note
from llama_adaptive_memory import settings
from llama_adaptive_memory.candidates import nodes_of
from llama_adaptive_memory.convert import where_of
from llama_adaptive_memory.embedding import acue_of, cue_of
from llama_adaptive_memory.opening import MemoryAccess, OpeningArguments, checked_index, collection_of, leased
from llama_adaptive_memory.recall_mark import with_reason
from llama_adaptive_memory.settings import (
    AUTO,
    AskedScope,
    CallArguments,
    Fallback,
    Over,
    ScoreMeaning,
    Setting,
    apply_call,
    embedder_behind,
    floor,
)
from llama_adaptive_memory.turns import this_question

dispatcher = get_dispatcher(__name__)


class AdaptiveMemoryRetriever(MemoryAccess, BaseRetriever):
    """A retriever to use instead of `index.as_retriever()`: it ranks by more than similarity and learns from reads.

    Each retriever reads one user's records: those whose metadata `user_id` is `user_id`, or without it those that
    belong to nobody. `for_user("bo")` returns a retriever for another user. All retrievers over a collection share one
    memory; `close()` (or `with`) writes back learned state and releases it.

    With `over="everyone"` a user's retriever also finds the nodes that name no user, such as a team's documents; the
    state learned about them is that user's alone. `over="auto"`, the default, does so while no record of the collection
    names a user, and `over=None` never does.

    All reads within one call of LlamaIndex count as one: see `llama_adaptive_memory.turns`. `reinforce=False` counts
    nothing, for evaluation. An empty query finds nothing.

    Examples:
        `pip install "adaptive-memory-retrieval[llama-index]"`

        ```python
        from llama_adaptive_memory import AdaptiveMemoryRetriever
        from llama_index.core.query_engine import RetrieverQueryEngine

        retriever = AdaptiveMemoryRetriever.from_index(index, similarity_top_k=4)
        query_engine = RetrieverQueryEngine.from_args(retriever)
        ```
    """

    similarity_top_k = Setting(lambda value: count(value, "similarity_top_k"), "How many nodes, at the most.")
    filters = Setting(settings.checked_filters, "Which nodes may be found; within this user's, always.")
    policy = Setting(settings.checked_policy, "How to rank; None: as the memory does.")
    reinforce = Setting(lambda value: flag(value, "reinforce"), "Whether what is returned counts as read.")
    score = Setting(settings.checked_score, "What the score of a node is: 'blend' or 'similarity'.")
    min_score = Setting(floor("min_score"), "The least blended score; None: any.")
    min_similarity = Setting(floor("min_similarity"), "The least similarity to the question; None: any.")
    judge = Setting(settings.checked_judge, "A chat model or judges.Judge(...) that judges; None: the memory's own.")

    now: Moment | None = None  # of a call
    turn: str | None = None  # of a call

    def __init__(
        self,
        memory: AdaptiveMemory | UserMemory | None = None,
        *,
        collection: Any = None,
        embed_model: Any = None,
        user_id: str | int | None = None,
        similarity_top_k: int = DEFAULT_SIMILARITY_TOP_K,
        policy: Policy | None = None,
        filters: MetadataFilters | None = None,
        reinforce: bool = True,
        score: ScoreMeaning = "blend",
        min_score: float | None = None,
        min_similarity: float | None = None,
        fallback: Fallback = None,
        over: Over | Literal["auto"] = AUTO,
        docstore: BaseDocumentStore | None = None,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
        **opening: Unpack[OpeningArguments],
    ) -> None:
        self.similarity_top_k, self.filters = similarity_top_k, filters
        self.policy, self.reinforce, self.score = policy, reinforce, score
        self.min_score, self.min_similarity = min_score, min_similarity
        self.judge = opening.pop("judge", None)
        if memory is None and self.judge is not None:
            opening["judge"] = self.judge
        self._last_recall: Recall | None = None
        others = None if over == AUTO else over
        self._docstore, self._fallback, self._over = docstore, fallback, others
        self._is_auto = over == AUTO and not isinstance(memory, UserMemory)
        self._lease = leased(memory, collection, embed_model, opening, AskedScope(user_id, fallback, others))
        self._scope = self._lease.first_scope(user_id, fallback, others)
        self._embed_model = embedder_behind(self._scope) if embed_model is None else embed_model
        super().__init__(callback_manager, object_map, objects, verbose)

    @classmethod
    def from_index(
        cls, index: Any, user_id: str | int | None = None, similarity_top_k: int = DEFAULT_SIMILARITY_TOP_K, **more: Any
    ) -> Self:
        """Over an index's collection, with its embedding model, document store and objects."""
        known = checked_index(index)
        given = {
            "embed_model": known._embed_model,
            "docstore": known.docstore,
            "callback_manager": known._callback_manager,
            "object_map": known._object_map,
        }
        return cls(
            collection=collection_of(known.vector_store),
            user_id=user_id,
            similarity_top_k=similarity_top_k,
            **{**given, **more},
        )

    @classmethod
    def from_vector_store(
        cls, vector_store: Any, embed_model: Any = None, user_id: str | int | None = None, **more: Any
    ) -> Self:
        """Over a `ChromaVectorStore`; `embed_model` defaults to that of LlamaIndex's `Settings`."""
        return cls(collection=collection_of(vector_store), embed_model=embed_model, user_id=user_id, **more)

    @classmethod
    def from_collection(
        cls, collection: Any, embed_model: Any = None, user_id: str | int | None = None, **more: Any
    ) -> Self:
        """Over a `chromadb.Collection`; `embed_model` defaults to that of LlamaIndex's `Settings`."""
        return cls(collection=collection, embed_model=embed_model, user_id=user_id, **more)

    @classmethod
    def from_memory(cls, memory: AdaptiveMemory | UserMemory, user_id: str | int | None = None, **more: Any) -> Self:
        """Over a memory, or one user's part of it, that the caller has opened and will close."""
        return cls(memory, user_id=user_id, **more)

    def for_user(self, user_id: str | int | None) -> Self:
        """This retriever for another user (None: for the records that belong to nobody), over the same memory."""
        other = copy(self)
        other._lease = self._lease.lent()
        other._scope = other._lease.scope(user_id, self._fallback, self._over)
        other._last_recall = None
        return other

    def retrieve(self, str_or_query_bundle: QueryType, **call: Unpack[CallArguments]) -> list[NodeWithScore]:
        """The nodes for a question. Arguments of the call act as if the retriever had been created with them.

        They are `user_id`, `similarity_top_k`, `filters`, `policy`, `reinforce`, `score`, `min_score`,
        `min_similarity`, `judge`, `now` (POSIX seconds: as of that day) and `turn` (a name for the user's question).
        """
        if not call:
            return super().retrieve(str_or_query_bundle)
        other = self._for_call(call)
        try:
            return other.retrieve(str_or_query_bundle)
        finally:
            self._last_recall = other._last_recall

    async def aretrieve(self, str_or_query_bundle: QueryType, **call: Unpack[CallArguments]) -> list[NodeWithScore]:
        """`retrieve`, async."""
        if not call:
            return await super().aretrieve(str_or_query_bundle)
        other = self._for_call(call)
        try:
            return await other.aretrieve(str_or_query_bundle)
        finally:
            self._last_recall = other._last_recall

    def _for_call(self, call: CallArguments) -> Self:
        """A copy with the arguments of the call."""
        other = self.for_user(call["user_id"]) if "user_id" in call else copy(self)
        apply_call(other, call)
        return other

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self._lease.check_open()
        cue = cue_of(query_bundle, self._embed_model)
        if cue is None:
            return []
        scope = reading_everyones(self._scope) if self._is_auto else self._scope
        found = with_note(scope.recall(cue, **self._asked()), self._scope)
        found = self._last_recall = with_reason(found, scope, self.filters)
        return nodes_of(found, scope, self._docstore, self.score)

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self._lease.check_open()
        cue = await acue_of(query_bundle, self._embed_model)
        if cue is None:
            return []
        is_clear = not self._is_auto or stays_as_it_is(self._scope)
        scope = self._scope if is_clear else await asyncio.to_thread(reading_everyones, self._scope)
        found = with_note(await scope.arecall(cue, **self._asked()), self._scope)
        if not found:
            found = await asyncio.to_thread(with_reason, found, scope, self.filters)
        self._last_recall = found
        return nodes_of(found, scope, self._docstore, self.score)

    def _asked(self) -> dict[str, Any]:
        return {
            "k": self.similarity_top_k,
            "now": self.now,
            "filter": where_of(self.filters),
            "reinforce": self.reinforce,
            "policy": self.policy,
            "min_score": self.min_score,
            "min_similarity": self.min_similarity,
            "judge": self.judge,
            "turn": this_question() if self.turn is None else self.turn,
        }
