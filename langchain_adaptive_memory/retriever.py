"""How does a chain recall? A LangChain retriever over a memory: called as any other, and it learns from being read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, SkipValidation, ValidationError, ValidationInfo, field_validator, model_validator
from typing_extensions import Self

from adaptive_memory_core import AdaptiveMemoryError, Fields, InvalidInputError, Keeping, Policy, UserMemory
from langchain_adaptive_memory.call import FIELDS, checked, checked_arguments, checked_policy, with_floors
from langchain_adaptive_memory.convert import arguments_of, documents_of, verdicts_on
from langchain_adaptive_memory.source import is_source, is_vectorstore, memory_over, tracing_names, usual_user
from langchain_adaptive_memory.turns import turn_of, watch_runs
from langchain_adaptive_memory.user import NOT_GIVEN, USER_KEY, checked_default, checked_memory, scope_of

CONFIG = "_config"  # how the config of a call reaches the methods that LangChain calls, which it does not tell them


class AdaptiveMemoryRetriever(BaseRetriever):
    """Retriever over a memory that learns from being read: ranks by relevance, recency and importance.

    Setup:
        ```bash
        pip install "adaptive-memory-retrieval[langchain]"
        ```

    Key init args:
        memory: AdaptiveMemory | UserMemory | chromadb.Collection | langchain_chroma.Chroma
            What to recall from. Of the last two a memory is made, which `close()` closes.
        k: int
            How many documents, at the most.
        policy: Policy | None
            How to rank; None is the memory's own policy.
        filter: Mapping | None
            A Chroma `where` over the documents' metadata. It narrows what a user sees and cannot widen it.
        user_id: str | EVERYONE | None
            Whose memory, where the call names nobody. None: each call must name a user. EVERYONE: the records that
            belong to no user. Not given, for a collection or a vector store: EVERYONE unless its records name users.
        score_threshold: float | None
            The least `metadata["score"]`. It compares documents of one answer and says nothing across answers.
        similarity_threshold: float | None
            The least similarity to the query: for "nothing relevant here".
        reinforce: bool
            Whether what is returned counts as read.
        user_key: str | None
            The name that a user has in config["configurable"] and in LangGraph's context; None looks in neither.

    Instantiate:
        ```python
        from langchain_adaptive_memory import AdaptiveMemoryRetriever

        retriever = AdaptiveMemoryRetriever.from_vectorstore(vectorstore, k=4)
        ```

    Usage:
        ```python
        retriever.invoke("which database do they like?")
        retriever.invoke("the same, of one user", user_id="alice", k=2, filter={"kind": "fact"})
        retriever.invoke("the same", config={"configurable": {"user_id": "alice"}})
        ```

    Use within a chain:
        ```python
        chain = {"context": retriever | format_docs, "question": RunnablePassthrough()} | prompt | llm
        chain.invoke("which database do they like?", config={"configurable": {"user_id": "alice"}})
        ```

    Each call also takes `k`, `policy`, `filter`, `user_id`, `score_threshold`, `similarity_threshold`, `reinforce`,
    `now` (POSIX seconds, for evaluation) and `turn` (a name for the user's question; usually that of the run tree's
    root, so that all calls made for one question are one read).
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    memory: SkipValidation[Any]
    k: SkipValidation[int] = 4
    policy: SkipValidation[Policy | None] = None
    filter: SkipValidation[Mapping[str, Any] | None] = None
    user_id: SkipValidation[Any] = None
    score_threshold: SkipValidation[float | None] = None
    similarity_threshold: SkipValidation[float | None] = None
    reinforce: SkipValidation[bool] = True
    user_key: str | None = USER_KEY
    owns_memory: bool = False

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            ours = [one.get("ctx", {}).get("error") for one in error.errors()]
            raise next((one for one in ours if isinstance(one, AdaptiveMemoryError)), error) from None
        watch_runs()

    @classmethod
    def from_collection(
        cls,
        collection: Any,
        embeddings: Any = None,
        *,
        fields: Fields | None = None,
        ledger: Any = None,
        write: Literal["behind", "through"] = "behind",
        keeping: Keeping | None = None,
        clock: Callable[[], float] | None = None,
        **retriever_fields: Any,
    ) -> Self:
        """A retriever over a `chromadb.Collection` as it is, with its own memory; close it when done.

        `embeddings` are those that the vectors were made with, None for the collection's own embedding function.
        `fields`, `ledger`, `write`, `keeping` and `clock` are those of `AdaptiveMemory`.
        """
        more: dict[str, Any] = {} if clock is None else {"clock": clock}
        policy = checked_policy(retriever_fields.get("policy"))
        memory = memory_over(
            collection, embeddings, fields=fields, ledger=ledger, write=write, keeping=keeping, policy=policy, **more
        )
        try:
            retriever_fields.setdefault("user_id", usual_user(collection, memory))
            return cls(memory=memory, owns_memory=True, **retriever_fields)
        except BaseException:
            memory.close()
            raise

    @classmethod
    def from_vectorstore(cls, vectorstore: VectorStore, **arguments: Any) -> Self:
        """A retriever over a `langchain_chroma.Chroma`, with its own embeddings and all that is in it.

        It takes what `from_collection` takes. The vector store can still be used: documents that are added to it are
        found here.
        """
        if not is_vectorstore(vectorstore):
            raise InvalidInputError(
                f"The vector store is {type(vectorstore).__name__}. Give a langchain_chroma.Chroma; for a "
                "chromadb.Collection there is from_collection."
            )
        return cls.from_collection(vectorstore, **arguments)

    @field_validator(*FIELDS, mode="before")
    @classmethod
    def _check(cls, value: Any, field: ValidationInfo) -> Any:
        return checked(str(field.field_name), value)

    @field_validator("user_id", mode="before")
    @classmethod
    def _check_user(cls, value: Any) -> Any:
        return checked_default(value)

    @model_validator(mode="after")
    def _open(self) -> Self:
        if is_source(self.memory):
            source, self.owns_memory = self.memory, True
            self.memory = memory_over(source, policy=self.policy)
            if "user_id" not in self.model_fields_set:
                self.user_id = usual_user(source, self.memory)
        checked_memory(self.memory)
        if isinstance(self.memory, UserMemory):
            scope_of(self.memory, default=self.user_id, key=None)
        return self

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        return super().invoke(input, config, **{CONFIG: config, **kwargs})

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        return await super().ainvoke(input, config, **{CONFIG: config, **kwargs})

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        scope, arguments = self._asked(run_manager.run_id, kwargs)
        return documents_of(scope.recall(query, **arguments), scope.memory.fields)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        scope, arguments = self._asked(run_manager.run_id, kwargs)
        return documents_of(await scope.arecall(query, **arguments), scope.memory.fields)

    def _asked(self, run: UUID, kwargs: dict[str, Any]) -> tuple[UserMemory, dict[str, Any]]:
        """Whose memory, and what to ask of it."""
        config = kwargs.pop(CONFIG, None)
        given = checked_arguments(kwargs)
        scope = self._scope(config, given.pop("user_id", NOT_GIVEN))
        asked = {name: getattr(self, name) for name in FIELDS} | given
        policy = scope.memory.policy if asked["policy"] is None else asked["policy"]
        return scope, {
            "k": asked["k"],
            "filter": asked["filter"],
            "policy": with_floors(policy, asked["score_threshold"], asked["similarity_threshold"]),
            "reinforce": asked["reinforce"],
            "now": asked.get("now"),
            "turn": turn_of(run) if asked.get("turn") is None else asked["turn"],
        }

    def _scope(self, config: RunnableConfig | None, given: Any = NOT_GIVEN) -> UserMemory:
        return scope_of(self.memory, config, given=given, default=self.user_id, key=self.user_key)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        return {**super()._get_ls_params(**kwargs), **tracing_names(self.memory)}

    def feedback(
        self,
        helpful: Iterable[Document] = (),
        unhelpful: Iterable[Document] = (),
        config: RunnableConfig | None = None,
        user_id: Any = NOT_GIVEN,
    ) -> int:
        """Say which returned documents were of use, at once or later; gives how many verdicts were new."""
        scope, verdicts = self._scope(config, user_id), verdicts_on(helpful, unhelpful)
        return sum(scope.feedback(recall, *ids) for recall, ids in verdicts.items())

    async def afeedback(
        self,
        helpful: Iterable[Document] = (),
        unhelpful: Iterable[Document] = (),
        config: RunnableConfig | None = None,
        user_id: Any = NOT_GIVEN,
    ) -> int:
        """`feedback`, async."""
        scope, verdicts = self._scope(config, user_id), verdicts_on(helpful, unhelpful)
        return sum([await scope.afeedback(recall, *ids) for recall, ids in verdicts.items()])

    def add_documents(
        self, documents: Iterable[Document], config: RunnableConfig | None = None, user_id: Any = NOT_GIVEN
    ) -> list[str]:
        """Remember documents; gives their ids. Metadata named as in `Fields`, such as `importance`, has its meaning."""
        scope = self._scope(config, user_id)
        return scope.remember_many([arguments_of(one, scope.scope, scope.memory.fields) for one in documents])

    async def aadd_documents(
        self, documents: Iterable[Document], config: RunnableConfig | None = None, user_id: Any = NOT_GIVEN
    ) -> list[str]:
        """`add_documents`, async."""
        scope = self._scope(config, user_id)
        return await scope.aremember_many([arguments_of(one, scope.scope, scope.memory.fields) for one in documents])

    def close(self) -> None:
        """Write back what is due and let go, if the memory was made for this retriever; else nothing."""
        if self.owns_memory:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
