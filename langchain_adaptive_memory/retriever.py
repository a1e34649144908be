"""How does a chain recall? A LangChain retriever over a memory: called as any other, and it learns from being read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import LangSmithRetrieverParams
from langchain_core.runnables import RunnableConfig

from adaptive_memory_core import UserMemory
from langchain_adaptive_memory.call import FIELDS, checked_arguments, with_floors
from langchain_adaptive_memory.convert import arguments_of, documents_of, verdicts_on
from langchain_adaptive_memory.fields import RetrieverOverMemory
from langchain_adaptive_memory.source import tracing_names
from langchain_adaptive_memory.turns import turn_of
from langchain_adaptive_memory.user import NOT_GIVEN, scope_of, with_fallback

CONFIG = "_config"  # how the config of a call reaches the methods that LangChain calls, which it does not tell them


class AdaptiveMemoryRetriever(RetrieverOverMemory):
    """Retriever over a memory that learns from being read: ranks by relevance, recency and importance.

    Setup:
        ```bash
        pip install "adaptive-memory-retrieval[langchain]"
        ```

    Key init args:
        memory: AdaptiveMemory | UserMemory | chromadb.Collection | langchain_chroma.Chroma
            What to recall from. Over the last two a memory is opened, which all retrievers over them share.
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
            The least `metadata["score"]`. In the default blend a score is an absolute number, and 0.3 means the same
            for any question; under a policy of another blend it compares documents of one answer.
        similarity_threshold: float | None
            The least similarity to the query: for "nothing relevant here".
        reinforce: bool
            Whether what is returned counts as read.
        fallback: str | EVERYONE | None
            What users without records of their own read instead: a user that the memory declares to be `shared`, or
            EVERYONE. Such documents say so in `metadata["adaptive_memory"]["shared"]`.
        user_key: str | None
            The name that a user has in config["configurable"] and in LangGraph's context; None looks in neither.
        owns_memory: bool
            Whether `close()` lets go of the memory: True for one that was made here.

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
        scope = scope_of(self.memory, config, given=given, default=self.user_id, key=self.user_key)
        return scope if self.fallback is None else with_fallback(scope, self.fallback)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        return {**super()._get_ls_params(**kwargs), **tracing_names(self.memory)}

    def feedback(
        self,
        helpful: Iterable[Document] = (),
        unhelpful: Iterable[Document] = (),
        config: RunnableConfig | None = None,
        user_id: Any = NOT_GIVEN,
    ) -> int:
        """Say which returned documents were of use, at once or later; gives how many verdicts were new.

        Shared ones may be among them and are passed over: they are judged by those whose they are.
        """
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
