"""What is done with a word in its language? Stemmed, its accents folded; the commonest ones are left out.

The stemmers are Snowball's (https://snowballstem.org). English, and what is in no language that is known here, is left
to `stem`.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

from adaptive_memory_core.channels.words.function_words import FUNCTION_WORDS

SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali",
    "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
CODES = frozenset(SNOWBALL)
_SAME = {"nb": "no", "nn": "no", "in": "id"}  # other codes for a language
_LETTERS = {  # with a mark, and letters of their own for who writes the language; all other marks are folded
    "cs": "áčďéěíňóřšťúůýž",
    "da": "åæø",
    "es": "ñ",
    "et": "äõöüšž",
    "fi": "åäö",
    "hu": "áéíóöőúüű",
    "lt": "ąčęėįšųūž",
    "no": "åæø",
    "pl": "ąćęłńóśźż",
    "sv": "åäö",
    "tr": "çğöşü",
}
_TWICE = frozenset(("nl", "pt"))  # whose stemmers bring some forms of a word together in a second round only
_LATIN = "\u0250"  # marks are folded on letters before this one, and on Greek ones
_GREEK = ("\u0370", "\u03ff")
_WITHOUT_MARK = str.maketrans("ıøłđ", "iold")


def language_given(value: object) -> str | None:
    """The language that a record's metadata gives, as two letters; None where they name none of those known here.

    >>> [language_given(value) for value in ("de", "pt-BR", "FR_ca", "nb", "en", "zh", "python", 3, None)]
    ['de', 'pt', 'fr', 'no', 'en', 'en', None, None, None]
    """
    if not isinstance(value, str):
        return None
    code = value.strip().lower().replace("_", "-").partition("-")[0]
    code = _SAME.get(code, code)
    if code in _AS_ENGLISH:
        return ENGLISH
    return code if code in CODES else None


ENGLISH = "en"
_AS_ENGLISH = frozenset((ENGLISH, "zh", "ja", "ko", "th"))  # the last four are told by their script, wherever it stands


def is_function_word(word: str, language: str) -> bool:
    return word in FUNCTION_WORDS.get(language, ())


def lower(word: str, language: str | None) -> str:
    """In small letters; Turkish has two kinds of i.

    >>> lower("IŞIK", "tr"), lower("İzmir", "tr"), lower("IT", "de")
    ('ışık', 'izmir', 'it')
    """
    if language == "tr":
        word = word.replace("İ", "i").replace("I", "ı")
    return word.lower()


@lru_cache(maxsize=32_768)  # of words of at most 60 characters
def stem_in(word: str, language: str) -> str:
    """What is left of a lower-case word without its endings and its accents.

    >>> stem_in("häuser", "de"), stem_in("haus", "de"), stem_in("mueller", "de"), stem_in("müller", "de")
    ('haus', 'haus', 'mull', 'mull')
    >>> stem_in("canción", "es"), stem_in("canciones", "es"), stem_in("år", "sv"), stem_in("ar", "sv")
    ('cancion', 'cancion', 'år', 'ar')
    """
    stemmer = _stemmer(language)
    for _ in range(1 + (language in _TWICE)):
        word = folded(str(stemmer.stemWord(word)), language)
    return word


def folded(word: str, language: str) -> str:
    """Without the marks that the language does not take for a letter's own."""
    if word.isascii():
        return word
    letters = _LETTERS.get(language, "")
    return "".join(one if one in letters else _bare(one) for one in word).translate(_fold_of(language))


def _fold_of(language: str) -> dict[int, int]:
    kept = _LETTERS.get(language, "")
    return {one: other for one, other in _WITHOUT_MARK.items() if chr(one) not in kept}


def _bare(letter: str) -> str:
    """A letter without its marks, in the scripts where they are accents: й is no и.

    >>> [_bare(one) for one in "éñőάй"]
    ['e', 'n', 'o', 'α', 'й']
    """
    if letter < _LATIN or _GREEK[0] <= letter <= _GREEK[1]:
        return "".join(one for one in unicodedata.normalize("NFD", letter) if not unicodedata.combining(one))
    return letter


def _stemmer(language: str) -> Any:
    """A new one for each word, which takes 3 microseconds: one is of one thread only."""
    import Stemmer  # only where a text is in another language than English

    return Stemmer.Stemmer(SNOWBALL[language], 0)
