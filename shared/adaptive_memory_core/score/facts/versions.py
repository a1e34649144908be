"""Which candidates are versions of the best ones? Those in the same words, and those close to the cue in others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adaptive_memory_core.frozen import computed_once
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.records import Scored
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.glance import may_differ_little
from adaptive_memory_core.score.facts.names_the_old import names_the_old
from adaptive_memory_core.score.facts.said_of_others import relation_words, says_of_another
from adaptive_memory_core.score.facts.same_fact import answers, in_other_words, in_same_words, of_one_kind, related
from adaptive_memory_core.score.facts.seen import Seen
from adaptive_memory_core.score.facts.sentence_that_answers import keys_of
from adaptive_memory_core.score.facts.standing_out import nearness
from adaptive_memory_core.score.facts.statement import differ
from adaptive_memory_core.score.facts.unknown_relation import may_change, may_replace, of_the_subject
from adaptive_memory_core.score.ranking import similarities_of, stored_ids_of, texts_of

_ELSEWHERE = 0.3  # what counts that others have what is new, in the words of the older one; benchmarks/updates.py
_ANNOUNCED = 0.15  # what counts that it says that something has changed; benchmarks/updates.py
_AS_NEAR = 0.6  # share of the older one's similarity that it has at the least; benchmarks/updates.py
_WITHIN = 0.2  # of the one that most speaks for, within which others are versions as well; benchmarks/updates.py
_IN_TURN = 3.0  # times as far has to stand out what replaced what had replaced the first hit; benchmarks/updates.py
_FEWEST = 2  # other facts of a subject that tell how close such facts are
_APART = 0.4  # share of the old one's similarity that is taken for that where there are fewer; guess
_FEWEST_OF_SUBJECT = 4  # texts about the subject, of which it is told what all of them share; guess
_FOUND_ELSEWHERE = 0.8  # nearness that it counts that others have what is new; benchmarks/updates.py
_EACH_NEARER = 0.03  # nearness that each fact of the subject costs that is nearer to the cue; benchmarks/updates.py
_LEAST = 0.05  # similarity that such shares are taken of at the least; guess
NO_VECTORS: Mapping[str, Any] = {}


class OfFirst(NamedTuple):
    """The first hit with what says the same in the same words, and what speaks for those that do in others."""

    group: list[int]
    worth: Mapping[int, float]


class Versions:
    """The candidates, best first, with the times they began. Only what could be a version is looked at closely."""

    def __init__(
        self,
        ranked: Sequence[Scored],
        times: Sequence[float | None],
        cue: str,
        rule: Updates,
        speaker: str,
    ) -> None:
        self._top, self.times, self._rule, self._speaker = ranked, times, rule, speaker
        self._about, self._seen = asked(cue), Seen(texts_of(ranked), times, cue, rule)
        self._texts, self._said, self._with = self._seen.lower, self._seen.said, self._seen.holding

    def groups(self, vectors: Mapping[str, Any] = NO_VECTORS) -> Iterator[list[int]]:
        """The numbers of those that say the same, for the best ones that have versions; none is in two groups."""
        taken: set[int] = set()
        for best in range(min(self._rule.best, len(self.times))):
            if best in taken or not self._texts[best]:
                continue
            group = self._of_first(vectors) if best == 0 else self._of_next(best, taken)
            if len(group) > 1:
                taken.update(group)
                yield group

    def undecided(self) -> list[str]:
        """The ids in the collection of those whose vectors tell whether there is a newer version of the first hit;
        of none where they change nothing, as in most recalls."""
        if not self.times or not self._texts[0] or len(self._of_the_subject) < _FEWEST_OF_SUBJECT:
            return []
        if not self._may_be_told_by_vectors():
            return []
        return [self._stored_ids[one] for one in self._of_the_subject]

    def sure(self, one: int, other: int) -> bool:
        """Whether two say the same for sure, and nothing besides: in the same words, not within a longer message."""
        whole = self._seen.whole(one) and self._seen.whole(other)
        return whole and self.same_words(one, other)

    def same_words(self, one: int, other: int) -> bool:
        """Whether the newer of two says the same in the same words, whichever that is."""
        old, new = (one, other) if (self.times[one] or 0.0) <= (self.times[other] or 0.0) else (other, one)
        same = in_same_words(self._said(old), self._said(new), self._about, self._rule)
        return same and self._one_voice(old, new)

    def _of_next(self, best: int, taken: set[int]) -> list[int]:
        group = [best, *self._in_same_words(best, taken)]
        return group + _most_of(self._in_other_words(best, group, taken))

    @computed_once
    def _first(self) -> OfFirst:
        group = [0, *self._in_same_words(0, set())]
        return OfFirst(group, self._in_other_words(0, group, set()))

    def _of_first(self, vectors: Mapping[str, Any]) -> list[int]:
        """Of the first hit vectors tell more, where there are enough texts to know what all of them share."""
        group, worth = self._first
        beside = self._with_vectors(vectors)
        if len(beside) < _FEWEST_OF_SUBJECT:
            return group + _most_of(worth)
        known = {one: value for one, value in worth.items() if self._known(one)}
        return group + (_most_of(known) or self._standing_out(group, beside, vectors))

    def _may_be_told_by_vectors(self) -> bool:
        group, worth = self._first
        return not all(map(self._known, worth)) if worth else bool(self._newer(group, self._of_the_subject))

    def _known(self, one: int) -> bool:
        return related(self._said(one), self._about) is True

    def _in_same_words(self, best: int, taken: set[int]) -> list[int]:
        mine, few = self._said(best), self._rule.different_words
        keys = keys_of(mine.stems & self._about.stems)
        if not keys:
            return []
        spaces = self._seen.spaces
        least, most = spaces[best] - few, spaces[best] + few
        alike = [one for one in self._with(keys, {best, *taken}) if least <= spaces[one] <= most]
        alike = may_differ_little(mine, self._seen.looks, alike, few)
        alike = [one for one in alike if differ(mine.said, self._said(one).said) <= few]
        if not self._about.owners:  # then both have to begin with the same word
            alike = [one for one in alike if self._said(one).begins == mine.begins]
        return [one for one in alike if self.same_words(best, one)]

    def _in_other_words(self, best: int, group: Sequence[int], taken: set[int]) -> Mapping[int, float]:
        """Those that are newer than all of the group, and stand out among what else is said of the subject, with what
        speaks for them."""
        keys, newest = self._subject(best), max(self.times[one] or 0.0 for one in group)
        if (not keys and (self._about.subject or not self._about.first_person)) or not self._may_be_replaced(best):
            return {}
        beside = self._with(keys, {*group})
        return {
            one: value
            for one in beside
            if one not in taken
            and (self.times[one] or 0.0) > newest
            and in_other_words(self._said(best), self._said(one), self._about, self._rule)
            and self._one_voice(best, one)
            and (value := self._worth(best, one, beside)) is not None
            and (related(self._said(one), self._about) or not self._of_another(one, beside))
        }

    def _may_be_replaced(self, best: int) -> bool:
        """Whether it says what was asked for."""
        return not self._said(best).asks and answers(self._said(best), self._about)

    def _of_another(self, one: int, beside: Sequence[int]) -> bool:
        """Whether it is a version of what none asked for."""
        return any(self.same_words(one, other) for other in beside if other != one)

    def _worth(self, best: int, one: int, beside: Sequence[int]) -> float | None:
        """How much speaks for it; None where that is too little. What names the older one's answer as over, and what is
        known to be of the asked relation and to have changed, needs no more; what is not known to be has to stand out
        among all that is said of the subject."""
        said = self._said(one)
        known = related(said, self._about)
        if (known and said.announced) or names_the_old(self._said(best), said, self._about):
            return 1.0
        if known:
            close = self._closeness(best, one, beside) if of_one_kind(self._said(best), said, self._about) else 0.0
            return None if close < self._rule.close else close
        if not self._about.relations.isdisjoint(self._said(best).relations):
            return None
        out = self._stands_out(best, one, beside)
        return None if out is None or out < self._rule.close_if_unknown else out

    def _closeness(self, best: int, one: int, beside: Sequence[int]) -> float:
        """How near to the cue it is: what else is said of the subject is at 0, the older one at 1."""
        mine, old = self._top[one].similarity, self._top[best].similarity
        rest = [self._top[other].similarity for other in beside if other != one]
        usual = sum(rest) / len(rest) if len(rest) >= _FEWEST else _APART * old
        return (mine - usual) / max(_LEAST, old - usual)

    def _stands_out(self, best: int, one: int, beside: Sequence[int]) -> float | None:
        """By how much it is nearer to the cue than the nearest other fact of the subject, as a share of the older one's
        similarity; with what else tells. None where it is not near, or an answer of another kind."""
        elsewhere = self._said_of_others(best, one)
        if not elsewhere and not of_one_kind(self._said(best), self._said(one), self._about):
            return None
        mine, old = self._top[one].similarity, self._top[best].similarity
        if mine < _AS_NEAR * old:
            return None
        nearest = max((self._top[other].similarity for other in beside if other != one), default=_APART * old)
        told = _ELSEWHERE * elsewhere + _ANNOUNCED * self._said(one).announced
        return (mine - nearest) / max(_LEAST, old) + told

    def _standing_out(self, group: Sequence[int], beside: Sequence[int], vectors: Mapping[str, Any]) -> list[int]:
        """Those newer than all of the first hit's group that announce a change and stand out beside the others; and
        those that have replaced these in turn."""
        found: list[int] = []
        latest, least, newer = 0, self._rule.stands_out, self._newer(group, beside)
        while newer:
            near = self._nearness(latest, beside, vectors)
            worth = {one: self._lead(0, one, near, {*group, *found}) for one in newer}
            come = [one for one in _most_of(worth) if worth[one] >= least]
            if not come:
                break
            found += come
            latest, least = max(come, key=lambda one: self.times[one] or 0.0), _IN_TURN * self._rule.stands_out
            newer = [one for one in newer if (self.times[one] or 0.0) > (self.times[latest] or 0.0)]
        return found

    def _nearness(self, one: int, beside: Sequence[int], vectors: Mapping[str, Any]) -> Mapping[int, float]:
        """How near each is to the cue and to this one."""
        ids, similarities = self._stored_ids, self._similarities
        rows = [vectors[ids[other]] for other in beside]
        near = nearness(rows, [similarities[other] for other in beside], beside.index(one))
        return dict(zip(beside, near, strict=True))

    def _newer(self, group: Sequence[int], beside: Sequence[int]) -> list[int]:
        """Those that may say what became of the first hit, by their words."""
        if 0 not in beside or not may_change(self._said(0), self._about):
            return []
        newest = max(self.times[one] or 0.0 for one in group)
        return [one for one in beside if one not in group and self._replaces(0, one, newest)]

    @computed_once
    def _of_the_subject(self) -> list[int]:
        """Those about what the cue names."""
        return of_the_subject(self._seen.looks, self._about)

    def _with_vectors(self, vectors: Mapping[str, Any]) -> list[int]:
        """Those of them that have vectors."""
        if not vectors:
            return []
        ids = self._stored_ids
        return [one for one in self._of_the_subject if ids[one] in vectors]

    @computed_once
    def _stored_ids(self) -> list[str]:
        return stored_ids_of(self._top)

    @computed_once
    def _similarities(self) -> list[float]:
        return similarities_of(self._top)

    def _replaces(self, best: int, one: int, newest: float) -> bool:
        if (self.times[one] or 0.0) <= newest:
            return False
        return may_replace(self._said(best), self._said(one), self._about, self._rule) and self._one_voice(best, one)

    def _lead(self, best: int, one: int, near: Mapping[int, float], group: set[int]) -> float:
        """By how much it is nearer than the nearest other fact of the subject; with what else tells: what others have,
        and how many facts of the subject are nearer to the cue by their whole vectors."""
        group, close = {*group, one}, self._similarities
        nearer = sum(close[other] > close[one] for other in near if other not in group)
        others = [value for other, value in near.items() if other not in group and not self.same_words(one, other)]
        told = _FOUND_ELSEWHERE * self._said_of_others(best, one) - _EACH_NEARER * nearer
        return near[one] - max(others, default=0.0) + told

    def _said_of_others(self, best: int, one: int) -> bool:
        """Whether another text says what is new in this one in the words of the best."""
        old, new, about = self._said(best), self._said(one), self._about
        keys = keys_of(relation_words(old, about))
        most = self._rule.different_words
        return bool(keys) and any(
            says_of_another(old, new, self._said(third), about, most) for third in self._with(keys, {best, one})
        )

    def _subject(self, best: int) -> list[str]:
        """What a text has to hold to be about the same; nothing where it is about the one who asks."""
        subject = self._about.subject
        return keys_of(subject) if subject <= self._said(best).stems else []

    def _one_voice(self, one: int, other: int) -> bool:
        """Whether both are of one speaker, or name whom they speak of: "I" is somebody else in another's words."""
        same = self._top[one].record.stored.get(self._speaker) == self._top[other].record.stored.get(self._speaker)
        return same or bool(self._about.names)


def _most_of(worth: Mapping[int, float]) -> list[int]:
    """Those that most speaks for, and those for which hardly less does.

    >>> _most_of({1: 0.5, 2: 1.0, 3: 0.9}), _most_of({})
    ([2, 3], [])
    """
    return [one for one, value in worth.items() if value >= max(worth.values()) - _WITHIN]
