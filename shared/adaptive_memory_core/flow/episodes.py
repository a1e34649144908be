"""Episodes and themes of the hits, and the choice of episodes that help a reader."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import Any

from adaptive_memory_core.channels.turns import turn_of
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.blocks import NO_OUTLINE, MessagePlace, Outline, OutlineFact
from adaptive_memory_core.context.entries import date_of
from adaptive_memory_core.cue.question_kinds import asks_for_set
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import AdaptiveMemoryError, InvalidInputError
from adaptive_memory_core.flow.calls.foreign_calls import answered, tried
from adaptive_memory_core.flow.neighbours import AFTER, BEFORE, that_may_be_shown
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.hierarchy.nodes import Hierarchy, SemanticKey
from adaptive_memory_core.hierarchy.top_down import Context, Expansion, expand
from adaptive_memory_core.identity import record_id
from adaptive_memory_core.records import Dropped, Hit, Neighbour, Record, Scored
from adaptive_memory_core.score.diversity import Member, members
from adaptive_memory_core.score.ranking import BEYOND_K, Candidates, as_candidates
from adaptive_memory_core.sources.gather import error_text
from adaptive_memory_core.sources.graph_and_hierarchy import HierarchyLeads
from adaptive_memory_core.sources.request import Request

ELSEWHERE = "in no episode that the themes lead to"


def on_the_way(hits: Candidates, led: HierarchyLeads) -> Candidates:
    """The candidates; those outside the chosen episodes are refused."""
    return as_candidates(
        [hit if _is_there(hit, led) else replace(hit, refused=hit.refused or ELSEWHERE) for hit in hits]
    )


def for_episodes(request: Request, led: HierarchyLeads) -> Request:
    """The request with `k` raised by the number of messages in the chosen episodes."""
    messages = sum(len(led.hierarchy.episodes[one].messages) for one in led.way.episodes)
    return request._replace(k=request.k + messages)


def by_episode(request: Request, answer: Recall, led: HierarchyLeads) -> Recall:
    """At most `k` hits: the best message of each episode, and hits outside episodes."""
    kept: dict[int | str, Scored] = {}
    dropped: list[Dropped] = []
    for hit in answer.kept:
        stored_id = hit.hit._stored_id
        episode = led.hierarchy.episode_of.get(stored_id, stored_id)
        best = kept.get(episode)
        if best is None and len(kept) < request.k:
            kept[episode] = hit
        else:
            dropped.append(Dropped(hit.id, BEYOND_K if best is None else f"in the episode of {best.id}", hit))
    return replace(answer, k=request.k, kept=tuple(kept.values()), dropped=(*dropped, *answer.dropped))


def _is_there(hit: Hit, led: HierarchyLeads) -> bool:
    return led.worth(hit._stored_id, hit.similarity) is not None


COVER = 0.1  # how much less a record counts per record of its session already shown; docs/research/conversations.md
POOL = 2  # times the size of a set: the candidates from which its members are chosen; guess
LEFT_OUT = "the rest of the episodes was left out"


def with_outline(ports: Ports, request: Request, answer: Recall, led: HierarchyLeads | None) -> Recall:
    """The answer with the episodes and themes of its hits, if the policy's shape asks for them and messages were
    observed."""
    if request.policy.shape == "flat" or not answer.kept:
        return answer
    if led is not None:
        answer = _with_episodes(ports, request, answer, led)
        facts = _semantics_to_show(ports, request, led)
        there = {*answer.ids, *(one.record.id for one in answer.neighbours)}
        return replace(answer, outline=_outline(request, answer, (), led.hierarchy, facts, there))
    more = _members(request, answer) if request.policy.shape == "episodes" else ()
    found = NO_OUTLINE
    if request.as_of is None:  # the present hierarchy contains later messages
        looked = tried(AdaptiveMemoryError, ports.hierarchy.view, request.scope.own)
        found = NO_OUTLINE if looked.value is None else _outline(request, answer, more, looked.value, ())
    return replace(answer, outline=replace(found, more=more) if more else found)


def _members(request: Request, answer: Recall) -> tuple[Scored, ...]:
    """For a question about a set, further records from as many sessions as possible, if the hits leave room."""
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


def _with_episodes(ports: Ports, request: Request, answer: Recall, led: HierarchyLeads) -> Recall:
    """The answer with the other messages of each hit's episode as neighbours, in order, if they pass the gates."""
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
    around = []
    for hit in answer:
        messages = episodes[hit.id].messages if hit.id in episodes else (hit.hit._stored_id,)
        own = messages.index(hit.hit._stored_id)
        around += [
            Neighbour(found[one].record, hit.id, BEFORE if place < own else AFTER)
            for place, one in enumerate(messages)
            if place != own and one in found
        ]
    return replace(answer, neighbours=tuple(around))


def _semantics_to_show(ports: Ports, request: Request, led: HierarchyLeads) -> Sequence[SemanticKey]:
    """The chosen semantics whose messages could all be hits: still valid, and passed by the filter."""
    chosen = led.way.semantics
    of = {one: led.hierarchy.semantics[led.hierarchy.newest(one)].messages for one in chosen}
    wanted = list(dict.fromkeys(message for messages in of.values() for message in messages))
    try:
        there = that_may_be_shown(ports, request, wanted)
    except AdaptiveMemoryError:
        return ()  # unchecked messages are not shown
    return [one for one in chosen if all(message in there for message in of[one])]


def _outline(
    request: Request,
    answer: Recall,
    more: Sequence[Scored],
    hierarchy: Hierarchy,
    chosen: Sequence[SemanticKey],
    there: Set[str] | None = None,
) -> Outline:
    """The outline with the places of the hits and the chosen semantics. `there` are the messages that may be shown, or
    None if this was not checked."""
    found = ((hit.id, _place(request, hit, hierarchy, there)) for hit in (*answer, *more))
    places = {one: place for one, place in found if place is not None}
    for one in answer.neighbours:
        if one.of in places and request.policy.shape == "top_down":
            places[one.record.id] = places[one.of]
    if not places and not chosen:
        return NO_OUTLINE
    facts = [_fact(request, hierarchy, one) for one in dict.fromkeys(map(hierarchy.newest, chosen))]
    named = [*(one.theme for one in places.values()), *(one.theme for one in facts)]
    themes = dict.fromkeys(one for one in named if one is not None)
    return Outline(places, facts, tuple(themes), apart=request.policy.shape == "top_down")


def _place(request: Request, hit: Scored, hierarchy: Hierarchy, there: Set[str] | None) -> MessagePlace | None:
    """The episode and theme of a hit; None if it was not observed or is not in an episode yet. The episode's narrative
    is included only if all of its messages may be shown."""
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
    """A semantic as a fact of the outline."""
    semantic = hierarchy.semantics[key]
    theme = None if semantic.theme is None else hierarchy.themes[semantic.theme].name
    return OutlineFact(semantic.shown, theme, semantic.at, _ids(request, semantic.messages))


def _ids(request: Request, stored_ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(record_id(request.scope.own, one) for one in stored_ids)


LEAST_DROP = 0.02  # nats per token by which an episode, then its messages, must reduce the reader's uncertainty; guess
PATIENCE = 2  # consecutive episodes without such a reduction before the reader is no longer asked; guess
NO_HELP = "its episode does not make the reader less uncertain"
ASKED_ENOUGH = "not asked about: the episodes before it did not make the reader less uncertain"


def helpful_episodes(request: Request, answer: Recall) -> Recall:
    """The answer with the episodes that help the reader: in full if their messages help too, else with narrative and
    best message. Without a reader, or if it fails, all episodes stay. Themes, facts and hits outside episodes always
    stay."""
    policy = request.policy
    expands = policy.shape == "top_down" and policy.advanced.hierarchy.expand
    if not expands or request.reader is None or not answer.outline.places:
        return answer
    reader, evidence = request.reader, _Evidence(answer, answer.outline)

    def uncertainty(context: Context) -> float:
        cue, texts = request.cue.own_words or request.cue.text, evidence.texts(context)
        outcome = answered(reader.asked(policy.advanced.timeout_seconds, cue, texts))
        if outcome.error is not None:
            raise InvalidInputError(error_text(outcome.error)) from outcome.error
        return _nats(outcome.value)

    try:
        episodes = [place for place, hit in enumerate(answer) if hit.id in answer.outline.places]
        found = expand(uncertainty, episodes, episode_drop=LEAST_DROP, message_drop=LEAST_DROP, patience=PATIENCE)
    except InvalidInputError as error:
        return replace(answer, trace=(*answer.trace, f"the reader was left out: {error}"))
    return _expanded(answer, found)


def _nats(given: Any) -> float:
    """
    >>> _nats(0.5)
    0.5
    """
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0.0 <= given < math.inf:
        raise InvalidInputError(
            f"it gave {shown(given)}. Give the uncertainty of an answer as a number of at least 0, in nats a token."
        )
    return float(given)


class _Evidence:
    """The texts that the reader gets: always the facts by theme and the hits outside episodes. For an episode: title,
    narrative and best message, or all messages."""

    def __init__(self, answer: Recall, outline: Outline) -> None:
        by_theme: dict[str, list[str]] = {}
        for fact in outline.facts:
            by_theme.setdefault(fact.theme or "", []).append(_dated(fact.text, fact.at))
        self._facts = [text for theme, facts in by_theme.items() for text in (theme, *facts) if text]
        alone = [hit.record for hit in answer if hit.id not in outline.places]
        self._facts += [_dated(one.text, one.created_at) for one in alone]
        around: dict[str, list[Neighbour]] = {}
        for one in answer.neighbours:
            around.setdefault(one.of, []).append(one)
        self._summaries = [_summary(hit.record, outline) for hit in answer]
        self._messages = [_messages(hit.record, around.get(hit.id, ())) for hit in answer]

    def texts(self, context: Context) -> list[str]:
        parts = [
            (self._summaries[part.episode] if part.detail == "summary" else self._messages[part.episode])
            for part in context
        ]
        return [*self._facts, *(text for part in parts for text in part)]


def _summary(record: Record, outline: Outline) -> list[str]:
    place = outline.places.get(record.id)
    headings = [] if place is None else [one for one in (place.heading, place.narrative) if one]
    return [*headings, _dated(record.text, record.created_at)]


def _messages(record: Record, around: Sequence[Neighbour]) -> list[str]:
    before = [one.record for one in around if one.offset < 0]
    after = [one.record for one in around if one.offset > 0]
    return [_dated(one.text, one.created_at) for one in (*before, record, *after)]


def _dated(text: str, at: float | None) -> str:
    return text if at is None else f"[{date_of(at)}] {text}"


def _expanded(answer: Recall, found: Expansion) -> Recall:
    detail: Mapping[int, str] = dict(found.parts)
    staying = {place for place, hit in enumerate(answer) if place in detail or hit.id not in answer.outline.places}
    kept = tuple(hit for place, hit in enumerate(answer.kept) if place in staying)
    whole = {answer.kept[place].id for place, shown in detail.items() if shown == "messages"}
    narrated = {one for one, place in answer.outline.places.items() if place.narrative}
    summed_up = frozenset(hit.id for hit in kept if hit.id not in whole and hit.id in narrated)
    reason = ASKED_ENOUGH if found.stopped_early else NO_HELP
    last = max(detail, default=-1)
    out = [
        Dropped(hit.id, NO_HELP if place < last else reason, hit)
        for place, hit in enumerate(answer.kept)
        if place not in staying
    ]
    episodes = len(detail) + len(out)
    note = (
        f"the reader was asked {found.asked} times: {found.before:.3f} nats a token before, {found.after:.3f} with "
        f"{len(detail)} of {episodes} episodes, {len(whole)} of them in full"
    )
    return replace(
        answer,
        kept=kept,
        dropped=(*out, *answer.dropped),
        outline=replace(answer.outline, summed_up=summed_up, judged=True),
        neighbours=tuple(one for one in answer.neighbours if one.of in whole),
        trace=(*answer.trace, note),
    )
