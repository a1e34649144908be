"""Which candidates are versions of the best ones? Those in the same words, and those close to the cue in others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.records import Scored
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.same_fact import answers, in_other_words, in_same_words, related
from adaptive_memory_core.score.facts.sentence_that_answers import keys_of, sentence_that_answers
from adaptive_memory_core.score.facts.statement import Statement, differ, statement
from adaptive_memory_core.score.ranking import texts_of

_END = re.compile(r"[.!?] |[\n\u3002]")
_LONG_AMONG = 20  # of the best candidates, in which a sentence is looked for where they are long; for speed
_SEEN = 0.5  # of closeness, for what is new in a text being said of the same kind of thing; benchmarks/updates.py
_WITHIN = 0.2  # of the one that most speaks for, within which others are versions as well; benchmarks/updates.py
_FEWEST = 2  # other facts of a subject that tell how close such facts are
_APART = 0.4  # share of the old one's similarity that is taken for that where there are fewer; guess


class Versions:
    """The candidates, best first, with the times they began. Only what could be a version is looked at closely."""

    def __init__(
        self, ranked: Sequence[Scored], times: Sequence[float | None], cue: str, rule: Updates, speaker: str
    ) -> None:
        self._top, self._times, self._rule, self._speaker = ranked, times, rule, speaker
        self._about, self._whole = asked(cue), texts_of(ranked)
        self._statements: list[Statement | None] = [None] * len(times)
        self._said_there = [
            "" if time is None else self._short(self._whole[place], cue, place) for place, time in enumerate(times)
        ]
        self._texts = [text.lower() for text in self._said_there]

    def groups(self) -> Iterator[list[int]]:
        """The numbers of those that say the same, for the best ones that have versions; none is in two groups."""
        taken: set[int] = set()
        for best in range(min(self._rule.best, len(self._times))):
            if best in taken or not self._texts[best]:
                continue
            group = [best, *self._in_same_words(best, taken)]
            group += self._in_other_words(best, group, taken)
            if len(group) > 1:
                taken.update(group)
                yield group

    def sure(self, one: int, other: int) -> bool:
        """Whether two say the same for sure, and nothing besides: in the same words, not within a longer message."""
        whole = all(self._whole[place] == self._said_there[place] for place in (one, other))
        return whole and self.same_words(one, other)

    def same_words(self, one: int, other: int) -> bool:
        """Whether the newer of two says the same in the same words, whichever that is."""
        old, new = (one, other) if (self._times[one] or 0.0) <= (self._times[other] or 0.0) else (other, one)
        same = in_same_words(self._said(old), self._said(new), self._about, self._rule)
        return same and self._one_voice(old, new)

    def _in_same_words(self, best: int, taken: set[int]) -> list[int]:
        keys = keys_of(self._said(best).stems & self._about.stems)
        if not keys:
            return []
        texts, said = self._texts, self._said(best).said
        spaces, few = texts[best].count(" "), self._rule.different_words
        alike = [one for one in self._with(keys, {best, *taken}) if abs(texts[one].count(" ") - spaces) <= few]
        return [one for one in alike if differ(said, self._said(one).said) <= few and self.same_words(best, one)]

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
            and (value := self._worth(best, one, group, beside)) is not None
            and (related(self._said(one), self._about) or not self._of_another(one, beside))
        }
        return [one for one, value in worth.items() if value >= max(worth.values()) - _WITHIN]

    def _may_be_replaced(self, best: int) -> bool:
        """Whether it says what was asked for."""
        return not self._said(best).asks and answers(self._said(best), self._about)

    def _of_another(self, one: int, beside: Sequence[int]) -> bool:
        """Whether it is a version of what none asked for."""
        return any(self.same_words(one, other) for other in beside if other != one)

    def _worth(self, best: int, one: int, group: Sequence[int], beside: Sequence[int]) -> float | None:
        """How much speaks for it; None where that is too little. What is known to be of the asked relation, and to have
        changed, needs no more; else what else is said of the subject is at 0, the one to be replaced at 1."""
        said = self._said(one)
        known = related(said, self._about)
        if known and said.announced:
            return 1.0
        if known is None and self._about.relations:
            return None
        close = self._closeness(best, one, beside) + _SEEN * self._seen(best, one, group)
        return None if close < (self._rule.close if known else self._rule.close_if_unknown) else close

    def _closeness(self, best: int, one: int, beside: Sequence[int]) -> float:
        mine, old = self._top[one].similarity, self._top[best].similarity
        rest = [self._top[other].similarity for other in beside if other != one]
        usual = sum(rest) / len(rest) if len(rest) >= _FEWEST else _APART * old
        return (mine - usual) / max(0.05, old - usual)

    def _seen(self, best: int, one: int, group: Sequence[int]) -> bool:
        """Whether a third text says what is new in this one together with what is old: so it is of the same kind."""
        old, new = self._said(best).stems, self._said(one).stems
        words, values = (old & self._about.stems) - new, new - old - self._about.stems
        if not words or not values:
            return False
        return any(
            words & self._said(other).stems and values & self._said(other).stems
            for key in words
            for other in self._with(keys_of((key,)), {one, *group})
        )

    def _with(self, keys: Sequence[str], without: set[int]) -> list[int]:
        """Those whose text holds all of the keys."""
        texts = self._texts
        found = [number for number, text in enumerate(texts) if text and number not in without]
        for key in keys:
            found = [one for one in found if key in texts[one]]
        return found

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
            found = self._statements[one] = statement(self._said_there[one])
        return found

    def _short(self, text: str, cue: str, place: int) -> str:
        """The text, or of a long message the sentence that answers."""
        longest = self._rule.longest_text
        if len(text) <= longest:
            several = _several(text) and sentence_that_answers(text, cue, longest)
            return several or text
        if place >= _LONG_AMONG or len(text) > self._rule.longest_message:
            return ""
        return sentence_that_answers(text, cue, longest)


def _several(text: str) -> bool:
    """Whether it may have several sentences."""
    return _END.search(text) is not None
