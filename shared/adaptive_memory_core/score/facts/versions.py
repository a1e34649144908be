"""Which candidates are versions of the best ones? Those in the same words, and those close to the cue in others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adaptive_memory_core.frozen import computed_once
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.records import Scored
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.glance import Glance, glance, may_differ_little
from adaptive_memory_core.score.facts.said_of_others import relation_words, says_of_another
from adaptive_memory_core.score.facts.same_fact import answers, in_other_words, in_same_words, of_one_kind, related
from adaptive_memory_core.score.facts.sentence_that_answers import keys_of, sentence_that_answers
from adaptive_memory_core.score.facts.standing_out import nearness
from adaptive_memory_core.score.facts.statement import Statement, differ, statement
from adaptive_memory_core.score.facts.unknown_relation import may_change, may_replace, of_the_subject
from adaptive_memory_core.score.ranking import similarities_of, stored_ids_of, texts_of

_LONG_AMONG = 20  # of the best candidates, in which a sentence is looked for where they are long; for speed
_ELSEWHERE = 0.3  # what counts that others have what is new, in the words of the older one; benchmarks/updates.py
_ANNOUNCED = 0.15  # what counts that it says that something has changed; benchmarks/updates.py
_AS_NEAR = 0.6  # share of the older one's similarity that it has at the least; benchmarks/updates.py
_WITHIN = 0.2  # of the one that most speaks for, within which others are versions as well; benchmarks/updates.py
_FEWEST = 2  # other facts of a subject that tell how close such facts are
_APART = 0.4  # share of the old one's similarity that is taken for that where there are fewer; guess
_FEWEST_OF_SUBJECT = 4  # texts about the subject, of which it is told what all of them share; guess
_FOUND_ELSEWHERE = 0.8  # nearness that it counts that others have what is new; benchmarks/updates.py
_EACH_NEARER = 0.03  # nearness that each fact of the subject costs that is nearer to the cue; benchmarks/updates.py
_LEAST = 0.05  # similarity that such shares are taken of at the least; guess
_NOTHING = glance("")
NO_VECTORS: Mapping[str, Any] = {}


class Versions:
    """The candidates, best first, with the times they began. Only what could be a version is looked at closely."""

    def __init__(
        self,
        ranked: Sequence[Scored],
        times: Sequence[float | None],
        cue: str,
        rule: Updates,
        speaker: str,
        vectors: Mapping[str, Any] = NO_VECTORS,
    ) -> None:
        self._vectors = vectors
        self._top, self._times, self._rule, self._speaker = ranked, times, rule, speaker
        self._about, self._whole = asked(cue), texts_of(ranked)
        self._statements: list[Statement | None] = [None] * len(times)
        longest = rule.longest_text
        self._looks = [
            _NOTHING
            if time is None
            else look
            if len(text) <= longest and (look := glance(text)).one_sentence
            else self._of_several(text, cue, place)
            for place, (text, time) in enumerate(zip(self._whole, times, strict=False))
        ]
        self._texts, self._spaces = [one.lower for one in self._looks], [one.spaces for one in self._looks]

    def groups(self) -> Iterator[list[int]]:
        """The numbers of those that say the same, for the best ones that have versions; none is in two groups."""
        taken: set[int] = set()
        for best in range(min(self._rule.best, len(self._times))):
            if best in taken or not self._texts[best]:
                continue
            group = [best, *self._in_same_words(best, taken)]
            group += self._in_other_words(best, group, taken) or self._standing_out(best, group, taken)
            if len(group) > 1:
                taken.update(group)
                yield group

    def sure(self, one: int, other: int) -> bool:
        """Whether two say the same for sure, and nothing besides: in the same words, not within a longer message."""
        whole = all(self._whole[place] == self._looks[place].text for place in (one, other))
        return whole and self.same_words(one, other)

    def same_words(self, one: int, other: int) -> bool:
        """Whether the newer of two says the same in the same words, whichever that is."""
        old, new = (one, other) if (self._times[one] or 0.0) <= (self._times[other] or 0.0) else (other, one)
        same = in_same_words(self._said(old), self._said(new), self._about, self._rule)
        return same and self._one_voice(old, new)

    def _in_same_words(self, best: int, taken: set[int]) -> list[int]:
        mine, few = self._said(best), self._rule.different_words
        keys = keys_of(mine.stems & self._about.stems)
        if not keys:
            return []
        least, most = self._spaces[best] - few, self._spaces[best] + few
        alike = [one for one in self._with(keys, {best, *taken}) if least <= self._spaces[one] <= most]
        alike = may_differ_little(mine, self._looks, alike, few)
        alike = [one for one in alike if differ(mine.said, self._said(one).said) <= few]
        if not self._about.owners:  # then both have to begin with the same word
            alike = [one for one in alike if self._said(one).begins == mine.begins]
        return [one for one in alike if self.same_words(best, one)]

    def _in_other_words(self, best: int, group: Sequence[int], taken: set[int]) -> list[int]:
        """Those that are newer than all of the group, and stand out among what else is said of the subject."""
        keys, newest = self._subject(best), max(self._times[one] or 0.0 for one in group)
        if (not keys and (self._about.subject or not self._about.first_person)) or not self._may_be_replaced(best):
            return []
        beside = self._with(keys, {*group})
        worth = {
            one: value
            for one in beside
            if one not in taken
            and (self._times[one] or 0.0) > newest
            and in_other_words(self._said(best), self._said(one), self._about, self._rule)
            and self._one_voice(best, one)
            and (value := self._worth(best, one, beside)) is not None
            and (related(self._said(one), self._about) or not self._of_another(one, beside))
        }
        return [one for one, value in worth.items() if value >= max(worth.values()) - _WITHIN]

    def _may_be_replaced(self, best: int) -> bool:
        """Whether it says what was asked for."""
        return not self._said(best).asks and answers(self._said(best), self._about)

    def _of_another(self, one: int, beside: Sequence[int]) -> bool:
        """Whether it is a version of what none asked for."""
        return any(self.same_words(one, other) for other in beside if other != one)

    def _worth(self, best: int, one: int, beside: Sequence[int]) -> float | None:
        """How much speaks for it; None where that is too little. What is known to be of the asked relation, and to have
        changed, needs no more; what is not known to be has to stand out among all that is said of the subject."""
        said = self._said(one)
        known = related(said, self._about)
        if known and said.announced:
            return 1.0
        if known:
            close = self._closeness(best, one, beside) if of_one_kind(self._said(best), said, self._about) else 0.0
            return None if close < self._rule.close else close
        if self._about.relations or (best == 0 and self._vectors_tell()):
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

    def _standing_out(self, best: int, group: Sequence[int], taken: set[int]) -> list[int]:
        """Those newer than all of the group that announce a change and stand out, of the first hit alone."""
        if best or not self._vectors_tell() or not may_change(self._said(best), self._about):
            return []
        beside = self._of_the_subject
        newest = max(self._times[one] or 0.0 for one in group)
        newer = [one for one in beside if one not in taken and one not in group and self._replaces(best, one, newest)]
        if not newer or best not in beside:
            return []
        ids, similarities = self._stored_ids, self._similarities
        vectors = [self._vectors[ids[one]] for one in beside]
        near = nearness(vectors, [similarities[one] for one in beside], beside.index(best))
        found = dict(zip(beside, near, strict=True))
        worth = {one: self._lead(best, one, found, {*group}) for one in newer}
        least = max(self._rule.stands_out, max(worth.values()) - _WITHIN)
        return [one for one, lead in worth.items() if lead >= least]

    @computed_once
    def _of_the_subject(self) -> list[int]:
        """Those about what the cue names that have vectors."""
        if not self._vectors:
            return []
        ids = self._stored_ids
        return [one for one in of_the_subject(self._looks, self._about) if ids[one] in self._vectors]

    @computed_once
    def _stored_ids(self) -> list[str]:
        return stored_ids_of(self._top)

    @computed_once
    def _similarities(self) -> list[float]:
        return similarities_of(self._top)

    def _vectors_tell(self) -> bool:
        """Whether there are enough texts of the subject to know what all of them share."""
        return len(self._of_the_subject) >= _FEWEST_OF_SUBJECT

    def _replaces(self, best: int, one: int, newest: float) -> bool:
        if (self._times[one] or 0.0) <= newest:
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

    def _with(self, keys: Sequence[str], without: set[int]) -> list[int]:
        """Those whose text holds all of the keys."""
        texts = self._texts
        found: Sequence[int] = range(len(texts))
        for key in sorted(keys, key=len, reverse=True):  # the longest are the rarest
            found = [one for one in found if key in texts[one]]
        return [one for one in found if one not in without and texts[one]]

    def _subject(self, best: int) -> list[str]:
        """What a text has to hold to be about the same; nothing where it is about the one who asks."""
        subject = self._about.subject
        return keys_of(subject) if subject <= self._said(best).stems else []

    def _one_voice(self, one: int, other: int) -> bool:
        """Whether both are of one speaker, or name whom they speak of: "I" is somebody else in another's words."""
        same = self._top[one].record.stored.get(self._speaker) == self._top[other].record.stored.get(self._speaker)
        return same or bool(self._about.names)

    def _said(self, one: int) -> Statement:
        found = self._statements[one]
        if found is None:
            found = self._statements[one] = statement(self._looks[one].text)
        return found

    def _of_several(self, text: str, cue: str, place: int) -> Glance:
        """Of a text of several sentences the one that answers; of a short one else all of it."""
        longest = self._rule.longest_text
        if len(text) <= longest:
            return glance(sentence_that_answers(text, cue, longest) or text)
        if place >= _LONG_AMONG or len(text) > self._rule.longest_message:
            return _NOTHING
        return glance(sentence_that_answers(text, cue, longest))
