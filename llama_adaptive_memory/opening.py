"""Opening a memory, sharing it among its readers, and closing it with the last reader."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, cast

from llama_index.core import Settings, VectorStoreIndex

from adaptive_memory_core import (
    AdaptiveMemory,
    Embedder,
    Fields,
    InvalidInputError,
    Keeping,
    Recall,
    SQLiteLedger,
    UserMemory,
)
from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.error_messages import no_attribute
from adaptive_memory_core.errors import ClosedError, EmbedderError
from adaptive_memory_core.flow.calls.running_calls import ClosedByWith
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.models.callbacks import ChannelFunction, Reranker
from adaptive_memory_core.options import Options
from adaptive_memory_core.reports import Receipt
from adaptive_memory_core.shared_memories import Share, find_memory, share
from adaptive_memory_core.store import locations
from adaptive_memory_core.store.embedder_check import NAME_KEY
from adaptive_memory_core.store.locations import IN_MEMORY
from adaptive_memory_core.wiring import check_options
from llama_adaptive_memory.recall_mark import Citations, used_in
from llama_adaptive_memory.settings import (
    ANY_SCOPE,
    AskedScope,
    Fallback,
    Over,
    check_scope,
    scope_of,
    unknown_argument,
)
from llama_adaptive_memory.turns import watch

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger


class OpenedMemory:
    """A memory in use. A memory given by the caller has no share and is left open."""

    def __init__(self, memory: AdaptiveMemory | UserMemory, share: Share | None = None, *, lent: bool = False) -> None:
        self.memory = memory
        self._share, self._lent, self._closed = share, lent, False

    def __reduce__(self) -> NoReturn:
        refuse_to_pickle()

    def check_open(self) -> None:
        """Raise ClosedError after `close`, even while others still have the memory open."""
        if self._closed:
            raise ClosedError("This reader was closed. Create another, e.g. by from_index(index).")

    def scope(self, user_id: str | int | None, fallback: Fallback = None, over: Over = None) -> UserMemory:
        return scope_of(self.memory, user_id, fallback, over)

    def first_scope(self, user_id: str | int | None, fallback: Fallback = None, over: Over = None) -> UserMemory:
        """The scope for a new reader. If this fails, the memory is released here, because nobody else will."""
        try:
            return self.scope(user_id, fallback, over)
        except BaseException:
            self.close()
            raise

    def lent(self) -> OpenedMemory:
        """The same memory for another reader, which does not have to release it."""
        return OpenedMemory(self.memory, self._share, lent=True)

    def close(self) -> None:
        """Write back learned state. Unless the memory is lent, release it as well; the last reader closes it."""
        self._closed = True
        share, self._share = self._share, None
        if share is not None:
            (Share(share.memory) if self._lent else share).close()


def refuse_to_pickle() -> NoReturn:
    """Raise the error for pickling an object that holds a memory."""
    raise TypeError(
        "A reader of a memory cannot be pickled: it holds an open ledger. Create it in the process that uses it, e.g. "
        "by from_index(index)."
    )


NOTHING_YET = "Nothing was recalled here yet."


class MemoryAccess(ClosedByWith):
    """Access to the memory of a reader: its methods, feedback and closing."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            inherited = getattr(super(), "__getattr__", None)  # pydantic's, for private attributes
            try:
                if inherited is not None:
                    return inherited(name)
            except AttributeError:
                pass
            raise no_attribute(type(self), name, "memory.", UserMemory)

    @property
    def memory(self: Any) -> UserMemory:
        """The memory that is read here, with all its methods: remember, pin, recalls, stats."""
        scope: UserMemory = self._scope
        return scope

    @property
    def last_recall(self: Any) -> Recall | None:
        """The newest answer, of any thread."""
        found: Recall | None = self._last_recall
        return found

    def explain_last(self) -> str:
        """How the newest answer was calculated, as a table: each hit's score in parts, and what was dropped and why."""
        found = self.last_recall
        return NOTHING_YET if found is None else found.explain()

    def feedback(
        self: Any, helpful: Any = (), unhelpful: Any = (), turn: str | None = None, *, answer: str | None = None
    ) -> int:
        """Record which parts of an answer were useful, now or later; return the number of new verdicts.

        Each may be an id, a node, a `NodeWithScore`, a response with its `source_nodes`, an agent's output, a Recall,
        or a list of these. Items that no longer exist, or come from another source, do not affect the others; with
        `turn` (the name that `one_question` gave), ids are those that the question's recalls returned. With the text of
        the `answer`, the judge decides which of `helpful` support it, and the others are unhelpful.
        """
        return feedback_on(self.memory, helpful, unhelpful, turn, answer, getattr(self, "judge", None))

    async def afeedback(
        self: Any, helpful: Any = (), unhelpful: Any = (), turn: str | None = None, *, answer: str | None = None
    ) -> int:
        """`feedback`, async."""
        return await afeedback_on(self.memory, helpful, unhelpful, turn, answer, getattr(self, "judge", None))

    def forget(self, ids_or_nodes: Any) -> list[Receipt]:
        """Remove records with every trace, by ids, nodes or answers, and return a receipt for each that existed.

        Raises NotFoundError if none exists. Shared records do not belong to the reader, and are skipped.
        """
        return forget_in(self.memory, ids_or_nodes)

    async def aforget(self, ids_or_nodes: Any) -> list[Receipt]:
        """`forget`, async."""
        return await aforget_in(self.memory, ids_or_nodes)

    def flush(self: Any) -> None:
        """Write all learned state into the collection before returning."""
        _whole(self).flush()

    def sync(self: Any) -> None:
        """Import other programs' writes to the collection before returning."""
        _whole(self).sync()

    async def async_sync(self: Any) -> None:
        """`sync`, async."""
        await _whole(self).async_sync()

    def close(self: Any) -> None:
        """Write back learned state, and release the memory; it is closed if nobody else uses it."""
        self._lease.close()

    async def aclose(self: Any) -> None:
        """`close`, async."""
        await asyncio.to_thread(self._lease.close)


def feedback_on(
    scope: UserMemory, helpful: Any, unhelpful: Any, turn: str | None, answer: str | None, judge: Any
) -> int:
    good, bad = _used(scope, helpful), _used(scope, unhelpful)
    return scope.feedback_on_answer(good, bad, turn, answer=answer, judge=judge)


async def afeedback_on(
    scope: UserMemory, helpful: Any, unhelpful: Any, turn: str | None, answer: str | None, judge: Any
) -> int:
    good, bad = [await asyncio.to_thread(_used, scope, some) for some in (helpful, unhelpful)]
    return await scope.afeedback_on_answer(good, bad, turn, answer=answer, judge=judge)


def _used(scope: UserMemory, things: Any) -> list[Used]:
    return used_in(things, scope.scope, Citations(scope))


def forget_in(scope: UserMemory, things: Any) -> list[Receipt]:
    return scope.forget([used.id for used in _used(scope, things) if not used.shared])


async def aforget_in(scope: UserMemory, things: Any) -> list[Receipt]:
    used = await asyncio.to_thread(_used, scope, things)
    return await scope.aforget([one.id for one in used if not one.shared])


def _whole(shared: Any) -> Any:
    """The reader's whole memory, of all users."""
    held: Any = shared._lease.memory
    whole: Any = held.memory if isinstance(held, UserMemory) else held
    return whole


SETTINGS = (  # of the constructors
    *("similarity_top_k", "top_n", "filters", "policy", "reinforce", "score", "min_score", "min_similarity"),
    *("user_id", "fallback", "over", "memory", "collection", "embed_model"),
)


class OpeningArguments(TypedDict, total=False):
    """Options for opening a memory over a collection, with the same names as in `AdaptiveMemory`."""

    ledger: str | Path | Ledger | None
    fields: Fields | None
    clock: Callable[[], float]
    write: Literal["behind", "through"]
    keeping: Keeping | None
    languages: Iterable[Language] | None
    channels: Mapping[str, ChannelFunction] | None
    reranker: Reranker | None
    judge: Any
    shared: Iterable[str]


def leased(
    memory: object,
    collection: Any,
    embed_model: Any,
    opening: OpeningArguments,
    scope: AskedScope = ANY_SCOPE,
    *,
    embeds: bool = True,
) -> OpenedMemory:
    """The given memory, or else the memory over the collection, for this scope. `embeds=False` works without a model.
    Invalid arguments raise before anything is opened."""
    watch()
    _checked(opening)
    if memory is None:
        if isinstance(shared := opening.get("shared", ()), Iterator):
            shared = opening["shared"] = tuple(shared)
        check_scope(scope, shared)
    if memory is None and collection is None:
        raise InvalidInputError("Neither memory= nor collection= was given. Give one, or use from_index(index).")
    if memory is None:
        return _lease(collection, embed_model, opening, embeds=embeds)
    if collection is not None or opening:
        others = ", ".join(["collection"] * (collection is not None) + sorted(opening))
        raise InvalidInputError(f"memory= was given, and {others} as well. Give a memory, or arguments to open one.")
    if not isinstance(memory, AdaptiveMemory | UserMemory):
        raise InvalidInputError(
            f"memory= is a {type(memory).__name__}. Give an AdaptiveMemory or one user's, e.g. "
            "memory.for_user('alice'); a collection goes into collection=, an index into from_index(index)."
        )
    return OpenedMemory(memory)


def _checked(opening: OpeningArguments) -> None:
    if unknown := sorted(set(opening) - set(OpeningArguments.__annotations__)):
        raise unknown_argument(unknown[0], (*SETTINGS, *OpeningArguments.__annotations__))


def collection_of(vector_store: Any) -> Any:
    """The collection of a `ChromaVectorStore`."""
    collection = getattr(vector_store, "client", None)
    if collection is None or not hasattr(collection, "configuration_json"):
        raise InvalidInputError(
            f"The vector store is a {type(vector_store).__name__}, which does not use Chroma. Give a "
            "ChromaVectorStore: VectorStoreIndex.from_vector_store(ChromaVectorStore(chroma_collection=...))."
        )
    return collection


def checked_index(index: Any) -> VectorStoreIndex:
    """An index over vectors; its collection is checked separately."""
    if not isinstance(index, VectorStoreIndex):
        raise InvalidInputError(
            f"The index is a {type(index).__name__}. Give a VectorStoreIndex over a ChromaVectorStore, or use "
            "from_vector_store(vector_store)."
        )
    return index


def _lease(collection: Any, embed_model: Any, opening: OpeningArguments, *, embeds: bool) -> OpenedMemory:
    """Share one memory among all retrievers over the collection with the same model name and options, because
    retrievers are often created for each request."""
    locations.check_collection(collection)
    check_options(cast("Options", opening))
    model = Settings.embed_model if embed_model is None and embeds else embed_model
    if model is not None:
        one = share(collection, embedder=model, **opening)
    else:
        one = find_memory(collection, **opening) or _without_model(collection, opening)
    return OpenedMemory(one.memory, one)


def _without_model(collection: Any, opening: OpeningArguments) -> Share:
    """A memory without an embedding model, since re-ranking needs none. It is not shared with callers that give a
    model."""

    def refuse(_: object) -> NoReturn:
        raise EmbedderError(
            "No embedding model was given, and this needs one. Give embed_model=..., or use from_index."
        )

    embedder = Embedder(_recorded_name(collection, opening.get("ledger")) or "none", refuse, refuse)
    return share(collection, embedder=embedder, found_as="no model", **opening)


def _recorded_name(collection: Any, given: str | Path | Ledger | None) -> str | None:
    """The recorded name of the model that the collection was written with, or None."""
    if noted := (collection.metadata or {}).get(NAME_KEY):
        return str(noted)
    ledger = locations.open_ledger(collection, given, durability="normal")
    ledger.attach(str(collection.id), collection.name)
    try:
        name = ledger.notes.embedder()[0]
    finally:
        if isinstance(ledger, SQLiteLedger) and ledger is not given and ledger.file.path != IN_MEMORY:
            ledger.close()
    return name
