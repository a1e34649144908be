"""Does a cue ask for a set, whose members may have been said far apart? "Which books did they read?", "how many pets?"

Stricter than `asks_for_many`: what is not known for a set is a question for one fact, which loses nothing. English.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NO_PLURAL = r"(?:is|was|does|has|\w*(?:ss|us|is|as|'s|ous))"
_BEFORE = r"(?:(?:are|were|other|different|various|new|all|some|of|the) )*(?:[a-z'-]+ ){0,2}?"
_PEOPLE = r"(?:people|children|kids|men|women)"
_DONE = r"\w*(?:ed|en|wn|ne|nt|ught|made|met|read|had|won)"
_SETS = (
    rf"\b(?:what|which) {_BEFORE}(?:(?!{_NO_PLURAL}\b)[a-z-]{{2,}}s|{_PEOPLE})\b(?! (?:name|number)\b)",
    r"\b(?:what|which) (?:kinds?|types?|sorts?) of\b",
    r"\b(?:how many|in (?:what|which) ways|who (?:are|were|all|else))\b",
    rf"\b(?:what|where|who|which)(?: \w+)? (?:has|have)\b(?=.* {_DONE}\b)",
    r"\b(?:all|every|everything|list|various|both|several|examples?|overview|summar\w+)\b",
)
_SET = re.compile("|".join(_SETS), re.IGNORECASE)


@lru_cache(maxsize=512)
def asks_for_set(cue: str) -> bool:
    """Whether several things answer it, each of which counts.

    >>> [asks_for_set(cue) for cue in ("Which books did they read?", "What are Ana's hobbies?", "How many pets?")]
    [True, True, True]
    >>> [asks_for_set(cue) for cue in ("Where does Ana live?", "What is her job?", "When was the last bus?")]
    [False, False, False]
    """
    return _SET.search(cue) is not None
