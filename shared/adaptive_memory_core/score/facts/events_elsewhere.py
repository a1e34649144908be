"""Does a sentence in another language than English tell what happened once: "Luc a mangé une soupe"?

The perfect of French, Spanish, Italian and Dutch, and the past of Portuguese, Polish, Russian and Japanese. A change
("a déménagé", "переехала") is none, for it says how things are since.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LOOKED_AT = 6  # words at the beginning, among which the verb of a short sentence is
_ENGLISH = frozenset("the is are has have was were of does".split())
_NOUNS = frozenset("café cliché fiancé fiancée résumé protégé attaché".split())
_CHANGES = re.compile(
    r"(?:(?:em|dé)ménag|chang|pass|rejoin|commenc|quitt|deven|adopt|nomm|embauch|report|repouss|remplac|prom"
    r"|mud|cambi|pas|empez|dej|nombr|contrat|aplaz|ascend|trasfer|inizi|cominci|lasci|adott|nomin|assun|rinvi|divent"
    r"|verhui|verander|gewissel|overgestap|begonn|gestop|benoem|verplaats|uitgestel|geworden"
    r"|przeprowadzi|zosta|zmieni|przesz|zacz|przenios|переех|переш|стал|смени|устро|перенес|нача|верну)\w*"
)
_PERFECTS = (
    (
        frozenset(["a", "ai", "as", "ont", "avons", "avez"]),
        re.compile(r"\w+(?:é|ée|és|ées)|vu|lu|bu|pris|fait|mis|reçu|couru"),
    ),
    (frozenset(("est", "suis", "sont")), re.compile(r"(?:all|ven|part|sort|arriv|retourn)\w*(?:é|u|i)e?s?")),
    (
        frozenset(["ha", "he", "han", "hemos", "has", "ho", "hanno"]),
        re.compile(r"\w+(?:ado|ido|icho|isto|ato|uto|ito|etto|itto)"),
    ),
    (frozenset(("è", "sono")), re.compile(r"(?:andat|venut|stat|partit|uscit|arrivat)[oaie]")),
    (frozenset(("heeft", "heb", "hebben")), re.compile(r"(?:ge|be|ver|ont)\w+(?:t|d|en)")),
)
_DUTCH = _PERFECTS[-1][0]
_PAST = re.compile(r"\w+[аеиоуыяё](?:л|ла|ли|лся|лась)|\w+(?:ł|ła|łem|łam)|\w+(?:ou|aram|eram)")
_JAPANESE = re.compile(r"(?:ました|[たっだ]た|った|んだ|いた)[。.!]?$")
_JAPANESE_CHANGES = re.compile("引っ越|変わ|変え|なりま|なった|移|替|辞め|始め|入社|転")


def happened_elsewhere(said: Sequence[str]) -> bool:
    """Whether its verb, in one of these languages, is of what happened once; `said` are its words in lower case.

    >>> events = ("luc a mangé une soupe", "marta ha comprado una mesa", "jan heeft een fiets gekocht")
    >>> [happened_elsewhere(text.split()) for text in (*events, "анна ездила в рим")]
    [True, True, True, True]
    >>> states = ("luc a déménagé à oslo", "marta vive en oslo", "анна переехала в осло", "the venue is a café")
    >>> [happened_elsewhere(text.split()) for text in states]
    [False, False, False, False]
    """
    if not _ENGLISH.isdisjoint(said):
        return False
    verb = _perfect(said) or (said[1] if len(said) > 1 and _PAST.fullmatch(said[1]) else None)
    if verb is not None:
        return verb not in _NOUNS and _CHANGES.fullmatch(verb) is None
    text = "".join(said)
    return _JAPANESE.search(text) is not None and _JAPANESE_CHANGES.search(text) is None


def _perfect(said: Sequence[str]) -> str | None:
    """The participle behind an auxiliary; in Dutch it may stand at the end."""
    for place, word in enumerate(said[:LOOKED_AT]):
        for auxiliaries, participle in _PERFECTS:
            if word in auxiliaries:
                behind = said[place + 1 :] if auxiliaries is _DUTCH else said[place + 1 : place + 2]
                found = next((one for one in behind if participle.fullmatch(one)), None)
                if found is not None:
                    return found
    return None
