"""Does a cue ask for what was, or for all that ever was, not for what is? English, and a few other words."""

from __future__ import annotations

import re
from functools import lru_cache

from adaptive_memory_core.cue.time.ascii_letters import in_ascii_letters, some_in, words_of
from adaptive_memory_core.cue.time.english_leans import PAST_TENSE
from adaptive_memory_core.cue.time.intent import Intent

_HISTORY = re.compile(
    r"\b(?:histor\w+|timeline|chronolog\w+|over (?:time|the (?:years|months|weeks|course))|so far|ever|previous\w*"
    r"|earlier|former\w*|initial\w*|original\w*|used to|until|till|back then|(?:not|no) longer|any ?more|evolv\w+"
    r"|change[ds]?|changing|differ\w*|compare\w*|(?<!how )old|first|before)\b",
    re.IGNORECASE,
)
_IN_OTHER_LANGUAGES = re.compile(
    r"\b(?:früher|vorher|davor|ursprünglich|zuerst|damals|ehemals|wohnte|arbeitete|hieß|hatte"
    r"|avant|auparavant|autrefois|d'abord|jadis|était|habitait|travaillait|antes|anteriormente|primero|vivía|trabajaba)\b"
    r"|以前|之前|原来|曾经|过去|最初|从前|かつて|最初|でした|ていました|예전|이전|처음|살았|했어",
    re.IGNORECASE,
)
_NEEDS = words_of(  # a cue without any of these, in lower case, asks for no history
    "histor timeline chronolog over far ever prev earlier former initial original used until till back longer more "
    "evolv chang differ compar old first before"
)


def asks_history(cue: str, intent: Intent) -> bool:
    """Whether older statements are asked for as well, or alone.

    >>> from adaptive_memory_core.cue.time.intent import NO_INTENT
    >>> asked = ("where did Ilse live before?", "how did the plan change?", "where does Ilse live?", "how old is Ilse?")
    >>> [asks_history(cue, NO_INTENT) for cue in asked]
    [True, True, False, False]
    """
    if intent.windows or intent.lean in ("past", "earliest"):
        return True
    if some_in(in_ascii_letters(cue).lower(), _NEEDS) and _HISTORY.search(cue) is not None:
        return True
    return _in_other_languages(cue)


@lru_cache(maxsize=512)
def _in_other_languages(cue: str) -> bool:
    """
    >>> _in_other_languages("wo hat Ilse früher gewohnt?"), _in_other_languages("wo wohnt Ilse?")
    (True, False)
    """
    return _IN_OTHER_LANGUAGES.search(cue) is not None


@lru_cache(maxsize=512)
def in_past_tense(text: str) -> bool:
    """Whether its verb says that it is over; a question of that kind is about what was.

    >>> in_past_tense("where did Ilse live?"), in_past_tense("where does Ilse live?")
    (True, False)
    """
    return PAST_TENSE.search(text) is not None
