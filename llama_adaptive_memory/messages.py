"""How are chat messages stored? Each as a record that LlamaIndex can read as a node."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.schema import TextNode

from llama_adaptive_memory.convert import stored_metadata

SPOKEN = (MessageRole.USER, MessageRole.ASSISTANT)


def last_said(messages: Sequence[ChatMessage]) -> str:
    """The user's last words."""
    said = (message.content or "" for message in reversed(messages) if message.role == MessageRole.USER)
    return next((text.strip() for text in said if text.strip()), "")


def records_of(messages: Sequence[ChatMessage], session: str | None) -> list[dict[str, Any]]:
    """What was said in a session, as records; what stands in the window already is known by their ids."""
    spoken = [(one, (one.content or "").strip()) for one in messages if one.role in SPOKEN]
    return [_record(text, one.role.value, session) for one, text in spoken if text]


def short_enough(records: Sequence[dict[str, Any]], most: int) -> dict[str, dict[str, Any]]:
    """The records by id, without those longer than the memory keeps: one of them must not keep the others out."""
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
    """A message as a record, and at once as the node that LlamaIndex would have made of it. The same words of the same
    session are one record, however often they are said."""
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
