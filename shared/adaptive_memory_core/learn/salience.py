"""How important does a text sound? A first importance by rule, for who has no model to ask and no better idea."""

from __future__ import annotations

import re

from adaptive_memory_core.learn.worth_keeping import worth_keeping

USUAL = 0.5  # what a text has of which nothing is known; what `remember` gives
EMPTY, ASKING = 0.1, 0.3  # of a greeting or a bare yes, and of a question; guess, looked at in benchmarks/salience.py
OF_ONESELF, SPECIFIC, LASTING = 0.1, 0.1, 0.2  # what is added for each of them; guess, looked at there
LONGEST = 600  # characters of which signs tell anything: in a long reply there is always one; benchmarks/salience.py
_ONESELF = re.compile(r"\b(?:i|i'm|i've|my|we|our)\b", re.IGNORECASE)
_SPECIFIC = re.compile(r"\d|(?<=[a-z,;] )[A-Z][a-z]+")
_LASTING = re.compile(
    r"\b(?:remember|important|never|always|allerg\w+|must|deadline|prefers?|favou?rite|married|born|moved|decided|"
    r"birthday|lives?|works?|hates?|loves?|owns?|from now on)\b",
    re.IGNORECASE,
)


def salience(text: str) -> float:
    """An importance in [0, 1]: less for what says nothing and for questions, more for what is of somebody, exact, or
    lasting. It knows English; of other languages it knows little, and gives most texts the usual one.

    >>> salience("thanks a lot!"), salience("What time is it?"), salience("The sky is grey today.")
    (0.1, 0.3, 0.5)
    >>> salience("I am allergic to peanuts, remember that."), salience("We moved to Oslo in May 2021.")
    (0.8, 0.9)
    """
    said = text.strip()
    if len(said) > LONGEST:
        return USUAL
    if not worth_keeping(said):
        return EMPTY
    if said.endswith(("?", "\uff1f")) and "." not in said[:-1]:
        return ASKING
    reasons = ((_ONESELF, OF_ONESELF), (_SPECIFIC, SPECIFIC), (_LASTING, LASTING))
    return round(USUAL + sum(more for sign, more in reasons if sign.search(said)), 3)
