"""Which of the candidates that make the same statement is the newest? It takes the place of the best one."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from adaptive_memory_core.cue.question_kinds import asks_for_many, asks_history, in_past_tense, names_in
from adaptive_memory_core.cue.time.intent import Intent
from adaptive_memory_core.records import Scored
from adaptive_memory_core.score.copies import about_the_same, asked_for, says_otherwise_now
from adaptive_memory_core.score.ranking import texts_of, times_of
from adaptive_memory_core.score.same_statement import Version, statement_versions

BEST = 3  # results, the best ones, whose newer and older versions are looked for; guess
COMPARED = 40  # of the best candidates that are looked at for versions of them; guess
NEWEST = "newest"  # the name of the part that lifts a score
Facts = Mapping[str, Hashable]  # what each record says, by its id in the collection


class NewestFirstQuery(NamedTuple):
    """What is asked for, under which key records name their speaker, and what a rule of the caller's says of them."""

    cue: str
    speaker: str
    facts: Facts | None = None


class StatementGroup(NamedTuple):
    """Candidates that make the same statement, by their places, and whether that is sure."""

    places: Sequence[int]
    sure: bool = True


def newest_first(
    ranked: Sequence[Scored], told: NewestFirstQuery, intent: Intent, *, reworded: bool = True
) -> Sequence[Scored]:
    """The candidates, best first, with the newest of each statement at the place of the best that makes it.

    The older ones follow at the places that are left, newest first, and each names the newest (`hit.older_than`).
    Nothing changes if the cue asks for what was, or for records of one time or of an unknown one. `told.facts` are a
    caller's own, instead of our rule.

    >>> from adaptive_memory_core.cue.time.intent import NO_INTENT
    >>> from adaptive_memory_core.records import Hit, Record
    >>> texts = ("Ilse lives in Oslo.", "Colm lives in Rome.", "Ilse lives in Turin.")
    >>> ranked = [Scored(Hit(Record(text, text, created_at=float(day)), 0.5, text), score, {"similarity": score}, {})
    ...           for day, (text, score) in enumerate(zip(texts, (0.9, 0.5, 0.4)))]
    >>> found = newest_first(ranked, NewestFirstQuery("Where does Ilse live?", "speaker"), NO_INTENT)
    >>> [(one.id, one.score, one.older_than) for one in found[:2]]
    [('Ilse lives in Turin.', 0.9, None), ('Ilse lives in Oslo.', 0.9, 'Ilse lives in Turin.')]
    """
    times = times_of(ranked)[:COMPARED]
    if len(set(times)) < 2 or intent.windows or asks_history(told.cue, intent):
        return ranked  # the same statement of another time than is asked about is another memory
    if told.facts is None and asks_for_many(told.cue):
        return ranked
    found = (
        _groups(ranked, times, told, reworded=reworded) if told.facts is None else _labelled(ranked, times, told.facts)
    )
    groups = [group for group in found if len(group.places) > 1]
    if not groups:
        return ranked
    order = list(range(len(ranked)))
    moved: dict[int, Scored] = {}
    for group in groups:
        _in_turn(ranked, times, group, order, moved)
    return _alike([moved.get(one, ranked[one]) for one in order])


def _groups(
    ranked: Sequence[Scored], times: Sequence[float | None], told: NewestFirstQuery, *, reworded: bool
) -> Iterator[StatementGroup]:
    """What makes the same statement as one of the best; none is in two groups."""
    texts = [text if time is not None else "" for text, time in zip(texts_of(ranked), times, strict=False)]
    found, taken = dict(statement_versions(texts, told.cue, best=BEST)), set[int]()
    if reworded and asked_for(told.cue):
        same = found.get(0, [])
        found[0] = [*same, *_reworded(texts, times, told.cue, [0, *(one.number for one in same)])]
    past = bool(found) and in_past_tense(told.cue)
    for best, others in sorted(found.items()):
        if best not in taken and (not past or in_past_tense(texts[best])):
            same = [one for one in others if one.number not in taken and _one_voice(ranked, best, one.number, told)]
            group = [best, *(one.number for one in same)]
            taken.update(group if same else ())
            yield StatementGroup(group, sure=not past and all(one.sure for one in same))


def _reworded(texts: Sequence[str], times: Sequence[float | None], cue: str, group: Sequence[int]) -> Iterator[Version]:
    """What says otherwise in other words, and is newer than all that says it in the same words as the first hit; and
    those of the best hits that are older than the first, if it is the one that says otherwise."""
    latest = max(times[one] or 0.0 for one in group)
    for number, time in enumerate(times):
        if number and (time or 0.0) > latest and says_otherwise_now(texts[0], texts[number], cue):
            yield Version(number, sure=False)
        elif number >= BEST or number in group or (time or 0.0) >= (times[0] or 0.0):
            continue
        elif about_the_same(texts[number], cue) and says_otherwise_now(texts[number], texts[0], cue):
            yield Version(number, sure=False)


def _one_voice(ranked: Sequence[Scored], one: int, other: int, told: NewestFirstQuery) -> bool:
    """Whether both are of one speaker, or the cue names whom they speak of: "I" is another person for others."""
    mine, theirs = (ranked[place].record.stored.get(told.speaker) for place in (one, other))
    return mine == theirs or bool(names_in(told.cue))


def _labelled(ranked: Sequence[Scored], times: Sequence[float | None], facts: Facts) -> Iterator[StatementGroup]:
    """What says the same, as a caller has it."""
    groups: dict[Hashable, list[int]] = {}
    for number, time in enumerate(times):
        fact = facts.get(ranked[number].hit._stored_id)
        if fact is not None and time is not None:
            groups.setdefault(fact, []).append(number)
    return map(StatementGroup, groups.values())


def _in_turn(
    ranked: Sequence[Scored],
    times: Sequence[float | None],
    group: StatementGroup,
    order: list[int],
    found: dict[int, Scored],
) -> None:
    """The newest of a group at the place of its best, and the others at the places that are left, newest first."""

    def now_at(place: int) -> Scored:
        return found.get(order[place], ranked[order[place]])

    newest, *older = sorted(group.places, key=lambda one: (-(times[one] or 0.0), one))
    if times[newest] == times[older[-1]]:
        return
    first = min(order.index(one) for one in group.places)
    scores = {newest: now_at(first).score}
    places = sorted(order.index(one) for one in group.places if one != newest)
    scores |= {one: now_at(place).score for one, place in zip(older, places, strict=True)}
    before = order.index(newest)
    for one, place in zip(older, places, strict=True):
        order[place] = one
    order.insert(first, order.pop(before))
    for one, score in scores.items():
        outdated = times[one] != times[newest]
        found[one] = _scored(ranked[one], score, ranked[newest].id if outdated else None)
        if outdated and not group.sure:
            found[one] = replace(found[one], hit=replace(found[one].hit, older_perhaps=True))


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
