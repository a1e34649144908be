"""Which of the candidates' texts could be versions of each other? Looked at only as closely as has to be."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.score.facts.glance import Glance, glance
from adaptive_memory_core.score.facts.sentence_that_answers import sentence_that_answers
from adaptive_memory_core.score.facts.statement import Statement, statement

_LONG_AMONG = 20  # of the best candidates, in which a sentence is looked for where they are long; for speed
_NOTHING = glance("")


class Seen:
    """The texts, best first, by their numbers: of a long one the sentence that answers the cue, of what has no time
    nothing."""

    def __init__(self, texts: Sequence[str], times: Sequence[float | None], cue: str, rule: Updates) -> None:
        self._given, self._rule = texts, rule
        longest = rule.longest_text
        self.looks = [
            _NOTHING
            if time is None
            else look
            if len(text) <= longest and (look := glance(text)).one_sentence
            else self._of_several(text, cue, place)
            for place, (text, time) in enumerate(zip(texts, times, strict=False))
        ]
        self.lower, self.spaces = [one.lower for one in self.looks], [one.spaces for one in self.looks]
        self._statements: list[Statement | None] = [None] * len(self.looks)
        self._holding: dict[str, frozenset[int]] = {}

    def said(self, one: int) -> Statement:
        """What a text says."""
        found = self._statements[one]
        if found is None:
            found = self._statements[one] = statement(self.looks[one].text)
        return found

    def whole(self, one: int) -> bool:
        """Whether all of the text is looked at."""
        return self._given[one] == self.looks[one].text

    def holding(self, keys: Sequence[str], without: Collection[int]) -> list[int]:
        """Those whose text holds all of the keys.

        >>> seen = Seen(["Ilse lives in Oslo.", "Colm has a cat.", "Ilse has a cat."], [1.0, 2.0, 3.0], "", Updates())
        >>> seen.holding(["ilse"], {0}), seen.holding(["ilse", "cat"], ()), seen.holding([], {1})
        ([2], [2], [0, 2])
        """
        texts, found = self.lower, self._holding
        for key in keys:
            if key not in found:
                found[key] = frozenset([one for one, text in enumerate(texts) if key in text])
        of_all = frozenset.intersection(*[found[key] for key in keys]) if keys else range(len(texts))
        return [one for one in sorted(of_all) if one not in without and texts[one]]

    def _of_several(self, text: str, cue: str, place: int) -> Glance:
        """Of a text of several sentences the one that answers; of a short one else all of it."""
        longest = self._rule.longest_text
        if len(text) <= longest:
            return glance(sentence_that_answers(text, cue, longest) or text)
        if place >= _LONG_AMONG or len(text) > self._rule.longest_message:
            return _NOTHING
        return glance(sentence_that_answers(text, cue, longest))
