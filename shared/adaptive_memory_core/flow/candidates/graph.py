"""Which records do the names in the cue lead to? The graph as a source of candidates, and of a lead for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.asked_before import Said
from adaptive_memory_core.flow.candidates.gam_rag import look_as_published
from adaptive_memory_core.flow.candidates.linked_graph import is_made
from adaptive_memory_core.flow.candidates.names_alike import vectors_of_unknown_names
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.vectors import Unrelated
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.graph import NO_LIFTS, GraphFound, Hop, Lifts
from adaptive_memory_core.flow.ports.source import Answer, Asked
from adaptive_memory_core.flow.ports.words import WordsFound
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.policy.channels_and_kinds import GRAPH, LEXICAL
from adaptive_memory_core.policy.graph_and_hierarchy import Graphs
from adaptive_memory_core.score.surprise import UNMEASURED

SPOKEN = 0.1  # share of what it says of a record that is said in a conversation; a sweep: docs/graph.md
SEEDS = 5  # of the nearest and of those with most of the words, that it also starts from


class Graph:
    """The channel "graph". It is asked after vectors and words, which found records to start from as well, and after
    what verdicts on similar questions say."""

    name = GRAPH

    def wanted(self, request: Request) -> bool:
        return GRAPH in request.policy.ways and bool(request.cue.own_words.strip())

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Answer:
        """The records that it reaches, best first."""
        cue, policy = asked.cue(request), request.policy
        if policy.advanced.graph.asks == "linked" and not is_made(ports, request, asked):
            return Answer(self.name)
        published = policy.advanced.graph.form == "paper"

        def look() -> GraphFound:
            if (note := _words_lacking(ports, request, asked)) is not None:
                return GraphFound({}, {}, note, asked=False)
            if published:
                return look_as_published(ports, request, cue.vector)
            measured = asked.nearest.leads
            baseline = measured.measured if isinstance(measured, Unrelated) else UNMEASURED
            more = (_seeds(asked), _lifts(asked), vectors_of_unknown_names(ports, request), baseline)
            return ports.graph.look(request.scope, request.cue.own_words, cue.vector, policy.advanced.graph, *more)

        outcome = tried(Exception, look)
        if outcome.value is None:
            return Answer(self.name, error=outcome.error)
        found = _less_where_spoken(outcome.value, asked, policy.advanced.graph)
        notes = () if found.note is None else (found.note,)
        if not found.asked:
            return Answer(self.name, notes=notes)
        named = [one for one in found.numbers if asked.passing is None or one in asked.passing]
        because = {one: f"is what the graph came to by {_in_words(request, way)}" for one, way in found.reached.items()}
        return Answer(self.name, named=named[: request.candidates], leads=found, because=because, notes=notes)


def _words_lacking(ports: Ports, request: Request, asked: Asked) -> str | None:
    """Why the graph says nothing, where it follows words that are not all there yet."""
    words = next((one for one in asked.earlier if one.source == LEXICAL), None)
    if words is None:  # nobody else asks for them
        return ports.words.lacking(request.scope)
    return "the graph is left out as well" if words.leads is None and words.error is None else None


def _less_where_spoken(found: GraphFound, asked: Asked, settings: Graphs) -> GraphFound:
    """With less said of what is said in a conversation: its neighbours tell what it is about, better than names do."""
    words = next((one.leads for one in asked.earlier if isinstance(one.leads, WordsFound)), None)
    if words is None or words.talk is None or settings.form == "paper":
        return found
    ids = list(found.numbers)
    spoken = words.in_conversation(ids)
    numbers = {one: found.numbers[one] * (SPOKEN if said else 1.0) for one, said in zip(ids, spoken, strict=True)}
    return replace(found, numbers=numbers)


def _seeds(asked: Asked) -> dict[str, float]:
    """The best of the vectors and of the words, each with what its rank is worth."""
    nearest = [one.stored_id for one in asked.nearest.found[:SEEDS]]
    worded = next((list(one.named[:SEEDS]) for one in asked.earlier if one.source == LEXICAL), [])
    worth: dict[str, float] = {}
    for ranked in (nearest, worded):
        for rank, one in enumerate(ranked):
            worth[one] = worth.get(one, 0.0) + 0.5 * (1.0 - rank / SEEDS)
    return worth


def _lifts(asked: Asked) -> Lifts:
    """What verdicts taught: as of an earlier day later ones are not known."""
    said = next((one.leads for one in asked.earlier if isinstance(one.leads, Said)), None)
    if said is None:
        return NO_LIFTS
    return Lifts({one: it.trusted * it.near for one, it in said.said.items() if it.trusted > 0.0})


def _in_words(request: Request, way: Sequence[Hop]) -> str:
    """The way to a record, for whoever asks why it was found."""
    told = [f"sentence {hop.sentence + 1} of {record_id(request.scope, hop.stored_id)!r}" for hop in way]
    begins = [_named(hop) if hop.name else "what other channels found" for hop in way]
    return " -> ".join(step for pair in zip(begins, told, strict=True) for step in pair)


def _named(hop: Hop) -> str:
    """The name that was followed, and for which it was taken."""
    taken = hop.alike
    return (
        repr(hop.name)
        if taken is None
        else f"{hop.name!r} (taken for {taken.of!r}, {100 * taken.likeness:.0f} % alike)"
    )
