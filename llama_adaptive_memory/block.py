"""A memory block: the memories that it shows, and the messages that it stores."""

from __future__ import annotations

import hashlib
import logging
import uuid
import warnings
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from typing import Any, Literal, NoReturn, cast

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, StrictInt
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.schema import TextNode
from typing_extensions import Self

from adaptive_memory_core import AdaptiveMemory, Policy, Recall, UserMemory, error_messages
from adaptive_memory_core.arguments import user_scope
from adaptive_memory_core.context.clean import estimated_tokens
from adaptive_memory_core.reports import Receipt
from llama_adaptive_memory.convert import stored_metadata
from llama_adaptive_memory.opening import (
    MemoryAccess,
    OpenedMemory,
    OpeningArguments,
    afeedback_on,
    aforget_in,
    checked_index,
    collection_of,
    feedback_on,
    forget_in,
    leased,
    refuse_to_pickle,
)
from llama_adaptive_memory.settings import AskedScope, Fallback, Over, session_memory, unknown_argument, with_others
from llama_adaptive_memory.turns import this_question

SPOKEN = (MessageRole.USER, MessageRole.ASSISTANT)


def last_said(messages: Sequence[ChatMessage]) -> str:
    """The text of the user's last message."""
    said = (message.content or "" for message in reversed(messages) if message.role == MessageRole.USER)
    return next((text.strip() for text in said if text.strip()), "")


def records_of(messages: Sequence[ChatMessage], session: str | None) -> list[dict[str, Any]]:
    """The messages of a session as records, whose ids show which messages are already in the window."""
    spoken = [(one, (one.content or "").strip()) for one in messages if one.role in SPOKEN]
    return [_record(text, one.role.value, session) for one, text in spoken if text]


def short_enough(records: Sequence[dict[str, Any]], most: int) -> dict[str, dict[str, Any]]:
    """The records by id, without records that are too long: one such record must not prevent storing the others."""
    for record in records:
        if len(record["text"]) > most:
            warnings.warn(
                f"A message of {len(record['text']):,} characters is not stored: the memory keeps texts of up to "
                f"{most:,}. Keeping(text_characters=...) allows more.",
                RuntimeWarning,
                stacklevel=2,
            )
    return {record["id"]: record for record in records if len(record["text"]) <= most}


def _record(text: str, role: str, session: str | None) -> dict[str, Any]:
    """A message as a record that is also the node that LlamaIndex would have created. The same text of one role in a
    session is one record, however often it is repeated."""
    record_id = str(uuid.uuid5(uuid.NAMESPACE_OID, "\0".join((session or "", role, text))))
    metadata = {"role": role} if session is None else {"role": role, "session_id": session}
    hidden = sorted(metadata)
    node = TextNode(
        id_=record_id,
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
    return {
        "id": record_id,
        "text": text,
        "kind": role,
        "role": role,
        "session": session,
        "metadata": stored_metadata(node),
    }


BlockStyle = Literal["text", "xml"]
_ENTRIES = ("<memory", "<neighbour", "<in_brief", "<did_not_fit")


def shortened(content: str, style: BlockStyle, tokens: int) -> str | None:
    """The content shortened by at least this many tokens, in whole memories from the end; None if none would be left.

    >>> shortened("heading\\n- best\\n- second", "text", 1)
    'heading\\n- best'
    >>> shortened("<all>\\n<memory>best</memory>\\n<memory>second</memory>\\n</all>", "xml", 1)
    '<all>\\n<memory>best</memory>\\n</all>'
    """
    lines, saved = content.split("\n"), 0
    while saved < tokens:
        last = _last_entry(lines, style)
        if last is None:
            return None
        saved += estimated_tokens(lines.pop(last) + "\n")
        if style == "xml":
            lines = _without_empty(lines)
    return "\n".join(lines) if _last_entry(lines, style) is not None else None


def _last_entry(lines: list[str], style: BlockStyle) -> int | None:
    """The number of the line with the last memory; the first line of a text is its heading."""
    if style == "text":
        return len(lines) - 1 if len(lines) > 1 else None
    entries = [number for number, line in enumerate(lines) if line.startswith(_ENTRIES)]
    return entries[-1] if entries else None


def _without_empty(lines: list[str]) -> list[str]:
    """The lines without conversations that have no turns left."""
    empty = {
        number
        for number, (one, other) in enumerate(pairwise(lines))
        if one.startswith("<conversation") and other == "</conversation>"
    }
    return [line for number, line in enumerate(lines) if number not in empty and number - 1 not in empty]


NOT_SHOWN = "The recalled memories cannot be shown, and the chat continues without them"
logger = logging.getLogger("llama_adaptive_memory.block")
User = str | StrictInt | Callable[[str], str | int] | None


class AdaptiveMemoryBlock(MemoryAccess, BaseMemoryBlock[str]):
    """A block for LlamaIndex's `Memory`: recalls what the user said before, and stores messages that leave the window.

    `user_id` is a name, or a function from the session's id to a name, so one block serves many users. Without it each
    session has a separate memory, which belongs to no user; `for_session(...)` gives it. Messages that leave the window
    are stored as nodes that every retriever over the collection finds.

    Recalled memories are shown as evidence, and none can end the block. LlamaIndex puts blocks into the system message;
    `Memory.from_defaults(..., insert_method=InsertMethod.USER)` puts them into the user's, where evidence belongs.

    However often LlamaIndex asks the block within one turn, the recalled memories count as read once.

    Examples:
        `pip install "adaptive-memory-retrieval[llama-index]"`

        ```python
        from llama_adaptive_memory import AdaptiveMemoryBlock
        from llama_index.core.memory import Memory

        block = AdaptiveMemoryBlock.from_index(index, user_id="alice")
        memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
        answer = await agent.run("What do I drink?", memory=memory)
        ```
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", validate_assignment=True)

    name: str = Field(default="adaptive_memory", description="The name of the block in the prompt.")
    description: str | None = Field(default="What was said before this conversation's window.")
    similarity_top_k: int = Field(default=5, ge=1, description="How many memories to recall at most.")
    max_tokens: int | None = Field(default=600, ge=1, description="What they may take of the prompt (estimated).")
    style: BlockStyle = Field(default="text", description="How memories are written: lines of text, or elements.")
    reinforce: bool = Field(default=True, description="Whether what is recalled counts as read.")
    policy: Policy | None = Field(default=None, description="How to rank; None: as the memory does.")
    user_id: User = Field(default=None, description="Whose memory; None: the session's.")
    min_score: float | None = Field(default=None, ge=0, le=1, description="The least blended score.")
    min_similarity: float | None = Field(default=None, ge=0, le=1, description="The least similarity.")
    fallback: Fallback = Field(default=None, description="What users without records read instead.")
    over: Over = Field(default=None, description='"everyone": what belongs to nobody is recalled as well.')
    judge: Any = Field(default=None, exclude=True, description="A chat model or judges.Judge(...); None: the memory's.")
    on_error: Literal["warn", "raise"] = Field(default="warn", description="Where memories cannot be shown: leave out.")

    _lease: OpenedMemory = PrivateAttr()
    _last_recall: Recall | None = PrivateAttr(default=None)
    _name_of_turns: str = PrivateAttr(default_factory=lambda: str(uuid.uuid4()))

    def __init__(
        self,
        memory: AdaptiveMemory | UserMemory | None = None,
        *,
        collection: Any = None,
        embed_model: Any = None,
        **settings: Any,
    ) -> None:
        opening = {name: settings.pop(name) for name in OpeningArguments.__annotations__ if name in settings}
        fields = type(self).model_fields
        if "judge" in opening:
            settings["judge"] = opening.pop("judge")
        if unknown := sorted(settings.keys() - fields.keys()):
            raise unknown_argument(unknown[0], [*fields, *OpeningArguments.__annotations__])
        super().__init__(**settings)
        named = None if callable(self.user_id) else self.user_id
        scope = AskedScope(named, self.fallback, self.over)
        if memory is None and self.judge is not None:
            opening["judge"] = self.judge
        self._lease = leased(memory, collection, embed_model, cast("OpeningArguments", opening), scope)
        if named is not None or isinstance(memory, UserMemory) or self.fallback is not None:
            self._lease.first_scope(named, self.fallback, self.over)

    @classmethod
    def from_index(cls, index: Any, user_id: User = None, **more: Any) -> Self:
        """Over an index's collection, with its embedding model."""
        known = checked_index(index)
        given = {"embed_model": known._embed_model, **more}
        return cls(collection=collection_of(known.vector_store), user_id=user_id, **given)

    @classmethod
    def from_vector_store(
        cls,
        vector_store: Any,
        embed_model: Any = None,
        user_id: User = None,
        **more: Any,
    ) -> Self:
        """Over a `ChromaVectorStore`; `embed_model` defaults to that of LlamaIndex's `Settings`."""
        return cls(collection=collection_of(vector_store), embed_model=embed_model, user_id=user_id, **more)

    def __reduce__(self) -> NoReturn:
        refuse_to_pickle()  # LlamaIndex would leave out the attribute with the memory

    @property
    def memory(self) -> UserMemory:
        """The memory that is read here, if it belongs to one user; otherwise use `for_session`."""
        return self.for_session(None)

    def for_session(self, session_id: str | None) -> UserMemory:
        """The memory of the session's user; a session without a user raises an error."""
        self._lease.check_open()
        if self.user_id is None or isinstance(self._lease.memory, UserMemory):
            return with_others(session_memory(self._lease.memory, session_id), self.fallback, self.over)
        user = self.user_id(session_id or "") if callable(self.user_id) else self.user_id
        return self._lease.scope(user_scope(user).name, self.fallback, self.over)

    def feedback(
        self,
        helpful: Any = (),
        unhelpful: Any = (),
        turn: str | None = None,
        session_id: str | None = None,
        *,
        answer: str | None = None,
    ) -> int:
        """Record which recalled memories were useful; give `session_id` if the user depends on it. With the text of
        the `answer`, the judge decides: `block.feedback(block.last_recall, answer=str(response))`."""
        return feedback_on(self.for_session(session_id), helpful, unhelpful, turn, answer, self.judge)

    async def afeedback(
        self,
        helpful: Any = (),
        unhelpful: Any = (),
        turn: str | None = None,
        session_id: str | None = None,
        *,
        answer: str | None = None,
    ) -> int:
        """`feedback`, async."""
        return await afeedback_on(self.for_session(session_id), helpful, unhelpful, turn, answer, self.judge)

    def forget(self, ids_or_nodes: Any, session_id: str | None = None) -> list[Receipt]:
        """Remove memories with every trace, and return a receipt for each that existed."""
        return forget_in(self.for_session(session_id), ids_or_nodes)

    async def aforget(self, ids_or_nodes: Any, session_id: str | None = None) -> list[Receipt]:
        """`forget`, async."""
        return await aforget_in(self.for_session(session_id), ids_or_nodes)

    async def _aget(self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **_: Any) -> str:
        scope = self.for_session(session_id)
        asked = last_said(messages or [])
        if not asked:
            return ""
        found = await scope.arecall(
            asked,
            k=self.similarity_top_k,
            reinforce=self.reinforce,
            policy=self.policy,
            min_score=self.min_score,
            min_similarity=self.min_similarity,
            judge=self.judge,
            turn=this_question() or self._turn(messages or [], session_id),
            in_context=[record["id"] for record in records_of(messages or [], session_id)],
        )
        self._last_recall = found
        return self._shown(found)

    def _shown(self, found: Recall) -> str:
        """The memories as text. If rendering fails, raise, or return "" with a warning, depending on `on_error`."""
        try:
            return found.render(max_tokens=self.max_tokens, style=self.style)
        except Exception as error:
            if self.on_error == "raise":
                raise
            error_messages.log_warning(logger, NOT_SHOWN, error)
            warnings.warn(f"{NOT_SHOWN}: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)
            return ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said: dict[str | None, list[ChatMessage]] = {}
        for message in messages:
            said.setdefault(message.additional_kwargs.get("session_id"), []).append(message)
        for session, spoken in said.items():
            scope = self.for_session(session)
            records = short_enough(records_of(spoken, session), scope.memory.keeping.text_characters)
            if records:
                await scope.aobserve(records.values())

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The content without its last memories, which match the question least; None if all must be removed."""
        return shortened(content, self.style, tokens_to_truncate) if content else None

    def _turn(self, messages: Sequence[ChatMessage], session_id: str | None) -> str:
        """A name for the turn outside of a LlamaIndex call, from the session and the user's messages so far."""
        said = [words for words, _ in groupby(one.content or "" for one in messages if one.role == MessageRole.USER)]
        digest = hashlib.blake2b("\0".join(said).encode(errors="replace"), digest_size=16).hexdigest()
        return f"{self._name_of_turns} {session_id} {digest}"
