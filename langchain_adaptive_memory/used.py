"""Which records went into an answer? Read from ids, documents, a chain's output or an agent's messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from adaptive_memory_core import InvalidInputError, Recall
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.flow.feedback_on_answer import Used
from langchain_adaptive_memory.convert import DETAILS, NOTE

OF_CHAINS = ("context", "source_documents", "documents")  # where LangChain's own chains put what they retrieved


def used_in(things: Any) -> list[Used]:
    """What is judged or forgotten: of ids, those of records, recalls or turns.

    >>> used_in(["tea", ("ships",)])
    [Used(id='tea', recall=None, shared=False), Used(id='ships', recall=None, shared=False)]
    >>> used_in({"answer": "Tea.", "context": [Document("x", id="tea")]})
    [Used(id='tea', recall=None, shared=False)]
    """
    return list(dict.fromkeys(_each(things)))


def _each(things: Any) -> Iterator[Used]:
    if isinstance(things, str | UUID):
        yield Used(str(things))
    elif isinstance(things, Document):
        yield _of_document(things)
    elif isinstance(things, Recall):
        yield from (Used(hit.id, things.id, not hit.hit.learnable) for hit in things)
    elif (parts := _parts(things)) is not None:
        for one in parts:
            yield from _each(one)
    else:
        raise InvalidInputError(
            f"{shown(things)} cannot be judged. Give documents, ids, the output of a chain or an agent, or lists of "
            "them."
        )


def _of_document(document: Document) -> Used:
    noted = getattr(document, NOTE, None)
    if noted is not None:
        return Used(*noted)
    details = document.metadata.get(DETAILS)
    if isinstance(details, Mapping) and {"recall_id", "id"} <= details.keys():
        return Used(details["id"], details["recall_id"], "shared" in details and not details.get("learnable"))
    if document.id is not None:
        return Used(document.id)
    raise InvalidInputError(
        f"{shown(document)} does not come from a recall: it has neither metadata[{DETAILS!r}] nor an id. Give "
        "documents that the retriever returned, or use memory.for_user(...).feedback(recall_id, helpful=[id])."
    )


def _parts(things: Any) -> Iterable[Any] | None:
    """What a thing is made of; None where it is made of nothing that could come from a memory."""
    if isinstance(things, ToolMessage):
        return _documents(things.artifact)
    if isinstance(things, BaseMessage):
        return ()
    if isinstance(things, Mapping):
        messages = things.get("messages")
        found = [one for key in OF_CHAINS for one in _documents(things.get(key))]
        return found if messages is None else [*found, *_since_the_question(list(messages))]
    return things if isinstance(things, Iterable) and not isinstance(things, bytes) else None


def _documents(things: Any) -> list[Document]:
    return [one for one in things if isinstance(one, Document)] if isinstance(things, list | tuple) else []


def _since_the_question(messages: list[BaseMessage]) -> list[BaseMessage]:
    """The messages of the last turn."""
    asked = [number for number, one in enumerate(messages) if isinstance(one, HumanMessage)]
    return messages[asked[-1] :] if asked else messages
