"""What does LlamaIndex retrieve with? A retriever over a Chroma index that is there already; it learns as it reads."""

from __future__ import annotations

from copy import copy
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.constants import DEFAULT_SIMILARITY_TOP_K
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index_instrumentation import get_dispatcher
from typing_extensions import Self, Unpack

from adaptive_memory_core import AdaptiveMemory, Policy, Recall, UserMemory
from adaptive_memory_core.arguments import count
from llama_adaptive_memory.convert import node_of
from llama_adaptive_memory.embedding import acue_of, cue_of
from llama_adaptive_memory.filters import where_of
from llama_adaptive_memory.opening import OpeningArguments, checked_index, collection_of, leased
from llama_adaptive_memory.scopes import embedder_behind, fields_of
from llama_adaptive_memory.sharing import Sharing
from llama_adaptive_memory.turns import this_question

dispatcher = get_dispatcher(__name__)


class AdaptiveMemoryRetriever(Sharing, BaseRetriever):
    """Retrieves nodes as `index.as_retriever()` does, ranks them by more than similarity, and learns from the reading.

    One retriever is one user's: `user_id` selects the records whose metadata key `user_id` says so, and without one
    the records that belong to nobody. `for_user("bo")` is the same retriever for somebody else. All retrievers over a
    collection share one memory; `close()` (or `with`) writes back what it learned and lets go of it.

    All reads within one call of LlamaIndex count as one: see `llama_adaptive_memory.turns`. `reinforce=False` looks
    without learning, for evaluation. An empty query finds nothing.

    Examples:
        `pip install "adaptive-memory-retrieval[llama-index]"`

        ```python
        from llama_adaptive_memory import AdaptiveMemoryRetriever
        from llama_index.core.query_engine import RetrieverQueryEngine

        retriever = AdaptiveMemoryRetriever.from_index(index, similarity_top_k=4)
        query_engine = RetrieverQueryEngine.from_args(retriever)
        ```
    """

    def __init__(
        self,
        memory: AdaptiveMemory | UserMemory | None = None,
        *,
        collection: Any = None,
        embed_model: Any = None,
        user_id: str | None = None,
        similarity_top_k: int = DEFAULT_SIMILARITY_TOP_K,
        policy: Policy | None = None,
        filters: MetadataFilters | None = None,
        reinforce: bool = True,
        docstore: BaseDocumentStore | None = None,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
        **opening: Unpack[OpeningArguments],
    ) -> None:
        self.similarity_top_k = similarity_top_k
        self.filters = filters
        self.policy, self.reinforce = policy, reinforce
        self._last_recall: Recall | None = None
        self._docstore = docstore
        self._lease = leased(memory, collection, embed_model, opening)
        self._scope = self._lease.first_scope(user_id)
        self._embed_model = embedder_behind(self._scope) if embed_model is None else embed_model
        super().__init__(callback_manager, object_map, objects, verbose)

    @classmethod
    def from_index(
        cls, index: Any, user_id: str | None = None, similarity_top_k: int = DEFAULT_SIMILARITY_TOP_K, **more: Any
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
        cls, vector_store: Any, embed_model: Any = None, user_id: str | None = None, **more: Any
    ) -> Self:
        """Over a `ChromaVectorStore`; without an `embed_model` it is that of LlamaIndex's `Settings`."""
        return cls(collection=collection_of(vector_store), embed_model=embed_model, user_id=user_id, **more)

    @classmethod
    def from_collection(cls, collection: Any, embed_model: Any = None, user_id: str | None = None, **more: Any) -> Self:
        """Over a `chromadb.Collection`; without an `embed_model` it is that of LlamaIndex's `Settings`."""
        return cls(collection=collection, embed_model=embed_model, user_id=user_id, **more)

    @classmethod
    def from_memory(cls, memory: AdaptiveMemory | UserMemory, user_id: str | None = None, **more: Any) -> Self:
        """Over a memory, or one user's, that the caller has open and will close."""
        return cls(memory, user_id=user_id, **more)

    @property
    def similarity_top_k(self) -> int:
        """How many nodes a retrieval gives at most."""
        return self._similarity_top_k

    @similarity_top_k.setter
    def similarity_top_k(self, number: int) -> None:
        self._similarity_top_k = count(number, "similarity_top_k")

    @property
    def filters(self) -> MetadataFilters | None:
        """Which nodes may be found; within this user's, always."""
        return self._filters

    @filters.setter
    def filters(self, filters: MetadataFilters | None) -> None:
        self._where = where_of(filters)
        self._filters = filters

    def for_user(self, user_id: str | None) -> Self:
        """This retriever for another user (None: for the records that belong to nobody), over the same memory."""
        other = copy(self)
        other._lease = self._lease.lent()
        other._scope = other._lease.scope(user_id)
        other._last_recall = None
        return other

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        cue = cue_of(query_bundle, self._embed_model)
        if cue is None:
            return []
        found = self._scope.recall(
            cue,
            k=self._similarity_top_k,
            filter=self._where,
            reinforce=self.reinforce,
            policy=self.policy,
            turn=this_question(),
        )
        return self._nodes(found)

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        cue = await acue_of(query_bundle, self._embed_model)
        if cue is None:
            return []
        found = await self._scope.arecall(
            cue,
            k=self._similarity_top_k,
            filter=self._where,
            reinforce=self.reinforce,
            policy=self.policy,
            turn=this_question(),
        )
        return self._nodes(found)

    def _nodes(self, found: Recall) -> list[NodeWithScore]:
        """The hits as nodes. Those that are no plain text are taken from the document store, if it has them."""
        self._last_recall = found
        fields = fields_of(self._scope)
        nodes = {hit.id: node_of(hit.record, fields) for hit in found}
        elsewhere = [node.node_id for node in nodes.values() if type(node) is not TextNode]
        if elsewhere and self._docstore is not None:
            whole = {node.node_id: node for node in self._docstore.get_nodes(elsewhere, raise_error=False)}
            nodes = {one: whole.get(node.node_id, node) for one, node in nodes.items()}
        return [NodeWithScore(node=nodes[hit.id], score=hit.score) for hit in found]
