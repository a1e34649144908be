"""A LangChain retriever over a memory, which learns from being read."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import LangSmithRetrieverParams
from langchain_core.runnables import RunnableConfig

from adaptive_memory_core import Recall, UserMemory
from adaptive_memory_core.reports import Receipt
from adaptive_memory_core.store.named_users import reading_everyones, stays_as_it_is, with_note
from langchain_adaptive_memory.call import FIELDS, checked_arguments, is_blank, of_recall
from langchain_adaptive_memory.convert import documents_of, items_of
from langchain_adaptive_memory.fields import RetrieverOverMemory
from langchain_adaptive_memory.source import in_threads, tracing_names, whole_memory
from langchain_adaptive_memory.turns import turn_of
from langchain_adaptive_memory.used import used_in, with_reason
from langchain_adaptive_memory.user import AUTO, NOT_GIVEN, scope_of, with_fallback

WORDS_ALONE = "The embedder failed, so these documents were found by words alone (on_embedder_error='words')."
logger = logging.getLogger(__name__)
CONFIG = "_config"  # passes a call's config to the methods that LangChain calls without it


class AdaptiveMemoryRetriever(RetrieverOverMemory):
    """A LangChain retriever over a memory: it ranks by relevance, recency and importance, and learns from what is read.

    Setup:
        `pip install "adaptive-memory-retrieval[langchain]"`

    Key init args:
        memory: AdaptiveMemory | UserMemory | chromadb.Collection | langchain_chroma.Chroma
            What to recall from. Over the last two a memory is opened, which all retrievers over them share.
        k: int
            The largest number of documents to return.
        policy: Policy | None
            How to rank; None is the memory's own policy.
        filter: Mapping | None
            A Chroma `where` over the documents' metadata. It narrows what a user sees and cannot widen it.
        user_id: str | EVERYONE | None
            The user if the call names nobody. None: each call must name a user. EVERYONE: the records that belong to
            no user. Not given, for a collection or a vector store: EVERYONE unless its records name users.
        min_score: float | None
            The least `metadata["score"]`. In the default blend a score is an absolute number, and 0.3 means the same
            for any question; under a policy of another blend it compares documents of one answer.
        min_similarity: float | None
            The least similarity to the query: for "nothing relevant here".
        score: "blend" | "similarity"
            What `metadata["score"]` is: the blended score of the ranking, or the similarity to the query.
        fetch_k: int | None
            The least number of candidates to rank; None is the policy's number.
        lambda_mult: float | None
            As in MMR: 1 is similarity to the query alone, 0 diversity of the documents alone. None: the policy's.
        annotate: bool
            Whether `score` and `adaptive_memory` are added to the metadata. `feedback` recognises a document either
            way.
        reinforce: bool
            Whether the returned documents count as read.
        on_embedder_error: "raise" | "words"
            What happens if the query cannot be embedded: the error is raised, or the documents found by words are
            returned, with a warning, a line in the log and `metadata["adaptive_memory"]["embedder_failed"]`.
        judge: chat model | judges.Judge | None
            It judges whether GAM-RAG needs another round (`Policy.preset("gam_rag")`), when a text is true, and with
            `feedback(documents, answer=...)` which documents support an answer. None is the memory's own.
        over: "auto" | "everyone" | None
            Whether each user also reads the records that name no user, such as a team's documents. The state learned
            about them is the reader's alone; they are marked in `metadata["adaptive_memory"]["shared"]`. "auto": while
            no record of the collection names a user. None: never.
        fallback: str | EVERYONE | None
            The scope that users without any records read instead: a user that the memory declares to be `shared`, or
            EVERYONE. Such documents are marked in `metadata["adaptive_memory"]["shared"]`.
        user_key: str | None
            The name that a user has in config["configurable"] and in LangGraph's context; None looks in neither.
        last_recalls: LastRecalls
            The newest answers, for `explain_last`.
        owns_memory: bool
            Whether `close()` releases the memory: True for a memory that was opened here.

    Instantiate:
        ```python
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
        chain.invoke("which database?", config={"configurable": {"user_id": "alice"}})
        ```

    `search_type` and `search_kwargs` work as in `as_retriever()`, as far as they apply here. Each call takes all of
    these from `k` to `on_embedder_error`, `now` (POSIX seconds: as of that day) and `turn` (a name for the question;
    usually the root of the run tree, so that all calls for one question are one read). A blank query finds nothing.
    """

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        return super().invoke(input, config, **{CONFIG: config, **kwargs})

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        return await super().ainvoke(input, config, **{CONFIG: config, **kwargs})

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return self._found(query, run_manager.run_id, kwargs)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return await in_threads(self.memory, self._found, query, run_manager.run_id, kwargs)

    def _found(self, query: str, run_id: UUID, kwargs: dict[str, Any]) -> list[Document]:
        config = kwargs.pop(CONFIG, None)
        given = checked_arguments(kwargs)
        scope = own = self._scope(config, given.pop("user_id", NOT_GIVEN))
        asked = {name: getattr(self, name) for name in FIELDS} | given
        asked["turn"] = turn_of(run_id) if asked.get("turn") is None else asked["turn"]
        if is_blank(query):
            return []
        if self.over == AUTO and not (isinstance(self.memory, UserMemory) or stays_as_it_is(own)):
            scope = reading_everyones(scope)
        recall: Recall = scope.recall(query, **of_recall(asked, scope.memory.policy))
        if recall.cue.vector is None:
            logger.warning(WORDS_ALONE)
            warnings.warn(WORDS_ALONE, RuntimeWarning, stacklevel=5)
        recall = with_reason(scope, with_note(recall, own), asked["filter"])
        self.last_recalls.note(recall)
        return documents_of(recall, scope.memory.fields, score=asked["score"], annotate=asked["annotate"])

    def _scope(self, config: RunnableConfig | None, given: Any = NOT_GIVEN) -> UserMemory:
        scope = scope_of(self.memory, config, given=given, default=self.user_id, key=self.user_key, over=self._over)
        return scope if self.fallback is None else with_fallback(scope, self.fallback)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        return {**super()._get_ls_params(**kwargs), **tracing_names(self.memory)}

    def feedback(
        self,
        helpful: Any = (),
        unhelpful: Any = (),
        config: RunnableConfig | None = None,
        user_id: Any = NOT_GIVEN,
        turn: str | None = None,
        *,
        answer: str | None = None,
    ) -> int:
        """Record which documents of an answer were useful, now or later; return the number of new verdicts.

        Each item may be a document, an id (of a record, a recall, or a turn, such as the run's id), the output of a
        chain or agent, or a list of these. Shared documents are skipped, since only their owner judges them. Missing
        documents do not affect the others. With `turn`, ids of records are those that the turn returned. With the text
        of the `answer`, the judge decides which of `helpful` support it, and the others are unhelpful.
        """
        scope = self._scope(config, user_id)
        return scope.feedback_on_answer(used_in(helpful), used_in(unhelpful), turn, answer=answer, judge=self.judge)

    async def afeedback(
        self,
        helpful: Any = (),
        unhelpful: Any = (),
        config: RunnableConfig | None = None,
        user_id: Any = NOT_GIVEN,
        turn: str | None = None,
        *,
        answer: str | None = None,
    ) -> int:
        """`feedback`, async."""
        scope, good, bad = self._scope(config, user_id), used_in(helpful), used_in(unhelpful)
        return await scope.afeedback_on_answer(good, bad, turn, answer=answer, judge=self.judge)

    def forget(
        self, ids_or_documents: Any, config: RunnableConfig | None = None, user_id: Any = NOT_GIVEN
    ) -> list[Receipt]:
        """Remove records with every trace, by ids or documents, and return a receipt for each. Raises NotFoundError if
        none exists."""
        return self._scope(config, user_id).forget([one.id for one in used_in(ids_or_documents) if not one.shared])

    async def aforget(
        self, ids_or_documents: Any, config: RunnableConfig | None = None, user_id: Any = NOT_GIVEN
    ) -> list[Receipt]:
        """`forget`, async."""
        own = [one.id for one in used_in(ids_or_documents) if not one.shared]
        return await self._scope(config, user_id).aforget(own)

    def flush(self) -> None:
        """Write all learned state into the collection before returning."""
        whole_memory(self.memory).flush()

    async def aflush(self) -> None:
        """`flush`, async."""
        await whole_memory(self.memory).aflush()

    def sync(self) -> None:
        """Import other programs' writes to the collection before returning."""
        whole_memory(self.memory).sync()

    async def async_sync(self) -> None:
        """`sync`, async."""
        await whole_memory(self.memory).async_sync()

    def explain_last(self, config: RunnableConfig | None = None, user_id: Any = NOT_GIVEN) -> str:
        """How this user's newest answer was calculated: each document's score in parts, what was dropped, and why."""
        return self.last_recalls.explain(self._scope(config, user_id).scope)

    def add_documents(
        self, documents: Iterable[Document], config: RunnableConfig | None = None, user_id: Any = NOT_GIVEN
    ) -> list[str]:
        """Store documents and return their ids. Metadata keys of `Fields`, such as `importance`, set those properties.

        Documents without text, such as empty pages, are skipped with a warning and have no id in the result.
        """
        return self._added(documents, self._scope(config, user_id))

    async def aadd_documents(
        self, documents: Iterable[Document], config: RunnableConfig | None = None, user_id: Any = NOT_GIVEN
    ) -> list[str]:
        """`add_documents`, async."""
        return await in_threads(self.memory, self._added, documents, self._scope(config, user_id))

    def _added(self, documents: Iterable[Document], scope: UserMemory) -> list[str]:
        items = items_of(documents, scope.scope, scope.memory.fields)
        ids: list[str] = scope.remember_many(items)
        return ids
