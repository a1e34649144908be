"""A post-processor that re-ranks the nodes of any retriever, and learns from reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, cast

from llama_index.core.bridge.pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    StrictInt,
    field_serializer,
    field_validator,
)
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_instrumentation import get_dispatcher
from typing_extensions import Self

from adaptive_memory_core import AdaptiveMemory, Policy, PolicyError, Recall, UserMemory
from adaptive_memory_core.error_messages import shown
from llama_adaptive_memory.candidates import Meaning, candidates_of, check_meaning, chosen
from llama_adaptive_memory.opening import (
    MemoryAccess,
    OpenedMemory,
    OpeningArguments,
    checked_index,
    collection_of,
    leased,
    refuse_to_pickle,
)
from llama_adaptive_memory.settings import AskedScope, Over, ScoreMeaning, fields_of
from llama_adaptive_memory.turns import this_question

MODEL = "adaptive-memory"  # our name in events
Told = Callable[[list[NodeWithScore]], list[NodeWithScore]]
dispatcher = get_dispatcher(__name__)


class AdaptiveMemoryPostprocessor(MemoryAccess, BaseNodePostprocessor):
    """Re-ranks the nodes of any retriever over a Chroma index, and writes read state back into that collection.

    With `over="everyone"` the nodes that belong to nobody are ranked for the user as well, and the state learned about
    them is that user's alone.

    Put it after post-processors that cut or re-score (`SimilarityPostprocessor`, cross-encoders) and before those that
    only re-order (`LongContextReorder`); let the retriever fetch three to five times `top_n`. Nodes of another user are
    dropped. Nodes from elsewhere, such as a keyword index, are ranked too, and nothing is learned about them.
    `last_recall.dropped` lists the dropped nodes with their reasons.

    `similarity` is the meaning of the incoming scores: "chroma" for those of a `ChromaVectorStore`, "calibrated" if 1
    is the same direction and 0 unrelated, "relative" for others; "auto" recognises Chroma's. The policy's similarity
    floor does not apply to relative scores.

    Examples:
        `pip install "adaptive-memory-retrieval[llama-index]"`

        ```python
        from llama_adaptive_memory import AdaptiveMemoryPostprocessor

        memory = AdaptiveMemoryPostprocessor.from_index(index, top_n=4)
        query_engine = index.as_query_engine(similarity_top_k=16, node_postprocessors=[memory])
        ```
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, validate_assignment=True)

    top_n: int | None = Field(default=None, ge=1, description="How many nodes to keep at most; None: all.")
    similarity: Meaning = Field(default="auto", description="What the incoming scores are.")
    reinforce: bool = Field(default=True, description="Whether what is returned counts as read.")
    policy: Policy | None = Field(default=None, description="How to rank; None: as the memory does.")
    score: ScoreMeaning = Field(default="blend", description="The blended score, or the one that came in.")
    min_score: float | None = Field(default=None, ge=0, le=1, description="The least blended score.")
    min_similarity: float | None = Field(default=None, ge=0, le=1, description="The least similarity.")
    user_id: str | StrictInt | None = Field(
        default=None, frozen=True, description="Whose nodes these are; None: nobody's."
    )
    over: Over = Field(default=None, frozen=True, description='"everyone": nodes that belong to nobody as well.')

    _scope: UserMemory = PrivateAttr()
    _lease: OpenedMemory = PrivateAttr()
    _last_recall: Recall | None = PrivateAttr(default=None)

    def __init__(
        self,
        memory: AdaptiveMemory | UserMemory | None = None,
        *,
        collection: Any = None,
        embed_model: Any = None,
        callback_manager: CallbackManager | None = None,
        **settings: Any,
    ) -> None:
        """The settings are the fields above and, with a collection, the options for opening its memory."""
        fields = {name: settings.pop(name) for name in list(settings) if name in type(self).model_fields}
        check_meaning(fields.get("similarity", "auto"))
        super().__init__(callback_manager=callback_manager or CallbackManager([]), **fields)
        scope = AskedScope(self.user_id, None, self.over)
        self._lease = leased(memory, collection, embed_model, cast("OpeningArguments", settings), scope, embeds=False)
        self._scope = self._lease.first_scope(self.user_id, over=self.over)
        # frozen fields: assigning them would not change the scope
        self.__dict__.update(user_id=self._scope.user, over=self._scope.scope.over)

    @classmethod
    def class_name(cls) -> str:
        return "AdaptiveMemoryPostprocessor"

    @classmethod
    def from_index(cls, index: Any, user_id: str | int | None = None, top_n: int | None = None, **more: Any) -> Self:
        """Over an index's collection."""
        known = checked_index(index)
        given = {"embed_model": known._embed_model, "callback_manager": known._callback_manager}
        return cls(collection=collection_of(known.vector_store), user_id=user_id, top_n=top_n, **{**given, **more})

    @classmethod
    def from_vector_store(
        cls, vector_store: Any, user_id: str | int | None = None, top_n: int | None = None, **more: Any
    ) -> Self:
        """Over a `ChromaVectorStore`."""
        return cls(collection=collection_of(vector_store), user_id=user_id, top_n=top_n, **more)

    def __reduce__(self) -> NoReturn:
        refuse_to_pickle()  # LlamaIndex would leave out the attribute with the memory

    @field_validator("policy", mode="before")
    @classmethod
    def _read_policy(cls, value: Any) -> Any:
        """A policy, also from the JSON that `model_dump` writes."""
        if isinstance(value, str) and value.lstrip().startswith("{"):
            return Policy.from_json(value)
        if isinstance(value, str):
            raise PolicyError(f"policy is {shown(value)}. Give a Policy, e.g. Policy.preset({shown(value)}), or None.")
        return value

    @field_serializer("policy")
    def _write_policy(self, value: Policy | None) -> str | None:
        return None if value is None else value.to_json()

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        self._lease.check_open()
        if not nodes:
            return []
        given = candidates_of(nodes, query_bundle, self._scope, self.similarity, self.min_similarity)
        with self._told(nodes, query_bundle) as told:
            found = self._scope.rerank(
                given.cue,
                given.similarities,
                k=self.top_n or len(nodes),
                reinforce=self.reinforce,
                policy=self.policy,
                min_score=self.min_score,
                min_similarity=given.min_similarity,
                turn=this_question(),
                guests=given.guests,
            )
            self._last_recall = found
            return told(chosen(given, found, fields_of(self._scope), self.score))

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        self._lease.check_open()
        if not nodes:
            return []
        given = candidates_of(nodes, query_bundle, self._scope, self.similarity, self.min_similarity)
        with self._told(nodes, query_bundle) as told:
            found = await self._scope.arerank(
                given.cue,
                given.similarities,
                k=self.top_n or len(nodes),
                reinforce=self.reinforce,
                policy=self.policy,
                min_score=self.min_score,
                min_similarity=given.min_similarity,
                turn=this_question(),
                guests=given.guests,
            )
            self._last_recall = found
            return told(chosen(given, found, fields_of(self._scope), self.score))

    @contextmanager
    def _told(self, nodes: Sequence[NodeWithScore], asked: QueryBundle | None) -> Iterator[Told]:
        """Send LlamaIndex's events for the start and the result of re-ranking."""
        top = self.top_n or len(nodes)
        dispatcher.event(ReRankStartEvent(query=asked, nodes=list(nodes), top_n=top, model_name=MODEL))
        words = "" if asked is None else asked.query_str
        payload: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: MODEL,
            EventPayload.QUERY_STR: words,
            EventPayload.TOP_K: top,
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=payload) as event:

            def told(ranked: list[NodeWithScore]) -> list[NodeWithScore]:
                event.on_end(payload={EventPayload.NODES: ranked})
                dispatcher.event(ReRankEndEvent(nodes=ranked))
                return ranked

            yield told
