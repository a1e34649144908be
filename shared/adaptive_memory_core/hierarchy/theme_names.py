"""What is a theme called? By its salient terms: frequent in it, rare elsewhere, as they are written there."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from adaptive_memory_core.channels.words.words_of_text import words

TERMS = 3
_NAMELESS = frozenset(  # what is said on any day of anything
    words(
        "now last next never always often also well come came goes going went go use used new old lot bit way time "
        "times day days week weeks month months year years thing things today got get make made take took yesterday "
        "tomorrow really still just many good great nice love like want think know feel said say tell told able sure"
    )
)
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def name_of(texts: Sequence[str], usual: Mapping[str, int], total: int, *, most: int = TERMS) -> str:
    """The terms that tell a theme from the others, the most telling first. `usual` is in how many of the user's
    `total` semantics each stem is.

    >>> usual = {"puppi": 2, "adopt": 2, "went": 9, "vet": 1}
    >>> name_of(["I adopted a puppy.", "The puppy went to the vet."], usual, 20)
    'puppy, vet, adopted'
    >>> name_of(["So it is."], {}, 1)
    'So it is.'
    """
    counts = Counter(stem for text in texts for stem in stems(text))
    elsewhere = {stem: max(0, usual.get(stem, 0) - count) for stem, count in counts.items()}
    worth = {stem: count * math.log((1 + total) / (1 + elsewhere[stem])) for stem, count in counts.items()}
    forms = _written(texts)
    ranked = sorted((one for one in worth if one in forms), key=lambda one: (-worth[one], one))
    return ", ".join(forms[one] for one in ranked[:most]) or (texts[0][:40] if texts else "")


def stems(text: str) -> frozenset[str]:
    """The stems in a text that can name something: no numbers by themselves, no single letters, nothing of any day."""
    found = (one for one in words(text) if (len(one) > 2 and not one.isdigit()) or not one.isascii())
    return frozenset(found) - _NAMELESS


def _written(texts: Iterable[str]) -> dict[str, str]:
    """Each stem as it is written most often, in lower case unless it always begins with a capital."""
    found: dict[str, Counter[str]] = {}
    for text in texts:
        for form in _WORD.findall(text):
            own = words(form)
            if len(own) == 1:
                found.setdefault(own[0], Counter())[form] += 1
    return {stem: _form(forms) for stem, forms in found.items()}


def _form(forms: Counter[str]) -> str:
    best = min(forms, key=lambda one: (-forms[one], one))
    lower = sum(count for form, count in forms.items() if form[:1].islower())
    return best.lower() if lower else best
