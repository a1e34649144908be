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
        r"(?:left|quit|cancelled|canceled|dropped|ditched|abandoned|gave up|got rid of|traded in|broke up with)"
        r" (?P<old>.+?) (?:,|and|then|i|we|he|she|they) (?P<new>.+)",
        r"(?P<old>.+?) (?:stepped down|resigned|retired)\b"
        r"(?P<new>.+ (?:is|became|takes over|took over|succeeds|succeeded|follows|followed)\b.*)",
        r"(?P<old>.+?) (?:has )?handed (?:.+ )?(?:over )?to (?P<new>.+)",
        r"(?P<old>.+?) (?:has |have )?sold (?P<what>.+?) to (?P<new>.+)",
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
    >>> over("Eva studies law in Leiden.", "Eva dropped law and studies history.", "what does Eva study?")
    True
    >>> over("We use Jenkins for CI.", "We ditched Jenkins, CI runs on Woodpecker.", "what do we use for CI?")
    True
    >>> over("Nuno is the coach.", "Petra replaced Nuno as coach in May.", "who is the coach?")
    True
    >>> over("Ilse lives in Oslo.", "Ilse left Oslo for a weekend in Rome.", "where does Ilse live?")
    False
    >>> over("Ilse lives in Oslo.", "Ilse moved her money from Oslo to Zurich.", "where does Ilse live?")
    False
    """
    gave = old.stems - about.stems
    if gave.isdisjoint(new.stems):
        return False
    if _is_for_a_while(new):
        return False
    text = new.with_commas
    return any(_takes_its_place(old, new, about, found) for form in _FORMS if (found := form.search(text)))


def _is_for_a_while(new: Statement) -> bool:
    """Whether it is for a weekend or a trip; what is a name ("Night Tide") tells nothing of that."""
    return any(new.names.isdisjoint(words(found[0])) for found in _FOR_A_WHILE.finditer(" ".join(new.in_order)))


def _takes_its_place(old: Statement, new: Statement, about: Asked, found: re.Match[str]) -> bool:
    """Whether what is over is what the older one gave and nothing besides, and what comes is of its kind."""
    gave, known = old.stems - about.stems, old.stems | about.stems
    over, comes = frozenset(words(found["old"])), frozenset(words(found["new"])) - known
    whole = over.union(words(found.groupdict().get("what") or "")) - new.when
    if over.isdisjoint(gave) or not whole <= known:
        return False
    if (old.names | old.numbers).isdisjoint(gave & over) or found.start("new") == 0:  # nothing tells a name there
        return bool(comes)
    return not comes.isdisjoint(new.names | new.numbers)
