"""The link from nodes to their recall, the functions of the tools, and citations.

A node that was serialised and loaded again has lost its link; it is then attributed to the last recall that returned
it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore
from llama_index.core.tools import ToolOutput

from adaptive_memory_core import (
    AdaptiveMemoryError,
    InvalidInputError,
    NotFoundError,
    Recall,
    Scope,
    Scored,
    UserMemory,
)
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.model_tools import NOTHING, OUT_OF_ORDER, OnError, forgotten, remembered_message
from adaptive_memory_core.store.named_users import explain_empty, is_unexpected
from llama_adaptive_memory.convert import node_of
from llama_adaptive_memory.settings import fields_of
from llama_adaptive_memory.turns import this_question

ADVICE = {
    False: 'Give over="everyone" to read them for this user; or leave user_id out.',
    True: "Say whose are meant: user_id='alice' for the retriever, or for a call.",
}


def with_reason(found: Recall, scope: UserMemory, filters: Any) -> Recall:
    """The recall; with a note on what it skipped, if it found nothing and that is odd."""
    if not is_unexpected(scope.memory, found, filters):
        return found
    return explain_empty(scope.memory, found, ADVICE, stacklevel=4)


Find = Callable[[], UserMemory]


class MarkedOutput(str):
    """A tool's output for the model, with its recall, so that feedback on an agent's output finds the recall."""

    __slots__ = ("recall",)
    recall: Recall


@dataclass(frozen=True, slots=True)
class Recalling:
    """The function of the recall tool."""

    find: Find
    asked: Mapping[str, Any]
    max_tokens: int | None
    show_ids: bool
    on_error: OnError

    def recall(self, query: str) -> str:
        scope = self.find()
        try:
            return self._told(scope.recall(query, turn=this_question(), **self.asked))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def arecall(self, query: str) -> str:
        scope = self.find()
        try:
            return self._told(await scope.arecall(query, turn=this_question(), **self.asked))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    def _told(self, found: Recall) -> str:
        told = MarkedOutput(found.render(max_tokens=self.max_tokens, ids=self.show_ids) or NOTHING)
        told.recall = found
        return told


@dataclass(frozen=True, slots=True)
class Remembering:
    """The function of the remember tool."""

    find: Find
    kind: str
    metadata: Mapping[str, Any] | None
    on_error: OnError

    def remember(self, text: str, importance: float = 0.5, replaces: str | None = None) -> str:
        scope = self.find()
        try:
            return remembered_message(*scope.observe([self._fact(scope, text, importance, replaces)]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def aremember(self, text: str, importance: float = 0.5, replaces: str | None = None) -> str:
        scope = self.find()
        try:
            return remembered_message(*await scope.aobserve([self._fact(scope, text, importance, replaces)]))
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    def _fact(self, scope: UserMemory, text: str, importance: float, replaces: str | None) -> dict[str, Any]:
        more = {"kind": self.kind, "metadata": self.metadata, "supersedes": replaces or None}  # models say "" for none
        return {"id": scope.memory.new_id(), "text": text, "importance": importance, **more}


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The function of the forget tool."""

    find: Find
    on_error: OnError

    def forget(self, memory_id: str) -> str:
        scope = self.find()
        try:
            return forgotten(scope.forget(memory_id).id)
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)

    async def aforget(self, memory_id: str) -> str:
        scope = self.find()
        try:
            return forgotten((await scope.aforget(memory_id)).id)
        except Exception as error:  # noqa: BLE001 - whatever fails inside, a tool's failure must not end the agent
            return _excused(error, self.on_error)


def _excused(error: Exception, on_error: OnError) -> str:
    """The reply to the model after an error: to continue without the tool. The model's own mistakes are raised, and
    LlamaIndex reports them to it."""
    told = isinstance(error, AdaptiveMemoryError) and isinstance(error, InvalidInputError | LookupError)
    if on_error == "raise" or told:
        raise error
    warnings.warn(f"A tool's memory failed, and the agent continued without: {error}", RuntimeWarning, stacklevel=3)
    return OUT_OF_ORDER


Cited = Callable[[BaseNode], Used | None]
CITATION = re.compile(r"Source \d+:\n(.*)\n", re.DOTALL)  # a CitationQueryEngine's format for a part of a node
RECALLS_WITH_CITATIONS = 20  # newest recalls that are searched for the nodes behind citations; guess
Noted = TypeVar("Noted", bound=BaseNode | NodeWithScore)
MARK = "_adaptive_memory_recall"  # not a field, but copied and pickled with the fields


def marked(node: Noted, hit: Scored, recall: Recall) -> Noted:
    """The object itself, with a link to the recall that returned it.

    >>> from llama_index.core.schema import TextNode
    >>> from adaptive_memory_core import Cue, Policy, Record
    >>> from adaptive_memory_core.records import Hit
    >>> hit = Scored(Hit(Record("7", "tea"), 0.5, "7"), 0.5, {}, {})
    >>> answer = Recall("r", Scope("ana"), Cue("tea?"), 1, 0.0, Policy(), (hit,))
    >>> node = marked(TextNode(text="tea", id_="7"), hit, answer)
    >>> used_in(NodeWithScore(node=node.model_copy()), Scope("ana"))
    [Used(id='7', recall='r', shared=False)]
    >>> MARK in node.to_dict(), node.hash == TextNode(text="tea").hash
    (False, True)
    """
    object.__setattr__(node, MARK, (hit.id, recall.id, not hit.hit.learnable))
    return node


def used_in(things: Any, scope: Scope, cited: Cited = lambda _: None) -> list[Used]:
    """The records used in an answer, from any LlamaIndex output: ids, nodes, answers with `source_nodes`, tool calls.

    `cited` finds the record that a node without a link was copied from.

    >>> used_in(["note-1", ("note-2",)], Scope(None))
    [Used(id='note-1', recall=None, shared=False), Used(id='note-2', recall=None, shared=False)]
    """
    return list(dict.fromkeys(_each(things, scope, cited)))


def _each(things: Any, scope: Scope, cited: Cited) -> Iterator[Used]:
    if isinstance(things, str):
        yield Used(things)
    elif isinstance(things, Recall):
        yield from (Used(hit.id, things.id, not hit.hit.learnable) for hit in things)
    elif isinstance(things, NodeWithScore | BaseNode):
        yield _of_node(things, scope, cited)
    elif (parts := _parts(things)) is not None:
        for one in parts:
            yield from _each(one, scope, cited)
    else:
        raise InvalidInputError(
            f"{shown(things)} cannot be judged. Give ids, nodes, a response with its source_nodes, or lists of them."
        )


def _of_node(given: NodeWithScore | BaseNode, scope: Scope, cited: Cited) -> Used:
    node = given.node if isinstance(given, NodeWithScore) else given
    noted = getattr(given, MARK, None) or getattr(node, MARK, None)
    return (cited(node) or Used(record_id(scope, node.node_id))) if noted is None else Used(*noted)


class Citations:
    """Finds the records behind the nodes of a `CitationQueryEngine`: copies of parts of nodes, with new ids.

    A part is searched for in the results of the newest recalls, in texts with the same metadata.
    """

    def __init__(self, scope: UserMemory) -> None:
        self._scope, self._fields = scope, fields_of(scope)
        self._returned: list[tuple[Used, BaseNode]] | None = None

    def __call__(self, node: BaseNode) -> Used | None:
        part = CITATION.fullmatch(node.get_content())
        if part is None:
            return None
        if self._returned is None:
            self._returned = list(self._look())
        for used, source in self._returned:
            if source.metadata == node.metadata and any(part[1] in source.get_content(mode) for mode in MetadataMode):
                return used
        return None

    def _look(self) -> Iterator[tuple[Used, BaseNode]]:
        nodes: dict[str, BaseNode | None] = {}
        for recall in self._scope.recalls(limit=RECALLS_WITH_CITATIONS):
            scope = self._scope if recall.over is None else self._scope.over(recall.over)
            for one in recall.kept:
                if one.id not in nodes:
                    nodes[one.id] = self._node(scope, one.id)
                if (node := nodes[one.id]) is not None:
                    yield Used(one.id, recall.id), node

    def _node(self, scope: UserMemory, record: str) -> BaseNode | None:
        try:
            return node_of(scope.get(record), self._fields)
        except NotFoundError:  # forgotten in the meantime
            return None


def _parts(thing: Any) -> Iterable[Any] | None:
    """The parts of an answer: the sources of a response, the outputs of an agent's tools, or the items of a list."""
    if isinstance(thing, ToolOutput):
        return _parts_of_output(thing.raw_output)
    for name in ("source_nodes", "tool_calls"):
        if isinstance(found := getattr(thing, name, None), list):
            return found
    output = getattr(thing, "tool_output", None)
    if isinstance(output, ToolOutput):
        return _parts_of_output(output.raw_output)
    return thing if isinstance(thing, Iterable) and not isinstance(thing, dict | bytes) else None


def _parts_of_output(output: Any) -> Iterable[Any]:
    """The nodes in a tool's output, or its linked recall; empty for any other output."""
    if isinstance(output, MarkedOutput):
        return [output.recall]
    if isinstance(getattr(output, "source_nodes", None), list):
        return list(output.source_nodes)
    return [one for one in output if isinstance(one, NodeWithScore | BaseNode)] if isinstance(output, list) else ()
