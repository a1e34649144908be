"""Which words are looked up for a cue? Each in the forms that it has in the languages of the records.

So a cue finds records of its own language, and names and terms in those of any other. Its own language says which words
of it are function words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.channels.words.language_of_text import likeliest
from adaptive_memory_core.channels.words.languages import ENGLISH, is_function_word, lower
from adaptive_memory_core.channels.words.unspaced import UNSPACED
from adaptive_memory_core.channels.words.words_of_text import Piece, chunks, form, pieces, words

GRAMS_OF_A_WORD = 3  # of two characters, as most words of Chinese and Japanese are
Forms = str | tuple[str, ...]  # a word that has one form in all languages, or its different ones


def words_of_cue(cue: str, languages: Sequence[str]) -> Mapping[Forms, float]:
    """How often each word comes in the cue; `languages` are those of the records besides English.

    Where nothing separates words, one comes as its two characters and their pair: each of them counts a third, for they
    say the same thing, and three independent ones would be much less likely by accident.

    >>> dict(words_of_cue("the houses of the cats", []))
    {'hous': 1, 'cat': 1}
    >>> dict(words_of_cue("Wann strichen wir die Häuser?", ["de"]))
    {('strichen', 'strich'): 1, ('häuser', 'haus'): 1}
    >>> round(sum(words_of_cue("東京", []).values()), 2)
    1.0
    """
    found = _counted(cue, languages)
    if cue.isascii() or not UNSPACED.search(cue):
        return found
    return {one: times / GRAMS_OF_A_WORD if UNSPACED.match(_any_form(one)) else times for one, times in found.items()}


def _counted(cue: str, languages: Sequence[str]) -> Mapping[Forms, int]:
    found: dict[Forms, int] = {}
    if not languages:
        for word in words(cue):
            found[word] = found.get(word, 0) + 1
        return found
    own = likeliest(cue, languages)
    for chunk in chunks(cue):
        for piece in pieces(chunk):
            if forms := _forms(piece, own, languages):
                one = forms[0] if len(forms) == 1 else forms
                found[one] = found.get(one, 0) + 1
    return found


def _any_form(forms: Forms) -> str:
    return forms if isinstance(forms, str) else forms[0]


def _forms(piece: Piece, own: str, languages: Sequence[str]) -> tuple[str, ...]:
    if piece.inflected and _says_little(piece.text, own):
        return ()
    found = (form(piece, language) for language in (None, *languages))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _says_little(word: str, own: str) -> bool:
    if own == ENGLISH:
        return form(Piece(word, inflected=True), None) is None
    return is_function_word(lower(word, own), own)
