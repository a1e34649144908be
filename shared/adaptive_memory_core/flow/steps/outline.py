"""What is each hit part of? Its episode and theme, and for top-down recalls the whole episode beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from adaptive_memory_core.channels.conversation.turns import turn_of
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.outline import NO_OUTLINE, Fact, Outline, Place
from adaptive_memory_core.cue.asks_for_set import asks_for_set
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.way_down import Led
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.steps.neighbours import AFTER, BEFORE, that_may_be_shown
from adaptive_memory_core.hierarchy.nodes import Hierarchy, SemanticKey
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import Neighbour, Scored
from adaptive_memory_core.score.gates import BEYOND_K
from adaptive_memory_core.score.set_members import Member, members

POOL = 2  # times the size of a set that is looked at, from which it is chosen; guess
LEFT_OUT = "the rest of the episodes was left out"


def with_outline(ports: Ports, request: Request, answer: Recall, led: Led | None) -> Flow[Recall]:
    """The answer with what its hits are part of, where the policy's shape asks for it and messages were observed."""
    if request.policy.shaping.form == "flat" or not answer.kept:
        return answer
    if led is not None:
        answer = yield from _with_episodes(ports, request, answer, led)
        told = yield from _that_may_be_told(ports, request, led)
        return replace(answer, outline=_outline(request, answer, (), led.hierarchy, told))
    more = _members(request, answer) if request.policy.shaping.form == "episodes" else ()
    found = NO_OUTLINE
    if request.as_of is None:  # the hierarchy of today knows what was said later
        looked = yield from attempt(AdaptiveMemoryError, ports.hierarchy.view, request.scope.own)
        found = NO_OUTLINE if looked.value is None else _outline(request, answer, more, looked.value, ())
    return replace(answer, outline=replace(found, more=more) if more else found)


def _members(request: Request, answer: Recall) -> tuple[Scored, ...]:
    """Of a question for a set what covers most beside the hits, to be shown where these leave room."""
    if not asks_for_set(request.cue.own_words):
        return ()
    size, cover = request.policy.shaping.set_size, request.policy.shaping.cover
    beyond = (one.scored for one in answer.dropped if one.reason == BEYOND_K and one.scored is not None)
    pool = list(islice(beyond, POOL * size))

    def session(hit: Scored) -> str | None:
        return turn_of(hit.text, hit.record.stored, request.fields, created_at=hit.record.created_at).session

    among = [Member(hit.score, session(hit)) for hit in (*answer, *pool)]
    chosen = members(among, len(answer), max(0, size - len(answer)), cover=cover)
    return tuple(pool[one - len(answer)] for one in chosen)


def _with_episodes(ports: Ports, request: Request, answer: Recall, led: Led) -> Flow[Recall]:
    """The other messages of each hit's episode beside it, in their order, so far as the gates let them through."""
    episodes = {
        hit.id: led.hierarchy.episodes[key]
        for hit in answer
        if (key := led.hierarchy.episode_of.get(hit.hit._stored_id)) is not None
    }
    wanted = list(dict.fromkeys(one for episode in episodes.values() for one in episode.messages))
    try:
        found = yield from that_may_be_shown(ports, request, wanted)
    except AdaptiveMemoryError as error:
        return replace(answer, trace=(*answer.trace, f"{LEFT_OUT}: {error}"))
    beside = []
    for hit in answer:
        messages = episodes[hit.id].messages if hit.id in episodes else (hit.hit._stored_id,)
        own = messages.index(hit.hit._stored_id)
        beside += [
            Neighbour(found[one].record, hit.id, BEFORE if place < own else AFTER)
            for place, one in enumerate(messages)
            if place != own and one in found
        ]
    return replace(answer, beside=tuple(beside))


def _that_may_be_told(ports: Ports, request: Request, led: Led) -> Flow[Sequence[SemanticKey]]:
    """The semantics that were chosen, of which every message could be a hit: it holds still, and passes the filter."""
    chosen = led.way.semantics
    of = {one: led.hierarchy.semantics[led.hierarchy.newest(one)].messages for one in chosen}
    wanted = list(dict.fromkeys(message for messages in of.values() for message in messages))
    try:
        there = yield from that_may_be_shown(ports, request, wanted)
    except AdaptiveMemoryError:
        return ()  # what is not known to pass is not told
    return [one for one in chosen if all(message in there for message in of[one])]


def _outline(
    request: Request, answer: Recall, more: Sequence[Scored], hierarchy: Hierarchy, chosen: Sequence[SemanticKey]
) -> Outline:
    places = {hit.id: place for hit in (*answer, *more) if (place := _place(hit, hierarchy)) is not None}
    for one in answer.beside:
        if one.of in places and request.policy.shaping.form == "top_down":
            places[one.record.id] = places[one.of]
    if not places and not chosen:
        return NO_OUTLINE
    shown = {*places, *(one.record.id for one in answer.beside)}
    facts = [fact for one in chosen if not shown & set((fact := _fact(request, hierarchy, one)).of)]
    named = [*(one.theme for one in places.values()), *(one.theme for one in facts)]
    themes = dict.fromkeys(one for one in named if one is not None)
    return Outline(places, facts, tuple(themes), apart=request.policy.shaping.form == "top_down")


def _place(hit: Scored, hierarchy: Hierarchy) -> Place | None:
    """Where a hit stands; None for what was not observed, or is in no episode yet."""
    key = hierarchy.episode_of.get(hit.hit._stored_id)
    if key is None:
        return None
    episode = hierarchy.episodes[key]
    own = hierarchy.themes_of(hit.hit._stored_id)
    of_all = Counter(theme for one in episode.semantics if (theme := hierarchy.semantics[one].theme) is not None)
    theme = own[0] if own else next((one for one, _ in of_all.most_common(1)), None)
    return Place(key, episode.title, None if theme is None else hierarchy.themes[theme].name)


def _fact(request: Request, hierarchy: Hierarchy, key: SemanticKey) -> Fact:
    """What a semantic says; where something newer says otherwise, that in its place."""
    newest = hierarchy.semantics[hierarchy.newest(key)]
    theme = None if newest.theme is None else hierarchy.themes[newest.theme].name
    of = tuple(record_id(request.scope.own, one) for one in newest.messages)
    return Fact(newest.shown, theme, newest.at, of)
