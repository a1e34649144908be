"""Which recall returned a node? It is noted on the node, where no prompt, no hash and no dump of it looks.

A node that was written out and read in again has lost the note; then the last recall that returned it is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.tools import ToolOutput

from adaptive_memory_core import InvalidInputError, Recall, Scope, Scored
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.shown_in_errors import shown
from llama_adaptive_memory.tool_calls import Told

Noted = TypeVar("Noted", bound=BaseNode | NodeWithScore)
MARK = "_adaptive_memory_recall"  # not among the fields, yet copied and pickled with them


def marked(node: Noted, hit: Scored, recall: Recall) -> Noted:
    """The object itself, with the note of what it is a hit of.

    >>> from llama_index.core.schema import TextNode
    >>> from adaptive_memory_core import Cue, Hit, Policy, Record
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


def used_in(things: Any, scope: Scope) -> list[Used]:
    """What went into an answer, of whatever LlamaIndex handed on: ids, nodes, answers with `source_nodes`, tool calls.

    >>> used_in(["note-1", ("note-2",)], Scope(None))
    [Used(id='note-1', recall=None, shared=False), Used(id='note-2', recall=None, shared=False)]
    """
    return list(dict.fromkeys(_each(things, scope)))


def _each(things: Any, scope: Scope) -> Iterator[Used]:
    if isinstance(things, str):
        yield Used(things)
    elif isinstance(things, Recall):
        yield from (Used(hit.id, things.id, not hit.hit.learnable) for hit in things)
    elif isinstance(things, NodeWithScore | BaseNode):
        yield _of_node(things, scope)
    elif (parts := _parts(things)) is not None:
        for one in parts:
            yield from _each(one, scope)
    else:
        raise InvalidInputError(
            f"{shown(things)} cannot be judged. Give ids, nodes, a response with its source_nodes, or lists of them."
        )


def _of_node(given: NodeWithScore | BaseNode, scope: Scope) -> Used:
    node = given.node if isinstance(given, NodeWithScore) else given
    noted = getattr(given, MARK, None) or getattr(node, MARK, None)
    return Used(record_id(scope, node.node_id)) if noted is None else Used(*noted)


def _parts(thing: Any) -> Iterable[Any] | None:
    """What an answer was made of: the sources of a response, the outputs of an agent's tools, a list's own items."""
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
    """The nodes that a tool gave, or the recall that it told of; any other output was none."""
    if isinstance(output, Told):
        return [output.recall]
    if isinstance(getattr(output, "source_nodes", None), list):
        return list(output.source_nodes)
    return [one for one in output if isinstance(one, NodeWithScore | BaseNode)] if isinstance(output, list) else ()
