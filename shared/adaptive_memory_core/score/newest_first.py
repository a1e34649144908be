"""Which of the candidates that say the same is the newest? It takes the place of the best one; the others follow."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from adaptive_memory_core.cue.asks_for_many import asks_for_many
from adaptive_memory_core.cue.time.asks_history import asks_history, in_past_tense
from adaptive_memory_core.cue.time.intent import Intent
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.records import Scored
from adaptive_memory_core.score.facts.versions import NO_VECTORS, Versions
from adaptive_memory_core.score.ranking import times_of

NEWEST = "newest"  # the name of the part that lifts a score
Facts = Mapping[str, Hashable]  # what each record says, by its id in the collection


class Told(NamedTuple):
    """What is asked for, under which key records name their speaker, and what a rule of the caller's says of them."""

    cue: str
    speaker: str
    facts: Facts | None = None


def newest_first(
    ranked: Sequence[Scored],
    cue: str,
    rule: Updates,
    intent: Intent,
    *,
    speaker: str,
    facts: Facts | None = None,
    vectors: Mapping[str, Any] = NO_VECTORS,
) -> Sequence[Scored]:
    """The candidates, best first, with the newest of each fact at the place of the best that says it.

    The older ones follow at the places that are left, newest first, and each names the newest (`hit.older_than`).
    Nothing changes where the cue asks for what was, and for records of one time, or of an unknown one. `facts` are a
    caller's own, in the place of our rules. `vectors`, by the ids in the collection, tell more of relations that no
    lexicon knows.

    >>> from adaptive_memory_core.cue.time.intent import NO_INTENT
    >>> from adaptive_memory_core.records import Hit, Record
    >>> texts = ("Ilse lives in Oslo.", "Colm lives in Rome.", "Ilse lives in Turin.")
    >>> ranked = [Scored(Hit(Record(text, text, created_at=float(day)), 0.5, text), score, {"similarity": score}, {})
    ...           for day, (text, score) in enumerate(zip(texts, (0.9, 0.5, 0.4)))]
    >>> found = newest_first(ranked, "Where does Ilse live?", Updates(), NO_INTENT, speaker="speaker")
    >>> [(one.id, one.score, one.older_than) for one in found[:2]]
    [('Ilse lives in Turin.', 0.9, None), ('Ilse lives in Oslo.', 0.9, 'Ilse lives in Turin.')]
    """
    told = Told(cue, speaker, facts)
    return put_first(ranked, versions_among(ranked, told, rule, intent), facts, vectors)


def versions_among(ranked: Sequence[Scored], told: Told, rule: Updates, intent: Intent) -> Versions | None:
    """What is looked through for versions of the best; None where nothing may come first for being newer."""
    if len(ranked) < 2 or not _wanted(told.cue, rule, intent):
        return None
    if told.facts is None and not _of_one_thing_now(told.cue):
        return None
    times = times_of(ranked)[: rule.candidates]
    return None if len(set(times)) < 2 else Versions(ranked, times, told.cue, rule, told.speaker)


def put_first(
    ranked: Sequence[Scored], versions: Versions | None, facts: Facts | None, vectors: Mapping[str, Any]
) -> Sequence[Scored]:
    """The candidates with the newest of each fact first, as far as words tell, and vectors where they are known."""
    if versions is None:
        return ranked
    times = versions.times
    groups = list(versions.groups(vectors)) if facts is None else _told(ranked, times, facts)
    if not groups:
        return ranked
    sure = versions.sure if facts is None else _always
    order = list(range(len(ranked)))
    found: dict[int, Scored] = {}
    for group in groups:
        _in_turn(ranked, times, group, order, found, sure)
    return _alike([found.get(one, ranked[one]) for one in order])


def looks_for_versions(cue: str, rule: Updates, intent: Intent) -> bool:
    """Whether our own rules look for versions of a fact.

    >>> from adaptive_memory_core.cue.time.intent import NO_INTENT
    >>> [looks_for_versions(cue, Updates(), NO_INTENT) for cue in ("Where does Ilse live?", "Where did Ilse live?")]
    [True, False]
    """
    return _wanted(cue, rule, intent) and _of_one_thing_now(cue)


def _wanted(cue: str, rule: Updates, intent: Intent) -> bool:
    return rule.newest_first and not asks_history(cue, intent)


def _of_one_thing_now(cue: str) -> bool:
    """Whether it asks for one thing, as it is now."""
    return not asks_for_many(cue) and not in_past_tense(cue)


def _told(ranked: Sequence[Scored], times: Sequence[float | None], facts: Facts) -> list[list[int]]:
    """What says the same, as a caller has it."""
    groups: dict[Hashable, list[int]] = {}
    for number, time in enumerate(times):
        fact = facts.get(ranked[number].hit._stored_id)
        if fact is not None and time is not None:
            groups.setdefault(fact, []).append(number)
    return [group for group in groups.values() if len(group) > 1]


def _in_turn(
    ranked: Sequence[Scored],
    times: Sequence[float | None],
    group: list[int],
    order: list[int],
    found: dict[int, Scored],
    sure: Callable[[int, int], bool],
) -> None:
    """The newest of a group at the place of its best, and the others at the places that are left, newest first."""

    def now_at(place: int) -> Scored:
        return found.get(order[place], ranked[order[place]])

    newest, *older = sorted(group, key=lambda one: (-(times[one] or 0.0), one))
    if times[newest] == times[older[-1]]:
        return
    first = min(order.index(one) for one in group)
    scores = {newest: now_at(first).score}
    places = sorted(order.index(one) for one in group if one != newest)
    scores |= {one: now_at(place).score for one, place in zip(older, places, strict=True)}
    before = order.index(newest)
    for one, place in zip(older, places, strict=True):
        order[place] = one
    order.insert(first, order.pop(before))
    for one, score in scores.items():
        outdated = times[one] != times[newest]
        found[one] = _scored(ranked[one], score, ranked[newest].id if outdated else None)
        if outdated and not sure(one, newest):
            found[one] = replace(found[one], hit=replace(found[one].hit, older_perhaps=True))


def _always(_one: int, _other: int) -> bool:
    return True


def _alike(ranked: list[Scored]) -> list[Scored]:
    """All with the same parts, as everywhere: the log writes them down by their places."""
    if not any(NEWEST in one.parts for one in ranked):
        return ranked
    return [one if NEWEST in one.parts else replace(one, parts={**one.parts, NEWEST: 0.0}) for one in ranked]


def _scored(one: Scored, score: float, older_than: str | None) -> Scored:
    """With that score, and parts that add up to it."""
    hit = one.hit if older_than is None else replace(one.hit, older_than=older_than)
    if score >= one.score:
        parts = one.parts if score == one.score else {**one.parts, NEWEST: score - one.score}
    else:
        parts = {name: part * score / one.score for name, part in one.parts.items()}
    return replace(one, hit=hit, score=score, parts=parts)
