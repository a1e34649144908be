"""What does the graph say of a cue? Its names are linked, propagation runs, and passages become records again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.flow.ports.graph import GraphFound, Hop, Lifts, StoredGraph
from adaptive_memory_core.graph.alike_names import alike_of_untitled, with_alike
from adaptive_memory_core.graph.build import word_key
from adaptive_memory_core.graph.known_names import MOST_LOOKED_UP, known_names
from adaptive_memory_core.graph.paper import propagate_as_published
from adaptive_memory_core.graph.ports import Alike, Evidence, PassageKey, Question, Step, passage_of, place_of
from adaptive_memory_core.graph.propagate import propagate, trust
from adaptive_memory_core.length_limits import start_and_end
from adaptive_memory_core.policy.graph import Graphs
from adaptive_memory_core.store.graph.learned import gates_of, lifts_of

MOST_PASSED = 5  # records on the way to one, that are told
FORMS = {"ours": propagate, "paper": propagate_as_published}


def look(
    graph: StoredGraph,
    cue: str,
    vector: Any,
    settings: Graphs,
    seeds: Mapping[str, float],
    lifts: Lifts,
    unknown: Mapping[str, Any] = MappingProxyType({}),
) -> GraphFound:
    """The records that the cue's names lead to, with a number in [0, 1] each. `unknown` are names in it that the graph
    does not know, with their vectors."""
    read = start_and_end(cue, MOST_LOOKED_UP)
    named, alike = _and_alike(graph, linked(graph, read), unknown, settings)
    if settings.asks != "always" and not any(len(own) for own in graph.titled(named).values()):
        return GraphFound({}, {}, asked=False)
    keys = graph.keys_of(seeds)
    question = Question(
        named,
        vector,
        {word_key(word) for word in words(read)},
        {keys[one]: value for one, value in seeds.items() if one in keys},
        lifts_of(graph, lifts),
        gates_of(graph, lifts, vector),
        alike,
    )
    found = _found(graph, FORMS[settings.form](graph, question, settings), settings)
    if settings.form == "paper":
        return found
    share = trust(graph, question, settings)
    return replace(found, numbers={one: share * number for one, number in found.numbers.items()})


def linked(graph: StoredGraph, cue: str) -> list[str]:
    """The names in a cue that the graph knows."""

    def known(possible: Any) -> Set[str]:
        return set(graph.frequencies(possible))

    return known_names(cue, known) or known_names(cue, known, loose=True)


def _and_alike(
    graph: StoredGraph, names: Sequence[str], unknown: Mapping[str, Any], settings: Graphs
) -> tuple[dict[str, float], dict[str, Alike]]:
    """The names that the question links to: those it has, and those that are taken for one of them."""
    known = dict.fromkeys(names, 1.0)
    if settings.names_alike == 0.0:
        return known, {}
    least = settings.names_alike
    found = {**alike_of_untitled(graph, names, least), **graph.nearest_names(unknown, least)}
    named, alike = with_alike(dict.fromkeys((*known, *unknown), 1.0), found, without=())
    return {name: worth for name, worth in named.items() if name in known or name not in unknown}, alike


def most(settings: Graphs) -> float:
    """The most that a passage has, nearly: one sentence that is the best of each round, and its title in the cue.

    >>> round(most(Graphs(rounds=2, title=0.3)), 2)
    1.34
    """
    return settings.title + sum(0.6931 / number for number in range(1, settings.rounds + 1))


def _found(graph: StoredGraph, evidence: Evidence, settings: Graphs) -> GraphFound:
    best = most(settings)
    ids = graph.ids_of({*evidence.passages, *map(passage_of, evidence.steps)})
    ranked = sorted(evidence.passages.items(), key=lambda one: -one[1])
    numbers = {ids[one]: min(1.0, score / best) for one, score in ranked if one in ids and score > 0.0}
    first: dict[PassageKey, Step] = {}
    for step in evidence.steps.values():
        first.setdefault(passage_of(step.sentence), step)
    ways = {ids[one]: _way(step, evidence, ids) for one, step in first.items() if one in ids and step.name is not None}
    return GraphFound(numbers, ways)


def _way(last: Step, evidence: Evidence, ids: Mapping[PassageKey, str]) -> list[Hop]:
    """From a name in the cue to a sentence, by the sentences in between."""
    steps = [last]
    while (before := steps[0].came_from) is not None and before in evidence.steps and len(steps) < MOST_PASSED:
        steps.insert(0, evidence.steps[before])
    return [
        Hop(
            step.name or "",
            ids[passage_of(step.sentence)],
            place_of(step.sentence),
            evidence.alike.get(step.name or ""),
        )
        for step in steps
        if passage_of(step.sentence) in ids
    ]
