"""What is shown around the memories that an agent is given? Turns beside them, what they are part of, and facts.

A turn's state keeps their ids only: what they say is looked up each time it is shown, so that what was forgotten
meanwhile is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from typing_extensions import TypedDict

from adaptive_memory_core import Policy, Recall, Scored, UserMemory
from adaptive_memory_core.context.blocks import DISTILLED, Outline
from adaptive_memory_core.policy.advanced import AnswerShape
from adaptive_memory_core.records import Hit, Record

NO_FLOORS = Policy()  # what was recalled has passed those of its own policy


class Belonging(TypedDict):
    """The shape of a recall, the ids of what stands beside its hits, by the hit, those that facts are of, and the hits
    whose episodes are summed up. `judged`: a reader has chosen the hits, given the facts."""

    shape: str
    beside: dict[str, list[str]]
    facts: list[str]
    summed_up: list[str]
    judged: bool


@dataclass(frozen=True, slots=True)
class Around:
    """The same as they are now. `headings` say what a hit is part of: its theme, or that and its episode's title;
    `narratives` what happened in its episode, where that is summed up."""

    beside: Mapping[str, Sequence[Scored]] = field(default_factory=dict)
    headings: Mapping[str, str] = field(default_factory=dict)
    narratives: Mapping[str, Scored] = field(default_factory=dict)
    facts: Sequence[Scored] = ()
    facts_first: bool = False


ALONE = Around()


def belonging(recall: Recall) -> Belonging | None:
    """What is to be shown around the hits; None for a recall that is flat, or found nothing."""
    form = recall.policy.shape
    if form == "flat" or not (recall.kept or recall.outline.facts):
        return None
    beside: dict[str, list[str]] = {}
    for one in recall.beside:
        beside.setdefault(one.of, []).append(one.record.id)
    facts = dict.fromkeys(one for fact in recall.outline.facts for one in fact.of)
    outline = recall.outline
    summed_up = [one for one in recall.ids if one in outline.summed_up]
    return Belonging(shape=form, beside=beside, facts=list(facts), summed_up=summed_up, judged=outline.judged)


def looked_up(scope: UserMemory, cue: str, ids: Sequence[str], known: Belonging | None) -> tuple[Any, Around]:
    """The hits of these ids as the memory holds them now, and what stands around them."""
    if known is None:
        hits = scope.rerank(cue, dict.fromkeys(ids), reinforce=False, policy=NO_FLOORS)
        return hits, ALONE
    beside = [one for hit in ids for one in known["beside"].get(hit, ())]
    policy = NO_FLOORS.replace(shape=cast("AnswerShape", known["shape"]))
    wanted = dict.fromkeys([*ids, *beside])
    found: Recall = scope.rerank(cue, wanted, reinforce=False, policy=policy)
    there = {hit.id: hit for hit in found}
    facts = []
    if known["facts"]:
        themes = scope.themes(settle=False)
        facts = _facts(themes, frozenset(known["facts"]))
    around = {hit: [there[one] for one in known["beside"].get(hit, ()) if one in there] for hit in ids}
    narratives = {
        one: _told(one, place.narrative, there[one].record.created_at)
        for one in known["summed_up"]
        if one in there and (place := found.outline.places.get(one)) is not None and place.narrative
    }
    headings = _headings(found.outline, ids)
    return [there[one] for one in ids if one in there], Around(around, headings, narratives, facts, known["judged"])


def _headings(outline: Outline, ids: Sequence[str]) -> dict[str, str]:
    """What a page says above the block of each: the theme, and the episode where episodes stand apart."""
    there = {one: outline.places[one] for one in ids if one in outline.places}
    return {one: (place.heading if outline.apart else place.theme) or "" for one, place in there.items()}


def _facts(themes: Any, of: frozenset[str]) -> list[Scored]:
    """What was distilled of these messages, under its theme, as memories that nobody can cite."""
    return [
        _told(known.ids[0], f"{theme.name}: {known.text}", known.at)
        for theme in themes
        for known in theme.known
        if known.ids and not of.isdisjoint(known.ids)
    ]


def _told(of: str, text: str, at: float | None) -> Scored:
    return Scored(Hit(Record(of, text, DISTILLED, created_at=at), 0.0, of), 0.0, {}, {})
