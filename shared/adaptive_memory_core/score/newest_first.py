"""Reordering of candidates that make the same statement, so that the newest comes first."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.cue.question_kinds import asks_for_many, asks_history, in_past_tense, names_in
from adaptive_memory_core.cue.time.intent import Intent
from adaptive_memory_core.score.copies import about_the_same, asked_for, says_otherwise_now
from adaptive_memory_core.score.ranking import Ranking
from adaptive_memory_core.score.same_statement import Version, statement_versions

BEST = 3  # best results for which newer and older versions are searched; guess
COMPARED = 40  # best candidates that are searched for such versions; guess
NEWEST = "newest"  # the name of the part that lifts a score
Facts = Mapping[str, Hashable]  # a label for each record's fact, by its id in the collection


class NewestFirstQuery(NamedTuple):
    """The cue, the metadata key of speakers, and the labels of the caller's rule, if there is one."""

    cue: str
    speaker: str
    facts: Facts | None = None


Statement = tuple[Sequence[int], bool]  # the candidates that make it, by their places, and whether this is certain


def newest_first(ranking: Ranking, told: NewestFirstQuery, intent: Intent, *, reworded: bool = True) -> Ranking:
    """The candidates, best first, with the newest version of each statement at the place of the best one.

    The older versions follow at the remaining places, newest first, and refer to the newest (`hit.older_than`). Nothing
    changes if the cue asks about the past, or if all records have the same time or none. `told.facts` from the caller
    replace the built-in rule.

    >>> from adaptive_memory_core.cue.time.intent import NO_INTENT
    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> texts, scores = ("Ilse lives in Oslo.", "Colm lives in Rome.", "Ilse lives in Turin."), (0.9, 0.5, 0.4)
    >>> hits = [Hit(Record(text, text, created_at=float(day)), 0.5, text) for day, text in enumerate(texts)]
    >>> ranking = Ranking(as_candidates(hits), range(3), scores, {"similarity": scores}, {})
    >>> found = newest_first(ranking, NewestFirstQuery("Where does Ilse live?", "speaker"), NO_INTENT)
    >>> [(one.id, one.score, one.older_than) for one in found[:2]]
    [('Ilse lives in Turin.', 0.9, None), ('Ilse lives in Oslo.', 0.9, 'Ilse lives in Turin.')]
    """
    columns, order = ranking._candidates.columns, ranking.order
    times = [columns.began[number] for number in order[:COMPARED]]
    if len(set(times)) < 2 or intent.windows or intent.lean in ("past", "earliest") or asks_history(told.cue):
        return ranking  # the same statement at another time is another memory
    if told.facts is not None:
        groups = _labelled([columns.stored_ids[number] for number in order[: len(times)]], times, told.facts)
    elif asks_for_many(told.cue):
        return ranking
    else:
        groups = _groups(ranking, times, told, reworded=reworded)
    moved = _Moved(list(range(len(order))), [ranking.scores[number] for number in order], {})
    for places, sure in groups:
        if len(places) > 1:
            _put_newest_first(times, places, moved, sure=sure)
    return _reordered(ranking, moved) if moved.older else ranking


class _Moved(NamedTuple):
    """The former place of the candidate at each place, the scores, and for older versions the place of the newest and
    whether the match is certain. The newest refers to itself."""

    order: list[int]
    scores: list[float]
    older: dict[int, tuple[int, bool]]


def _put_newest_first(times: Sequence[float | None], group: Sequence[int], moved: _Moved, *, sure: bool) -> None:
    """Move the newest of a group to the place of its best, and the others to the remaining places, newest first."""
    order, scores, older = moved
    newest, *others = sorted(group, key=lambda one: (-(times[one] or 0.0), one))
    if times[newest] == times[others[-1]]:
        return
    first = min(order.index(one) for one in group)
    places = sorted(order.index(one) for one in group if one != newest)
    taken = [scores[order[first]], *(scores[order[place]] for place in places)]
    before = order.index(newest)
    for one, place in zip(others, places, strict=True):
        order[place] = one
    order.insert(first, order.pop(before))
    for one, score in zip((newest, *others), taken, strict=True):
        scores[one] = score
        older[one] = (newest if times[one] != times[newest] else one, sure)


def _reordered(ranking: Ranking, moved: _Moved) -> Ranking:
    """The ranking in the new order, with parts that add up to the new scores."""
    numbers, ids = ranking.order, ranking._candidates.columns.ids
    scores, lifted = list(ranking.scores), [0.0] * len(ranking.scores)
    parts = {name: list(values) for name, values in ranking.parts.items()}
    older: dict[int, tuple[str, bool]] = {}
    for place, (newest, sure) in moved.older.items():
        number, score = numbers[place], moved.scores[place]
        own, scores[number] = scores[number], score
        lifted[number] = max(0.0, score - own)
        if score < own:
            for values in parts.values():
                values[number] = values[number] * score / own
        if newest != place:
            older[number] = ids[numbers[newest]], sure
    if any(lifted):
        parts[NEWEST] = lifted
    order = [numbers[place] for place in moved.order]
    return Ranking(ranking._candidates, order, scores, parts, ranking.signals, older)


def _groups(
    ranking: Ranking, times: Sequence[float | None], told: NewestFirstQuery, *, reworded: bool
) -> list[Statement]:
    """Groups of candidates that make the same statement as one of the best; no candidate is in two groups."""
    columns, numbers = ranking._candidates.columns, ranking.order
    texts = ["" if time is None else columns.texts[one] for one, time in zip(numbers, times, strict=False)]
    found = statement_versions(texts, told.cue, best=BEST)
    if reworded and asked_for(told.cue):
        same = found.get(0, [])
        found[0] = [*same, *_reworded(texts, times, told.cue, [0, *(one.number for one in same)])]
    if not found:
        return []
    past, one_voice = in_past_tense(told.cue), bool(names_in(told.cue))
    groups, taken = list[Statement](), set[int]()
    for best, others in sorted(found.items()):
        if best not in taken and (not past or in_past_tense(texts[best])):
            mine = columns.stored[numbers[best]].get(told.speaker)  # "I" depends on the speaker
            same = [
                one
                for one in others
                if one.number not in taken
                and (one_voice or columns.stored[numbers[one.number]].get(told.speaker) == mine)
            ]
            group = [best, *(one.number for one in same)]
            taken.update(group if same else ())
            groups.append((group, not past and all(one.sure for one in same)))
    return groups


def _reworded(texts: Sequence[str], times: Sequence[float | None], cue: str, group: Sequence[int]) -> Iterator[Version]:
    """Reworded newer versions of the first hit, newer than all versions in the same words; and older versions among the
    best hits, if the first hit is the reworded one."""
    latest = max(times[one] or 0.0 for one in group)
    for number, time in enumerate(times):
        if number and (time or 0.0) > latest and says_otherwise_now(texts[0], texts[number], cue):
            yield Version(number, sure=False)
        elif number >= BEST or number in group or (time or 0.0) >= (times[0] or 0.0):
            continue
        elif about_the_same(texts[number], cue) and says_otherwise_now(texts[number], texts[0], cue):
            yield Version(number, sure=False)


def _labelled(ids: Sequence[str], times: Sequence[float | None], facts: Facts) -> list[Statement]:
    """Groups of candidates with the same label from the caller's rule."""
    groups: dict[Hashable, list[int]] = {}
    for number, (one, time) in enumerate(zip(ids, times, strict=True)):
        fact = facts.get(one)
        if fact is not None and time is not None:
            groups.setdefault(fact, []).append(number)
    return [(places, True) for places in groups.values()]
