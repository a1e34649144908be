"""The fields of the retriever, each checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    SkipValidation,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from typing_extensions import Self

from adaptive_memory_core import AdaptiveMemoryError, Fields, InvalidInputError, Keeping, Policy, UserMemory
from adaptive_memory_core import arguments as check
from adaptive_memory_core.error_messages import no_attribute
from adaptive_memory_core.flow.calls.running_calls import ClosedByWith
from adaptive_memory_core.flow.fallback import fallback_of
from adaptive_memory_core.records import Scope
from adaptive_memory_core.shared_memories import Share
from langchain_adaptive_memory.as_retriever import translated
from langchain_adaptive_memory.call import FIELDS, checked, checked_policy, unknown_argument
from langchain_adaptive_memory.source import is_source, is_vectorstore, memory_over, space_of, usual_user, whole_memory
from langchain_adaptive_memory.turns import watch_runs
from langchain_adaptive_memory.used import LastRecalls
from langchain_adaptive_memory.user import (
    AUTO,
    EVERYONE,
    SOMEBODY,
    USER_KEY,
    Over,
    checked_default,
    checked_memory,
    checked_over,
    scope_of,
    with_fallback,
)

CHECKED = (*FIELDS, "user_id", "user_key", "over")


def check_fields(given: Mapping[str, Any], known: Iterable[str], shared: Iterable[str]) -> None:
    """Raise for fields that are not valid for a retriever over a memory with these shared users."""
    fields = translated(given)
    names = list(known)
    if unknown := sorted(fields.keys() - set(names)):
        raise unknown_argument(unknown[0], names)
    for name in CHECKED:
        if name in fields:
            checked_field(name, fields[name])
    fallback = fields.get("fallback")
    if (over := fields.get("over")) != AUTO:
        checked_over(over, fallback)
    if fallback is not None and fallback is not EVERYONE:
        fallback_of(Scope(SOMEBODY), check.user_scope(fallback), check.shared(shared), below=1)


def checked_field(name: str, value: Any) -> Any:
    """The value. Raises InvalidInputError if this field may not have it."""
    if name == "user_id":
        return checked_default(value)
    if name == "over":
        return value if value == AUTO else checked_over(value)
    if name == "user_key":
        return None if value is None else check.name(value, "user_key")
    return checked(name, value)


class RetrieverOverMemory(ClosedByWith, BaseRetriever):
    """The part of a retriever that exists before the first call.

    LangChain creates a new retriever from the fields whenever one of them is configured for a call. So all shared state
    is in the memory, which is passed on unchanged.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    memory: SkipValidation[Any]
    k: SkipValidation[int] = 4
    policy: SkipValidation[Policy | None] = None
    filter: SkipValidation[Mapping[str, Any] | None] = None
    user_id: SkipValidation[Any] = None
    score: SkipValidation[str] = "blend"
    min_score: SkipValidation[float | None] = None
    min_similarity: SkipValidation[float | None] = None
    fetch_k: SkipValidation[int | None] = None
    lambda_mult: SkipValidation[float | None] = None
    annotate: SkipValidation[bool] = True
    reinforce: SkipValidation[bool] = True
    on_embedder_error: SkipValidation[Literal["raise", "words"]] = "raise"
    judge: SkipValidation[Any] = None
    fallback: SkipValidation[Any] = None
    over: SkipValidation[Any] = AUTO
    user_key: str | None = USER_KEY
    last_recalls: SkipValidation[LastRecalls] = Field(default_factory=LastRecalls, exclude=True, repr=False)
    owns_memory: bool = False
    _share: Share | None = PrivateAttr(default=None)

    def __init__(self, **fields: Any) -> None:
        known = translated(fields, lambda: space_of(fields.get("memory")))
        if unknown := sorted(known.keys() - type(self).model_fields.keys()):
            raise unknown_argument(unknown[0], list(type(self).model_fields))
        try:
            super().__init__(**known)
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
        shared: Iterable[str] = (),
        **retriever_fields: Any,
    ) -> Self:
        """A retriever over an existing `chromadb.Collection`. All retrievers over one collection with the same embedder
        and options share one memory, which is closed with the last of them, so you can create one per request.

        `embeddings` are the embeddings of the stored vectors; None means the collection's own embedding function.
        `fields`, `ledger`, `write`, `keeping`, `clock` and `shared` are those of `AdaptiveMemory`.
        """
        more: dict[str, Any] = {} if clock is None else {"clock": clock}
        policy = checked_policy(retriever_fields.get("policy"))
        shared = tuple(shared) if isinstance(shared, Iterator) else shared
        check_fields(retriever_fields, cls.model_fields, shared)
        one = memory_over(
            collection,
            embeddings,
            fields=fields,
            ledger=ledger,
            write=write,
            keeping=keeping,
            policy=policy,
            judge=retriever_fields.get("judge"),
            shared=shared,
            **more,
        )
        try:
            usual = None if retriever_fields.get("over", AUTO) == "everyone" else usual_user(collection, one.memory)
            retriever_fields.setdefault("user_id", usual)
            return cls(memory=one.memory, owns_memory=True, **retriever_fields)
        except BaseException:
            one.close()
            raise

    @classmethod
    def from_vectorstore(cls, vectorstore: VectorStore, **arguments: Any) -> Self:
        """A retriever over a `langchain_chroma.Chroma`, with its embeddings and its documents.

        It takes the same arguments as `from_collection`. The vector store can still be used: documents added to it are
        found here.
        """
        if not is_vectorstore(vectorstore):
            raise InvalidInputError(
                f"The vector store is {type(vectorstore).__name__}. Give a langchain_chroma.Chroma; for a "
                "chromadb.Collection there is from_collection."
            )
        return cls.from_collection(vectorstore, **arguments)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                raise no_attribute(type(self), name, "memory.for_user(user).", UserMemory) from None

    @field_validator(*CHECKED, mode="before")
    @classmethod
    def _check(cls, value: Any, field: ValidationInfo) -> Any:
        return checked_field(str(field.field_name), value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field, with the same check as in the constructor."""
        super().__setattr__(name, checked_field(name, value) if name in CHECKED else value)

    @model_validator(mode="after")
    def _open(self) -> Self:
        if is_source(self.memory):
            source, self.owns_memory = self.memory, True
            self._share = memory_over(source, policy=self.policy, judge=self.judge)
            self.memory = self._share.memory
            if "user_id" not in self.model_fields_set and self.over != "everyone":
                self.user_id = usual_user(source, self.memory)
        checked_memory(self.memory)
        checked_over(self._over, self.fallback)
        if isinstance(self.memory, UserMemory):
            scope_of(self.memory, default=self.user_id, key=None, over=self._over)
        if self.fallback is not None:
            with_fallback(self.memory, self.fallback)
        if self.owns_memory and self._share is None:
            self._share = Share(whole_memory(self.memory))
        return self

    @property
    def _over(self) -> Over:
        """The others whose records users also read; None for "auto"."""
        return None if self.over == AUTO else self.over

    def close(self) -> None:
        """Write back what is due and release the memory, if it was made here; it is closed if no other retriever uses
        it. A memory that was given stays open."""
        if self._share is not None:
            self._share.close()

    async def aclose(self) -> None:
        """`close`, async."""
        if self._share is not None:
            await self._share.aclose()
