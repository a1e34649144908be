"""Does a cue ask for a set, whose members may have been said far apart? "Which books did they read?", "how many pets?"

Stricter than `asks_for_many`: what is not known for a set is a question for one fact, which loses nothing. English, and
the plainest forms of German, French, Spanish and Chinese.
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
    r"\b(?:welche[nrs]? \w+(?:en|er|s)\b(?! (?:ist|war)\b)|wie ?viele|was für|alles?|sämtliche|mehrere|beiden?)\b",
    r"\b(?:quel(?:le)?s|lesquel(?:le)?s|combien d(?:e |['\u2019])|tou(?:s|tes) les|plusieurs)",
    r"\b(?:cuáles|cuánt[oa]s|qué \w+[aeiou]s|tod[oa]s l[oa]s|vari[oa]s)\b",
    r"哪些|几[个种只本次位部]|所有|有什么",
)
_SET = re.compile("|".join(_SETS), re.IGNORECASE)


@lru_cache(maxsize=512)
def asks_for_set(cue: str) -> bool:
    """Whether several things answer it, each of which counts.

    >>> [asks_for_set(cue) for cue in ("Which books did they read?", "What are Ana's hobbies?", "How many pets?")]
    [True, True, True]
    >>> [asks_for_set(cue) for cue in ("Where does Ana live?", "What is her job?", "When was the last bus?")]
    [False, False, False]
    >>> [asks_for_set(cue) for cue in ("Welche Hobbys hat Ana?", "Quels livres ?", "¿Qué libros?", "她看过哪些书?")]
    [True, True, True, True]
    >>> [asks_for_set(cue) for cue in ("Wo wohnt Ana?", "Welche Farbe mag sie?", "Où habite Ana ?", "¿Dónde vive?")]
    [False, False, False, False]
    """
    return _SET.search(cue) is not None
