"""Does a cue ask for what has a name ("who ...?", "where ...?", "which book ...?")? Then turns that say one count more.

English only. Where it is written with capitals tells names in English; in German every noun has one, in Chinese none.
"""

from __future__ import annotations

import re

from adaptive_memory_core.cue.time.ascii_letters import some_in, words_of

_PLACES = "place|country|countries|state|region|city|cities|town|village|island|park|beach|street|restaurant|cafe|bar"
_PLACES += "|hotel|shop|store|museum|school|college|university|universities"
_WORKS = "book|novel|magazine|play|movie|film|show|series|song|album|podcast|game"
_PEOPLE = "person|people|friend|author|writer|actor|actress|director|singer|musician|composer|artist|painter|character"
_GROUPS = "band|team|club|company|companies|brand|organi[sz]ation|language"
_NAMED = f"(?:{_PLACES}|{_WORKS}|{_PEOPLE}|{_GROUPS})s?"
_ASKS = re.compile(
    r"^\W*(?:\w+ )?(?:who|whom|whose|where|which)\b|\b(?:names?|titles?|called)\b"
    rf"|\b(?:what|which) (?:\S+ ){{0,2}}{_NAMED}\b",
    re.IGNORECASE,
)
_MAY_ASK = words_of("who where which what name title called")


def asks_for_name(cue: str) -> bool:
    """Whether a name would answer it.

    >>> [asks_for_name(cue) for cue in ("Who is Rex?", "And where does Ana live?", "What old books did Ana read?")]
    [True, True, True]
    >>> [asks_for_name(cue) for cue in ("When did Ana move?", "What does Ana like?", "how many friends", "")]
    [False, False, False, False]
    """
    return some_in(cue.lower(), _MAY_ASK) and _ASKS.search(cue) is not None
