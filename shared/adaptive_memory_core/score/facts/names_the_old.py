"""Does a text name what it takes the place of: "left Siemens and joined Bosch", "moved it from MySQL to PostgreSQL"?

Then it is a newer version, however it is worded: who says what is over speaks of the same thing.
"""

from __future__ import annotations

import re

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.score.facts.asked import Asked
from adaptive_memory_core.score.facts.statement import Statement

_FORMS = tuple(
    re.compile(one)
    for one in (
        r"(?:moved?|switch(?:ed)?|changed?|migrated|transferred|relocated|converted|ported)\b(?P<what>.*?)"
        r"\bfrom (?P<old>.+?) (?:over )?to (?P<new>.+)",
        r"(?:replaced|swapped|exchanged|traded(?: in)?|dropped|ditched|abandoned|left) (?P<old>.+?)"
        r" (?:with|by|in favou?r of|for) (?P<new>.+)",
        r"(?P<new>.+?) (?:replaced|replaces|has replaced|succeeded|(?:takes|took) over from) (?P<old>.+)",
        r"(?P<new>.+?) (?:instead of|rather than|in place of) (?P<old>.+)",
        r"(?:left|quit|cancelled|canceled|dropped|gave up|got rid of|traded in|broke up with) (?P<old>.+?)"
        r" (?:and|then|i|we|he|she|they) (?P<new>.+)",
        r"(?P<old>.+?) (?:stepped down|resigned|retired)\b"
        r"(?P<new>.+ (?:is|became|takes over|took over|succeeds|succeeded|follows|followed)\b.*)",
        r"(?P<old>.+?) (?:has )?handed (?:.+ )?(?:over )?to (?P<new>.+)",
    )
)
_FOR_A_WHILE = re.compile(r"\b(?:few|days?|nights?|weekends?|weeks?|months?|holidays?|trips?|visits?|lunch|dinner)\b")


def names_the_old(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether the newer one says that what the older one gave is over, and gives something of that kind in its place.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def over(old, new, cue): return names_the_old(statement(old), statement(new), asked(cue))
    >>> over("Marta works at Siemens.", "Marta left Siemens and joined Bosch.", "where does Marta work?")
    True
    >>> over("We use MySQL for orders.", "We moved orders from MySQL to SQLite.", "which database do orders use?")
    True
    >>> over("Ilse lives in Oslo.", "Ilse left Oslo for a weekend in Rome.", "where does Ilse live?")
    False
    >>> over("Ilse lives in Oslo.", "Ilse moved her money from Oslo to Zurich.", "where does Ilse live?")
    False
    """
    gave = old.stems - about.stems
    if gave.isdisjoint(new.stems):
        return False
    text = " ".join(new.in_order)
    if _FOR_A_WHILE.search(text):
        return False
    return any(_takes_its_place(old, new, about, found) for form in _FORMS if (found := form.search(text)))


def _takes_its_place(old: Statement, new: Statement, about: Asked, found: re.Match[str]) -> bool:
    """Whether what is over is what the older one gave and nothing besides, and what comes is of its kind."""
    gave, known = old.stems - about.stems, old.stems | about.stems
    over, comes = frozenset(words(found["old"])), frozenset(words(found["new"])) - known
    if over.isdisjoint(gave) or not over.union(words(found.groupdict().get("what") or "")) <= known:
        return False
    if (old.names | old.numbers).isdisjoint(gave) or found.start("new") == 0:  # no capital tells a name that begins it
        return bool(comes)
    return not comes.isdisjoint(new.names | new.numbers)
