"""Which sentence of a long message says what was asked for? So that a fact within a long reply can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from adaptive_memory_core.score.facts.asked import FIRST_PERSON, Asked, asked
from adaptive_memory_core.score.facts.statement import Statement, statement

KEY = 4  # letters of a stem by which texts are left out before they are looked at closely
REMEMBERED = 512  # messages whose sentence is kept, of a few kB each
MOST_SENTENCES = 8  # of a message that are looked at
_END = re.compile(
    r"(?<=[.!?])(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bProf\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+"
    r"|(?<=[\u3002\uff01\uff1f])|\s*\n\s*"
)
_MARK = re.compile(r"^(?:[-*+\u2022>#]+|\d{1,3}[.)])\s+|\*\*")


def sentence_that_answers(text: str, cue: str, longest: int) -> str:
    """The sentence that holds the subject of the cue and most of its other words; "" where there is none.

    >>> said = "Good to hear! Ilse lives in Turin now. It is warm there."
    >>> sentence_that_answers(said, "Where does Ilse live?", 100), sentence_that_answers(said, "Who is Colm?", 100)
    ('Ilse lives in Turin now.', '')
    """
    about = asked(cue)
    lower = text.lower()
    subject = keys_of(about.subject)
    if not all(key in lower for key in subject) or not (subject or (about.first_person and about.stems)):
        return ""
    return _found(text, cue, longest)


def keys_of(stems: Sequence[str] | frozenset[str]) -> list[str]:
    """What a text has to hold that has these words; a stem of letters may end otherwise than the word does."""
    return [stem[:KEY] if stem.isalpha() else stem for stem in stems]


@lru_cache(maxsize=REMEMBERED)
def _found(text: str, cue: str, longest: int) -> str:
    about, subject = asked(cue), keys_of(asked(cue).subject)
    best, most = "", 1
    for sentence in _around(text, subject or keys_of(about.verbs or about.stems), longest):
        if not all(key in sentence.lower() for key in subject):
            continue
        held = _held(statement(sentence), about)
        if held >= most:
            best, most = sentence, held
    return best


def _around(text: str, keys: Sequence[str], longest: int) -> Iterator[str]:
    """The sentences that hold the rarest of the keys, in their order, none of them longer than that."""
    lower, end = text.lower(), 0
    counts = [(count, key) for key in keys if (count := lower.count(key))]
    if not counts:
        return
    _, key = min(counts)
    for _ in range(MOST_SENTENCES):
        place = lower.find(key, end)
        if place < 0:
            return
        begin = max((one.end() for one in _END.finditer(text, max(end, place - longest), place)), default=end)
        found = _END.search(text, place)
        end = found.end() if found else len(text)
        if end - begin <= longest:
            yield _MARK.sub("", text[begin:end].strip())


def _held(one: Statement, about: Asked) -> int:
    """How many words of the cue besides its subject; 0 where the subject is another one."""
    if one.asks or not about.subject <= one.stems or (not about.subject and FIRST_PERSON.isdisjoint(one.said)):
        return 0
    more = len((one.stems & about.stems) - about.subject) + (not about.relations.isdisjoint(one.relations))
    return more + (about.stems <= one.stems)
