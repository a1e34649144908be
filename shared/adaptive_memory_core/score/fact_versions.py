"""Which candidates are versions of the best ones? Those in the same words, and those close to the cue in others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from adaptive_memory_core.cue.time.asks_history import in_past_tense
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.records import Scored
from adaptive_memory_core.score.same_fact import (
    Statement,
    about_the_cue,
    asked,
    differ,
    in_other_words,
    in_same_words,
    statement,
)

_KEY = 4  # letters of a stem by which texts are left out before they are looked at closely
_ANNOUNCED, _SEEN = 0.2, 0.5  # what speaks for a text in other words besides its closeness; benchmarks/updates.py
_WITHIN = 0.2  # of the one that most speaks for, within which others are versions as well; benchmarks/updates.py
_FEWEST = 2  # other facts of a subject that tell how close such facts are
_APART = 0.4  # share of the old one's similarity that is taken for that where there are fewer; guess


class Versions:
    """The candidates, best first, with the times they began. Only what could be a version is looked at closely."""

    def __init__(
        self, top: Sequence[Scored], times: Sequence[float | None], cue: str, rule: Updates, speaker: str
    ) -> None:
        self._top, self._times, self._rule, self._speaker = top, times, rule, speaker
        self._about, self._past = asked(cue), in_past_tense(cue)
        self._statements: list[Statement | None] = [None] * len(top)
        self._texts = [
            "" if time is None or len(one.text) > rule.longest_text else one.text.lower()
            for one, time in zip(top, times, strict=True)
        ]

    def groups(self) -> Iterator[list[int]]:
        """The numbers of those that say the same, for the best ones that have versions; none is in two groups."""
        taken: set[int] = set()
        for best in range(min(self._rule.best, len(self._top))):
            if best in taken or not self._texts[best] or not self._may_change(best):
                continue
            group = [best, *self._in_same_words(best, taken)]
            group += self._in_other_words(best, group, taken)
            if len(group) > 1:
                taken.update(group)
                yield group

    def same_words(self, one: int, other: int) -> bool:
        """Whether the newer of two says the same in the same words, whichever that is."""
        old, new = (one, other) if (self._times[one] or 0.0) <= (self._times[other] or 0.0) else (other, one)
        same = in_same_words(self._said(old), self._said(new), self._about, self._rule)
        return same and self._one_voice(old, new)

    def _may_change(self, one: int) -> bool:
        """A question about what was asks for what is said to have been."""
        return not self._past or in_past_tense(self._top[one].text)

    def _in_same_words(self, best: int, taken: set[int]) -> list[int]:
        keys = _keys(self._said(best).stems & self._about.stems)
        if not keys:
            return []
        texts, said = self._texts, self._said(best).said
        spaces, few = texts[best].count(" "), self._rule.different_words
        alike = [one for one in self._with(keys, {best, *taken}) if abs(texts[one].count(" ") - spaces) <= few]
        return [one for one in alike if differ(said, self._said(one).said) <= few and self.same_words(best, one)]

    def _in_other_words(self, best: int, group: Sequence[int], taken: set[int]) -> list[int]:
        """Those that are newer than all of the group, and stand out among what else is said of the subject."""
        keys, newest = self._subject(best), max(self._times[one] or 0.0 for one in group)
        if not keys or not about_the_cue(self._said(best), self._about):
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
            and not any(self.same_words(one, other) for other in beside if other != one)
        }
        return [one for one, value in worth.items() if value >= max(worth.values()) - _WITHIN]

    def _worth(self, best: int, one: int, group: Sequence[int], beside: Sequence[int]) -> float | None:
        """How much speaks for it; None where that is too little. What else is said of the subject is at 0, the group's
        best at 1."""
        mine, old = self._top[one].similarity, self._top[best].similarity
        rest = [self._top[other].similarity for other in beside if other != one]
        usual = sum(rest) / len(rest) if len(rest) >= _FEWEST else _APART * old
        announced = self._said(one).announced
        close = (mine - usual) / max(0.05, old - usual) + _SEEN * self._seen(best, one, group)
        least = self._rule.close_if_announced if announced else self._rule.close
        return None if close < least else close + _ANNOUNCED * announced

    def _seen(self, best: int, one: int, group: Sequence[int]) -> bool:
        """Whether a third text says what is new in this one together with what is old: so it is of the same kind."""
        old, new = self._said(best).stems, self._said(one).stems
        words, values = (old & self._about.stems) - new, new - old - self._about.stems
        if not words or not values:
            return False
        return any(
            words & self._said(other).stems and values & self._said(other).stems
            for key in words
            for other in self._with(_keys((key,)), {one, *group})
        )

    def _with(self, keys: Sequence[str], without: set[int]) -> list[int]:
        """Those whose text holds all of the keys."""
        texts, (first, *more) = self._texts, keys
        found = [number for number, text in enumerate(texts) if first in text and number not in without]
        for key in more:
            if not found:
                break
            found = [one for one in found if key in texts[one]]
        return found

    def _subject(self, best: int) -> list[str]:
        """What a text has to hold to be about the same: the names of the cue, or the word of it that this one begins
        with."""
        about, said = self._about, self._said(best)
        if about.names:
            return _keys(about.names) if about.names <= said.stems else []
        return _keys([said.subject]) if said.subject in about.stems and said.subject is not None else []

    def _one_voice(self, one: int, other: int) -> bool:
        """Whether both are of one speaker, or name whom they speak of: "I" is somebody else in another's words."""
        same = self._top[one].record.stored.get(self._speaker) == self._top[other].record.stored.get(self._speaker)
        return same or bool(self._about.names)

    def _said(self, one: int) -> Statement:
        found = self._statements[one]
        if found is None:
            found = self._statements[one] = statement(self._top[one].text)
        return found


def _keys(stems: Iterable[str]) -> list[str]:
    """What a text has to hold that has these words; a stem of letters may end otherwise than the word does."""
    return [stem[:_KEY] if stem.isalpha() else stem for stem in stems]
