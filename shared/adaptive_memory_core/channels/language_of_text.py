"""The language of a text, by its function words, letters and endings.

The language of a short note is a best guess; an uncertain text is treated as English.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from adaptive_memory_core.channels.languages import COMMON_WORDS, ENGLISH, FUNCTION_WORDS, STOP_WORDS
from adaptive_memory_core.late import late_pattern

READ = 600  # characters of a text that are examined
ENOUGH, ENOUGH_OF_ASCII = 0.9, 1.1  # least evidence for a language; a word that only one language has counts 1
OVER_ENGLISH, OVER_OTHERS = 1.8, 1.0  # times the evidence for English, and for the next best of the others
_WORD = late_pattern(r"[¿¡]|(?<!\w)(?:[^\W\d_]|[\u0300-\u036f\u064b-\u065f\u0900-\u0963])+")
_ASCII_WORD = late_pattern("[a-z]+")
_LETTERS = {
    "ß": "de", "ä": "de sv fi", "ö": "de sv fi tr hu", "ü": "de tr hu", "œ": "fr", "ê": "fr pt", "è": "fr it",
    "à": "fr it pt", "ç": "fr pt tr", "û": "fr", "î": "fr ro", "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt",
    "ò": "it", "ì": "it", "ù": "it fr", "å": "sv da no", "ø": "da no", "æ": "da no", "ğ": "tr", "ş": "tr", "ı": "tr",
    "İ": "tr", "ł": "pl", "ż": "pl", "ś": "pl", "ą": "pl", "ę": "pl", "ć": "pl", "ń": "pl", "ř": "cs", "ě": "cs",
    "ů": "cs", "č": "cs", "š": "cs", "ž": "cs", "ý": "cs", "ő": "hu", "ű": "hu", "ț": "ro", "ș": "ro", "ă": "ro",
    "í": "es pt cs hu", "ó": "es pt pl hu", "á": "es pt cs hu", "é": "fr es pt hu cs", "ú": "es pt hu cs",
    "ы": "ru", "э": "ru", "ё": "ru", "ъ": "ru", **dict.fromkeys("پچژگ", "fa"),
}  # fmt: skip
_ENDINGS = {
    "ung": "de", "ungen": "de", "keit": "de", "heit": "de", "lich": "de", "isch": "de", "schaft": "de", "eau": "fr",
    "eaux": "fr", "euse": "fr", "oire": "fr", "ción": "es", "ciones": "es", "dad": "es", "ando": "es it pt",
    "iendo": "es", "zione": "it", "zioni": "it", "mente": "es it pt", "ção": "pt", "ções": "pt", "dade": "pt",
    "heid": "nl", "lijk": "nl", "tje": "nl", "ningen": "sv no da", "igheter": "sv", "arna": "sv", "orna": "sv",
    "erne": "da no", "lar": "tr", "ler": "tr", "ları": "tr", "leri": "tr", "yor": "tr", "acak": "tr", "ecek": "tr",
    "nın": "tr", "nin": "tr", "mak": "tr", "mek": "tr", "amos": "es pt", "iamo": "it", "ait": "fr", "aient": "fr",
    "ssa": "fi", "ssä": "fi", "lla": "fi it es", "llä": "fi", "sta": "fi", "stä": "fi", "nen": "fi", "ость": "ru",
    "ого": "ru", "ться": "ru",
}  # fmt: skip
_COMMON_ENGLISH = """
    also back been best born call can come could day did does done find first get give go goes going gone good got
    great had has have home into its job just know known last left let like list long look made make man many may
    me met minus more much must name need new next now off old one other out over part place please plus put say
    see set show some start stop take tell text than thing think three time today tomorrow took try turn two upon
    use used using via want way week well went were what work would year years yes yesterday yet
"""  # words that other languages have as well, or that are frequent in English texts without function words
_LETTER_WORTH, _ENDING_WORTH = 0.6, 0.5  # of a function word; guesses
_ALONE = 0.3  # how far the letters of names may count beyond the words: a name may be of another language than the text
_CYRILLIC = ("\u0400", "\u04ff")  # at least rules out English
_NO_RUSSIAN = late_pattern("[іїєґўђћљњџј]", re.IGNORECASE)
_MANY = 2  # times that one sign counts


def language_of(text: str) -> str | None:
    """The language of a text, as two letters; None for English and if it is not certain.

    >>> [language_of(text) for text in ("Der Zahnarzt hat am Dienstag um neun Zeit", "J'ai rendez-vous à midi")]
    ['de', 'fr']
    >>> [language_of(text) for text in ("We met in Los Angeles", "Deploy v2", "Die hard is a film", "東京都")]
    [None, None, None, None]
    """
    if text.isascii() and _without_foreign_words(text[:READ]):
        return None  # as most English texts are
    if _NO_RUSSIAN.search(text[:READ]):
        return None
    found = language_evidence(text[:READ])
    best = max(FUNCTION_WORDS, key=lambda code: found.get(code, 0.0))
    next_best = max((found[code] for code in found if code not in (best, ENGLISH)), default=0.0)
    enough = ENOUGH_OF_ASCII if text[:READ].isascii() else ENOUGH
    least = max(enough, OVER_ENGLISH * found.get(ENGLISH, 0.0), OVER_OTHERS * next_best)
    return best if found.get(best, 0.0) >= least else None


def likeliest(text: str, among: Collection[str]) -> str:
    """The most likely of the given languages for a short text; English if there is a tie.

    >>> likeliest("Wann war das?", ["de", "fr"]), likeliest("Kubernetes", ["de", "fr"])
    ('de', 'en')
    """
    if text.isascii() and _without_foreign_words(text[:READ]):
        return ENGLISH
    found = language_evidence(text[:READ])
    return max((ENGLISH, *among), key=lambda code: found.get(code, 0.0))


@lru_cache(maxsize=64)
def is_likely_english(text: str) -> bool:
    """Whether a short text is English rather than any other language.

    >>> is_likely_english("When was that?"), is_likely_english("Wann war das?")
    (True, False)
    """
    return likeliest(text, FUNCTION_WORDS) == ENGLISH


@lru_cache(maxsize=64)  # texts of at most 600 characters: a cue is looked up several times
def _without_foreign_words(text: str) -> bool:
    return _FOREIGN.isdisjoint(_ASCII_WORD.findall(text.lower()))


@lru_cache(maxsize=64)
def language_evidence(text: str) -> Mapping[str, float]:
    """The evidence for each language. A sign that several languages share is divided among them."""
    said: defaultdict[str, float] = defaultdict(float)
    names: defaultdict[str, float] = defaultdict(float)
    seen: defaultdict[str, int] = defaultdict(int)
    for match in _WORD.finditer(text[:READ]):
        word, lower = match[0], match[0].lower()
        seen[lower] += 1
        small = word[0] == lower[0]
        if seen[lower] > _MANY or (not small and lower in _SIGNS and not _begins(text, match.start())):
            continue  # "in Los Angeles" is not Spanish
        if telling := _SIGNS.get(lower):
            _weigh(said, telling, 1.0 if len(word) > 1 else _LETTER_WORTH)
        else:
            _look(said if small else names, word, lower)
    return {code: said[code] + min(names[code], said[code] + _ALONE) for code in {*said, *names}}


def _begins(text: str, start: int) -> bool:
    """Whether a sentence begins at `start`."""
    return not (before := text[:start].rstrip(" \n\"'«“¿¡-(")) or before[-1] in ".!?:…"


def _look(looks: defaultdict[str, float], word: str, lower: str) -> None:
    """Add the evidence in the letters and the ending of a word."""
    ending = next((lower[-n:] for n in (6, 5, 4, 3) if len(lower) > n + 1 and lower[-n:] in _ENDINGS), None)
    if ending is not None:
        _weigh(looks, _ENDINGS[ending].split(), _ENDING_WORTH)
    if _CYRILLIC[0] <= lower[0] <= _CYRILLIC[1]:
        _weigh(looks, ("ru",), _LETTER_WORTH / 2)
    if not lower.isascii():
        for codes in {_LETTERS[letter] for letter in (*word, *lower) if letter in _LETTERS}:
            _weigh(looks, codes.split(), _LETTER_WORTH)


def _weigh(found: defaultdict[str, float], codes: Sequence[str], worth: float) -> None:
    for code in codes:
        found[code] += worth / len(codes)


def _signs() -> dict[str, tuple[str, ...]]:
    signs = {word: [ENGLISH] for word in (*STOP_WORDS, *_COMMON_ENGLISH.split())}
    for code, said in FUNCTION_WORDS.items():
        for word in said | COMMON_WORDS.get(code, frozenset()):
            signs.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in signs.items()}


_SIGNS = _signs()
_FOREIGN = frozenset(word for word, codes in _SIGNS.items() if ENGLISH not in codes and len(word) > 1)
