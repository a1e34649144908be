"""Does a cue ask for several things, or how to do something, so that no record replaces another one?

"What should I buy?" and "which tickets are closed?" have many answers at once, of which the newest is only one. The
rules are English, with a few words of other languages; what they do not know asks for one thing.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MODAL = (
    r"(?:should|shall|can|could|may|might|must|would|will|need|have to|has to|do (?:i|we) (?:\w+ )?(?:need|have to))"
)
_DONE = r"\w*(?:ed|en|wn|ne|nt|ught|ung|ade|aid|been|seen|met|read|got|had|won|put|cut)\b"
_SEVERAL = r"(?:are|were|people|children|men|women|other|others|else|of)"
_NO_PLURAL = r"(?:is|was|does|\w*(?:ss|us|is|as|'s))"
_OF_ONE = r"(?:is|was|owns?|leads?|runs?|manages?|coaches|teaches|chairs?|maintains?|heads?|does|do|has)"
_RELATIVES = (
    r"(?:friend|sister|brother|son|daughter|child|kid|cousin|colleague|co-?worker|neighbou?r|uncle|aunt|nephew|niece"
    r"|classmate|teammate|hobby|client|customer|student|member|allergy)"
)
_ENGLISH = (  # each stands at the edge of a word
    rf"(?:what|which|whom?|where|when|how) (?:\w+ ){{0,2}}?{_MODAL}\b",
    rf"(?:what|which|whom?|where|how)(?: \w+)? (?:has|have)(?= \w+.* {_DONE})",
    rf"(?:what|which) (?:\w+ )??(?!{_NO_PLURAL}\b)(?-i:[a-z])\w+s\b(?! (?:name|number|version)\b)",
    rf"(?:what|which|who|whom) {_SEVERAL}\b",
    r"what (?:\w+ed|happen\w*|made|went|came|brought|gave|took)\b",
    r"what(?: is|'s) (?!(?:the|my|our|your|his|her|its|their|this|that|one|(?-i:[A-Z])\w*)\b|\w+'s?\b)\w+\b(?! of\b)",
    r"what(?: is|'s) .*\b(?:to|of|about|in|at|on|with|for|from|like)\W*$",
    r"(?:what|whom?) (?:do|does|did) (?!.*\b(?:cost|weigh|drive|study|earn|measure|prefer)\W*$)(?!.* for a living\b)",
    rf"whom? (?!{_OF_ONE}\b)\w+",
    r"who(?: is|'s) (?:an?|in|at|good|also|afraid|coming|going|with)\b",
    r"(?:why|how (?:do|to|can|come|about|is it|was|were|did)|how are (?!old|tall))\b",
    rf"(?:who(?: is| are|'s)|names? of) .*\b{_RELATIVES}s?\W*$|{_RELATIVES}s?['\u2019]s? names?\b",
    r"(?:any|anything|anyone|anybody|all|every|everything|everyone|everybody|each|list|several|various|both)\b",
    r"(?:many of|some|something|ideas?|tips?|advice|recommend\w*|suggest\w*|summar\w+|overview|examples?|options)\b",
    r"(?:reasons?|remind|tell me (?:about|more)|how (?:many|often) times?)\b",
    r"how many (?!.*\b(?:has|have|had|in|of|on|at|does|do)\b)",
)
_OTHERS = (  # as well
    r"(?:was|wen|wo|wie) (?:soll|muss|kann|darf|könnte|brauch)\w*|welche\b.*\b(?:sind|haben|spricht|mag)\b",
    r"(?:wer sind|warum|wieso|alle|alles|jede\w*|wohin (?:sind|bin))\b",
    r"qu'est-ce que .*\b(?:dois|peux|faut|aime|veux)\b|(?:quel(?:le)?s|pourquoi|tous|toutes|comment faire)\b",
    r"qué .*\b(?:debo|puedo|tengo que|hay que|gusta)\b|qué \w+s\b|(?:cuáles|quiénes|por qué|todos|todas)\b",
)
_UNSPACED = r"哪些|有什么|要买|会说|(?<!最)喜欢|为什么|怎么(?!称)|怎样|所有|何を(?:買|し)|なぜ|すべて|全部"
_MANY = re.compile(rf"\b(?:{'|'.join((*_ENGLISH, *_OTHERS))})|{_UNSPACED}", re.IGNORECASE)


@lru_cache(maxsize=512)
def asks_for_many(cue: str) -> bool:
    """Whether what is asked for is likely to have several answers at a time.

    >>> [asks_for_many(cue) for cue in ("what should I buy?", "which tickets are closed?", "who lives in Oslo?")]
    [True, True, True]
    >>> [asks_for_many(cue) for cue in ("where does Ilse live?", "what is my address?", "Which database does it use?")]
    [False, False, False]
    >>> asks_for_many("which Kubernetes version do we run?"), asks_for_many("which Beatles songs does Ana know?")
    (False, True)
    """
    return _MANY.search(cue) is not None
