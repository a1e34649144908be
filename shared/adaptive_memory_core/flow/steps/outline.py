"""What is each hit part of? Its episode and theme, and for top-down recalls the whole episode beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import islice

from adaptive_memory_core.channels.conversation.turns import turn_of
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.blocks import NO_OUTLINE, MessagePlace, Outline, OutlineFact
from adaptive_memory_core.cue.question_kinds import asks_for_set
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.candidates.way_down import Led
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.steps.neighbours import AFTER, BEFORE, that_may_be_shown
from adaptive_memory_core.hierarchy.nodes import Hierarchy, SemanticKey
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import Neighbour, Scored
from adaptive_memory_core.score.gates import BEYOND_K
from adaptive_memory_core.score.set_members import Member, members

COVER = 0.1  # how much less one more of a session counts in a set, for each that is shown; docs/hierarchy.md
POOL = 2  # times the size of a set that is looked at, from which it is chosen; guess
LEFT_OUT = "the rest of the episodes was left out"


def with_outline(ports: Ports, request: Request, answer: Recall, led: Led | None) -> Recall:
    """The answer with what its hits are part of, where the policy's shape asks for it and messages were observed."""
    if request.policy.shape == "flat" or not answer.kept:
        return answer
    if led is not None:
        answer = _with_episodes(ports, request, answer, led)
        told = _that_may_be_told(ports, request, led)
        there = {*answer.ids, *(one.record.id for one in answer.beside)}
        return replace(answer, outline=_outline(request, answer, (), led.hierarchy, told, there))
    more = _members(request, answer) if request.policy.shape == "episodes" else ()
    found = NO_OUTLINE
    if request.as_of is None:  # the hierarchy of today knows what was said later
        looked = tried(AdaptiveMemoryError, ports.hierarchy.view, request.scope.own)
        found = NO_OUTLINE if looked.value is None else _outline(request, answer, more, looked.value, ())
    return replace(answer, outline=replace(found, more=more) if more else found)


def _members(request: Request, answer: Recall) -> tuple[Scored, ...]:
    """Of a question for a set what covers most beside the hits, to be shown where these leave room."""
    if not asks_for_set(request.cue.own_words):
        return ()
    size = request.policy.advanced.hierarchy.set_size
    beyond = (one.scored for one in answer.dropped if one.reason == BEYOND_K and one.scored is not None)
    pool = list(islice(beyond, POOL * size))

    def session(hit: Scored) -> str | None:
        return turn_of(hit.text, hit.record.stored, request.fields, created_at=hit.record.created_at).session

    among = [Member(hit.score, session(hit)) for hit in (*answer, *pool)]
    chosen = members(among, len(answer), max(0, size - len(answer)), cover=COVER)
    return tuple(pool[one - len(answer)] for one in chosen)


def _with_episodes(ports: Ports, request: Request, answer: Recall, led: Led) -> Recall:
    """The other messages of each hit's episode beside it, in their order, so far as the gates let them through."""
    episodes = {
        hit.id: led.hierarchy.episodes[key]
        for hit in answer
        if (key := led.hierarchy.episode_of.get(hit.hit._stored_id)) is not None
    }
    wanted = list(dict.fromkeys(one for episode in episodes.values() for one in episode.messages))
    try:
        found = that_may_be_shown(ports, request, wanted)
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


def _that_may_be_told(ports: Ports, request: Request, led: Led) -> Sequence[SemanticKey]:
    """The semantics that were chosen, of which every message could be a hit: it holds still, and passes the filter."""
    chosen = led.way.semantics
    of = {one: led.hierarchy.semantics[led.hierarchy.newest(one)].messages for one in chosen}
    wanted = list(dict.fromkeys(message for messages in of.values() for message in messages))
    try:
        there = that_may_be_shown(ports, request, wanted)
    except AdaptiveMemoryError:
        return ()  # what is not known to pass is not told
    return [one for one in chosen if all(message in there for message in of[one])]


def _outline(
    request: Request,
    answer: Recall,
    more: Sequence[Scored],
    hierarchy: Hierarchy,
    chosen: Sequence[SemanticKey],
    there: Set[str] | None = None,
) -> Outline:
    """The places of the hits, and what was chosen. `there` are the messages that may be shown, where that is known."""
    found = ((hit.id, _place(request, hit, hierarchy, there)) for hit in (*answer, *more))
    places = {one: place for one, place in found if place is not None}
    for one in answer.beside:
        if one.of in places and request.policy.shape == "top_down":
            places[one.record.id] = places[one.of]
    if not places and not chosen:
        return NO_OUTLINE
    facts = [_fact(request, hierarchy, one) for one in dict.fromkeys(map(hierarchy.newest, chosen))]
    named = [*(one.theme for one in places.values()), *(one.theme for one in facts)]
    themes = dict.fromkeys(one for one in named if one is not None)
    return Outline(places, facts, tuple(themes), apart=request.policy.shape == "top_down")


def _place(request: Request, hit: Scored, hierarchy: Hierarchy, there: Set[str] | None) -> MessagePlace | None:
    """Where a hit stands; None for what was not observed, or is in no episode yet. What happened in its episode is told
    only if all of its messages may be shown."""
    key = hierarchy.episode_of.get(hit.hit._stored_id)
    if key is None:
        return None
    episode = hierarchy.episodes[key]
    own = hierarchy.themes_of(hit.hit._stored_id)
    of_all = Counter(theme for one in episode.semantics if (theme := hierarchy.semantics[one].theme) is not None)
    theme = own[0] if own else next((one for one, _ in of_all.most_common(1)), None)
    name = None if theme is None else hierarchy.themes[theme].name
    if request.policy.shape != "top_down":
        return MessagePlace(key, episode.title, name)
    every = _ids(request, episode.messages)
    messages = every if there is None else tuple(one for one in every if one in there)
    return MessagePlace(key, episode.title, name, episode.narrative if messages == every else "", messages)


def _fact(request: Request, hierarchy: Hierarchy, key: SemanticKey) -> OutlineFact:
    """What a semantic says."""
    semantic = hierarchy.semantics[key]
    theme = None if semantic.theme is None else hierarchy.themes[semantic.theme].name
    return OutlineFact(semantic.shown, theme, semantic.at, _ids(request, semantic.messages))


def _ids(request: Request, stored_ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(record_id(request.scope.own, one) for one in stored_ids)
