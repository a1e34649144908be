"""Does a text say how things are: not what may be, is wished for, is denied or once happened? And does it say "now"?

Mostly English, with the commonest words of German, French, Spanish, Chinese and Japanese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_CHANGED = (
    r"(?:moved|switched|changed|became|become|postponed|rescheduled|renamed|transferred|migrated|replaced|promoted"
    r"|started|joined|relocated|upgraded|downgraded|raised|lowered|increased|reduced|quit|stopped|handed|taken|took"
    r"|gone|settled|extended|shortened|rewritten|reassigned|assigned|appointed|elected|hired|closed|opened|cancelled"
    r"|canceled|retired|doubled|halved|tripled|reverted)"
)
_ANNOUNCED = re.compile(
    r"\b(?:now|new|newly|instead|(?:no|any) longer|any ?more|these days|nowadays|currently|from now on|since the"
    r"|as of (?!yet\b)\w+|left, so|(?:has|have) (?!an?\b|the\b|no\b)[a-z]+|became|(?:took|taken) over|got \w+ed"
    rf"|(?:was|were|got) {_CHANGED}|{_CHANGED} to|cut (?:\w+ ){{1,4}}to)\b|^{_CHANGED}\b"
    r"|\b(?:bumped|rolled) (?!into\b)(?:[\w.]+ ){0,4}(?:up|to|back)\b"
    r"|\w['\u2019](?:ve|s) (?:\w+ed|been|gone)\b"
    r"|\b(?:jetzt|nun|neue?[rnms]?|inzwischen|mittlerweile|seit|nicht mehr"
    r"|(?:ist|bin|sind|hat|habe|haben|wurde) .*(?:ge|um|ver|über)\w+(?:t|en))\b"
    r"|\b(?:maintenant|désormais|nouvel(?:le)?|nouveau|ne .* plus|(?:a|ai|ont|est|suis) \w+(?:é|ée))\b"
    r"|\b(?:ahora|ya no|nuev[oa]|(?:ha|he|han) (?:\w+ )?\w+(?:ado|ido))\b"
    r"|现在|已经|不再|新|[改换搬]|もう|今は|新し|変わ|引っ越",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:want(?:s|ed)?|wish(?:es|ed)?|would|might|(?-i:may)(?! \d)|could|should|must|hop(?:es?|ed|ing)"
    r"|plan(?:s|ned|ning)? (?:to|on|for)"
    r"|dream(?:s|t|ed|ing)?|consider(?:s|ed|ing)?|think(?:s|ing)?|thought|if|whether|perhaps|maybe"
    r"|possibly|probably|almost|nearly|appl(?:y|ies|ied)|interview\w*|ask(?:s|ed)?|believes?|claims?|rumou?rs?|heard"
    r"|guess(?:es)?|nobody|say(?:s|ing)?|said|told|recommends?|suggests?|watch(?:es|ed)|read a|listens?"
    r"|looking (?:for|at|into)|also|too|as well|another|both|sometimes|visit(?:s|ed|ing)?|(?:was )?going to|will|'ll"
    r"|for (?:the|a) (?:weekend|day|night|holidays?)|next (?:week|month|year))\b"
    r"|\b(?:möchte|will|würde|könnte|vielleicht|soll(?:te)?|auch|wenn|ob)\b"
    r"|\b(?:voudrait|veut|aimerait|pourrait|peut-être|aussi|si|quiere|quisiera|querría|podría|quizás?|también)\b"
    r"|想|可能|也许|如果|打算|也|かもしれ|たい|もし",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|no(?! (?:issues?|problems?|worries|downtime|surprise|doubt)\b)|nicht|kein\w*|pas|jamais|nunca)\b"
    r"|n['\u2019]t\b|[不没]|ない|ません",
    re.IGNORECASE,
)
_BE = frozenset("is are am was were be been being 's 'm 're isn't aren't".split())
_HAVE = frozenset("has have had 've hasn't haven't".split())
_NOW = frozenset(
    "do does can cannot will don't doesn't can't ist sind bin hat habe est sont suis es está son ha".split()
)
_PAST = frozenset(
    "went said told ate kept paid met wore called bought brought saw came gave took made had did got found ran won sent"
    " wrote spoke slept drank thought felt began fell flew sang sat taught caught broke chose forgot lost sold spent"
    " was were".split()
)
_NO_PAST = frozenset("need feed speed seed bed red shed wed indeed hundred sacred naked wicked".split())
_CHANGES = re.compile(_CHANGED)
_MOVED = frozenset(("bumped", "rolled"))  # changes where it goes "up", "back" or "to" something
_WHERE_TO = frozenset(("up", "to", "back"))
VERBS = _BE | _HAVE | _NOW
LOOKED_AT = 7  # words at the beginning, among which the verb of a short sentence is


def announces(text: str) -> bool:
    """Whether it says that something has changed.

    >>> announces("Ilse has moved to Turin."), announces("Ilse ist nach Rom gezogen."), announces("Ilse lives in Oslo.")
    (True, True, False)
    >>> announces("Upgraded the server to Ubuntu 24."), announces("Finance cut the budget to 12,000.")
    (True, True)
    """
    return _ANNOUNCED.search(text) is not None


def is_hedged(text: str) -> bool:
    """Whether it says what may be, is planned, was asked, or is so besides.

    >>> is_hedged("Ilse wants to live in Rome."), is_hedged("The launch is on 3 May."), is_hedged("Ilse lives in Oslo.")
    (True, False, False)
    """
    return _HEDGED.search(text) is not None


def denies(text: str) -> bool:
    """Whether it says that something is not so.

    >>> denies("Ilse doesn't live in Rome."), denies("Ilse lives in Rome."), denies("It was upgraded, no issues.")
    (True, False, False)
    """
    return _DENIED.search(text) is not None


def is_event(said: Sequence[str]) -> bool:
    """Whether a sentence says what happened once; a change is no event, for it says how things are since.

    >>> [is_event(text.split()) for text in ("we bumped it to 3.12", "ilse bumped into tom")]
    [False, True]
    >>> [is_event(text.split()) for text in ("i ran 5 km", "petra has visited lisbon", "the site was down")]
    [True, True, True]
    >>> [is_event(text.split()) for text in ("ilse lives in oslo", "it was moved to may", "she sold it and has quit")]
    [False, False, False]
    """
    past = past_verb(said)
    return past is not None and not _is_change(past, said) and not _has_changed(said)


def _is_change(past: str, said: Sequence[str]) -> bool:
    if past in _MOVED:
        return "into" not in said and not _WHERE_TO.isdisjoint(said)
    return _CHANGES.fullmatch(past) is not None


def _has_changed(said: Sequence[str]) -> bool:
    """Whether it tells a change besides: "found a flat and has settled there"."""
    return any(word in _HAVE and _CHANGES.fullmatch(after) for word, after in pairwise(said))


def happened(said: Sequence[str]) -> bool:
    """Whether its verb says that something happened, a change or not.

    >>> [happened(text.split()) for text in ("initech hired greta", "ilse has moved to turin", "ilse lives in oslo")]
    [True, True, False]
    """
    return past_verb(said) is not None


def past_verb(said: Sequence[str]) -> str | None:
    """The word that says what happened, if the verb is one of the past."""
    for place, word in enumerate(said[:LOOKED_AT]):
        after = said[place + 1] if place + 1 < len(said) else ""
        if word in ("was", "were", "had", "did"):
            return after
        if word in _HAVE:
            return after if _participle(after) or _CHANGES.fullmatch(after) else None
        if word in _BE or word in _NOW:
            return None
        if place and (word in _PAST or _participle(word)):
            return word
    return None


def _participle(word: str) -> bool:
    return len(word) > 3 and word.endswith(("ed", "been", "seen", "wn")) and word not in _NO_PAST and word != "own"
