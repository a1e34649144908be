"""The documents behind an answer, and the last recalls."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from adaptive_memory_core import InvalidInputError, Recall, Scope, UserMemory
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.store.named_users import explain_empty, is_unexpected
from langchain_adaptive_memory.convert import DETAILS, NOTE
from langchain_adaptive_memory.source import whole_memory

MOST_USERS = 100  # users whose newest recall is stored
NOTHING_YET = "Nothing was recalled here yet."


class LastRecalls:
    """The newest recall of each user, shared by retrievers that are created from another retriever's fields.

    >>> LastRecalls().explain(Scope("ana"))
    'Nothing was recalled here yet.'
    """

    def __init__(self) -> None:
        self._recalls: OrderedDict[Scope, Recall] = OrderedDict()
        self._changing = threading.Lock()

    def __deepcopy__(self, memo: object) -> LastRecalls:
        return self

    def note(self, recall: Recall) -> None:
        with self._changing:
            self._recalls[recall.scope.own] = recall
            self._recalls.move_to_end(recall.scope.own)
            while len(self._recalls) > MOST_USERS:
                self._recalls.popitem(last=False)

    def explain(self, scope: Scope) -> str:
        recall = self._recalls.get(scope.own)
        return NOTHING_YET if recall is None else recall.explain()


ADVICE = {
    False: 'Give over="everyone" to read them; or user_key=None and user_id=EVERYONE if no user matters to this store.',
    True: "Say whose are meant: user_id=..., or config={'configurable': {'user_id': ...}}.",
}


def with_reason(scope: UserMemory, recall: Recall, where: Any) -> Recall:
    """The recall, with a note on what it skipped if that is odd."""
    memory = whole_memory(scope)
    if not is_unexpected(memory, recall, where):
        return recall
    return explain_empty(memory, recall, ADVICE, stacklevel=7)


OF_CHAINS = ("context", "source_documents", "documents")  # keys of retrieved documents in LangChain's own chains


def used_in(things: Any) -> list[Used]:
    """The items to judge or forget; ids may be those of records, recalls or turns.

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
    """The parts of an output; None if it has no parts that could come from a memory."""
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
