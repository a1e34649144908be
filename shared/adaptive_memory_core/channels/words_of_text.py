"""The words of a text and of a cue: split, stemmed, counted.

English words are stemmed by M. F. Porter, An algorithm for suffix stripping (1980). Words with characters other than a
to z are left unchanged.

Text in a script without spaces is split into pairs of characters and single characters, in any language: most words are
pairs, and single characters cover the shorter words. A Thai or Lao character includes its vowels and tones. Pairs and
characters that occur only in function words are left out.

If a text's language is given, the stemmer and the function words of that language are used; otherwise those of English.
A cue finds records in its own language, and names and terms in records of any language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from adaptive_memory_core.channels.language_of_text import likeliest
from adaptive_memory_core.channels.languages import ENGLISH, STOP_WORDS, is_function_word, lower, stem_in
from adaptive_memory_core.late import late_pattern

_VOWELS = "(?:[aeiou]|(?<=[^aeiou])y)"
_MEASURED = late_pattern(rf"{_VOWELS}+[^aeiou]")  # one vowel-consonant step; the number of steps is the paper's m
_VOWEL = late_pattern(_VOWELS)
_DOUBLE = late_pattern(r"([^aeiou])\1$")
_SHORT = late_pattern(r"[^aeiou][aeiouy][^aeiouwxy]$")
_FINAL_Y = late_pattern(r".[^aeiouy]y$")  # as in Porter's later English stemmer, so that "deploys" meets "deployment"
_PLURAL = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_SECOND = (
    ("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("tional", "tion"), ("biliti", "ble"), ("entli", "ent"), ("ousli", "ous"), ("ation", "ate"), ("alism", "al"),
    ("aliti", "al"), ("iviti", "ive"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("ator", "ate"), ("eli", "e"),
)  # fmt: skip
_THIRD = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_FOURTH = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
)  # fmt: skip


def stem(word: str) -> str:
    """A lower-case word without its endings.

    >>> [stem(word) for word in ("deploys", "deployed", "deploying", "deployment")]
    ['deploy', 'deploy', 'deploy', 'deploy']
    >>> [stem(word) for word in ("relational", "hopping", "happy", "pay", "cafés", "as")]
    ['relat', 'hop', 'happi', 'pay', 'cafés', 'as']
    """
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    word = _past(_replaced(word, _PLURAL, 0, any_stem=True))
    if _FINAL_Y.search(word):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _SECOND, 0), _THIRD, 0)
    return _tidied(_without_fourth(word))


def _measure(stem_: str) -> int:
    return len(_MEASURED.findall(stem_))


def _replaced(word: str, endings: tuple[tuple[str, str], ...], least: int, *, any_stem: bool = False) -> str:
    """The word with its first matching ending replaced, if the rest is long enough."""
    for ending, other in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + other if any_stem or _measure(rest) > least else word
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((one for one in ("ed", "ing") if word.endswith(one)), None)
    if ending is None or not _VOWEL.search(word[: -len(ending)]):
        return word
    rest = word[: -len(ending)]
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _DOUBLE.search(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _SHORT.search(rest) else rest


def _without_fourth(word: str) -> str:
    for ending in _FOURTH:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t")))
            return rest if fits else word
    return word


def _tidied(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        steps = _measure(rest)
        if steps > 1 or (steps == 1 and not _SHORT.search(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


_THAI = "\u0e00-\u0e7f"
_MARKED = f"{_THAI}\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_EAST_ASIAN = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
UNSPACED = late_pattern(f"[{_EAST_ASIAN}{_MARKED}]+")
_RUN = late_pattern(f"[{_MARKED}]+|[{_EAST_ASIAN}]+")
_CLUSTER = late_pattern("[\u0e40-\u0e44]?[\u0e01-\u0e2e][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*|.", re.DOTALL)
_LETTER = late_pattern("[\u3040-\u30ff\u0e01-\u0eff]")  # meaningless alone: kana, and a consonant without its vowel
_FUNCTION_WORDS = """
    的 了 是 在 我 你 您 他 她 它 们 我们 你们 他们 这 那 这个 那个 有 没 没有 就 也 很 吗 呢 吧 啊 嘛 把 给 不 要
    还 着 么 什 怎 什么 怎么 怎样 怎么样 为什么 谁 哪 哪里 哪儿 哪个 哪些 哪家 多少 几 几个 什么时候 是什么 是谁
    是不是 有没有 一 个 一个 们的 了吗 我的 你的 他的 她的 的是 是在 在哪 叫什 です でした ます ました ません する
    した して している しています ない ある あります いる います から まで より など って という ため こと もの
    これ それ あれ この その あの ここ そこ どこ どこで どこに いつ だれ 誰 何 なに なん なぜ どう どの どんな どれ
    ですか ますか でしたか ましたか いくら いくつ 私 私の は が を に で と も の へ や か ね よ な は何 の名前は
    は誰 は何で 何です 은 는 이 가 을 를 에 의 로 와 과 도 만 다 요 고 니 에서 으로 에게 한테 까지 부터 하고 이랑
    랑 했다 한다 합니다 입니다 습니다 했어 했어요 있다 있어 있어요 없다 있는 하는 하다 나 내 너 네 우리 저 제 그
    그녀 누구 무엇 뭐 언제 어디 어디서 어디에 왜 어떻게 어떤 어느 몇 얼마 얼마나 이다 인가 인가요 였다 었다 았다
    는지 었어 았어 는가 나요 ที่ ของ และ ใน เป็น ได้ ไม่ มี ว่า จะ ให้ ไป มา กับ นี้ นั้น ก็ แต่ หรือ จาก โดย เพื่อ อยู่ แล้ว
    คือ ฉัน ผม เรา คุณ เขา เธอ อะไร ใคร ที่ไหน ไหน เมื่อไหร่ เมื่อไร ทำไม อย่างไร ยังไง เท่าไหร่ เท่าไร กี่ ครับ ค่ะ คะ นะ ไหม
    บ้าง
"""


def script_runs(chunk: str) -> list[tuple[str, bool]]:
    """The parts of a chunk, cut where the script changes; True for a script without spaces between words.

    >>> script_runs("使用Kubernetes部署")
    [('使用', True), ('Kubernetes', False), ('部署', True)]
    """
    parts, end = [], 0
    for run in UNSPACED.finditer(chunk):
        parts += [(chunk[end : run.start()], False), (run[0], True)]
        end = run.end()
    return [part for part in (*parts, (chunk[end:], False)) if part[0]]


def character_pairs(run: str) -> Iterator[str]:
    """The character pairs and single characters of a run.

    >>> list(character_pairs("東京都"))
    ['東', '京', '都', '東京', '京都']
    >>> list(character_pairs("ラーメンが"))                   # a single kana is meaningless
    ['ラー', 'ーメ', 'メン', 'ンが']
    >>> list(character_pairs("집에서")), list(character_pairs("น้ำ"))
    (['집', '서', '집에'], ['น้ํา'])
    """
    little = _of_function_words()
    return (gram for gram in _all_grams(run) if gram not in little and not little.issuperset(gram))


def _all_grams(run: str) -> Iterator[str]:
    for part in _RUN.findall(unicodedata.normalize("NFKC", run)):
        singles = _CLUSTER.findall(part) if part[0] < "\u3000" else list(part)
        alone = len(singles) == 1
        yield from singles if alone else [one for one in singles if not _LETTER.fullmatch(one)]
        yield from map("".join, pairwise(singles))


@lru_cache(maxsize=1)
def _of_function_words() -> frozenset[str]:
    """The pairs and single characters of function words."""
    return frozenset(gram for word in _FUNCTION_WORDS.split() for gram in _whole_or_pairs(word))


def _whole_or_pairs(word: str) -> Iterator[str]:
    found = list(_all_grams(word))
    pairs = found if word[0] < "\u3000" else [gram for gram in found if len(gram) == 2]
    return iter(pairs or found)


LONGEST_WORD = 60  # characters; longer words are not searched for
REMEMBERED, OF_A_SCRIPT = 24, 8  # longest chunk, in characters, whose words are cached: in ASCII, and in other scripts
_CHUNK = late_pattern(r"[^\s,;!?()\[\]{}<>\"“”„«»]+")  # may be an identifier as a whole
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"  # marks on letters
_WORD = late_pattern(rf"(?:[^\W_]|[{_MARKS}])+")
_DIGIT = late_pattern(r"\d")
_HUMP = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WHOLE = late_pattern(r"(?=.*[0-9_./:@#\\-])(?=.*[^\W_]).*[^\W_].*[^\W_]", re.DOTALL)
_MANY_MARKS = late_pattern(r"([^\w\s]{30})[^\w\s]+")  # normalising a letter with very many accents is slow
_EDGES = ".:'`*~-\u2019\u2013\u2014"


class Piece(NamedTuple):
    """A part of a text that is looked up: unchanged, or (`inflected`) stemmed by its language."""

    text: str
    inflected: bool


def words(text: str, language: str | None = None) -> list[str]:
    """The words of a text as they are looked up, in order and with repetitions.

    >>> words("She was deploying the tier migrations.")
    ['deploy', 'tier', 'migrat']
    >>> words("What raised ERR_CONN_RESET in net.http_client?")
    ['rais', 'err_conn_reset', 'err', 'conn', 'reset', 'net.http_client', 'net', 'http', 'client']
    >>> words("Die Häuser in der Straße", "de"), words("東京都")
    (['haus', 'strass'], ['東', '京', '都', '東京', '京都'])
    >>> words("It is what it is")
    []
    """
    found: list[str] = []
    for chunk in text_chunks(text):
        if len(chunk) <= (REMEMBERED if chunk.isascii() else OF_A_SCRIPT):
            found += _of_short(chunk, language)  # cached: short chunks keep the cache small
        else:
            found += _words_of(chunk, language)
    return found


def text_chunks(text: str) -> list[str]:
    """The chunks of a text between spaces, brackets and quotation marks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MANY_MARKS.sub(r"\1", text))
    return _CHUNK.findall(text)


def pieces(chunk: str) -> Iterator[Piece]:
    """The pieces of a chunk to look up: whole identifiers, their parts, and pairs of characters."""
    for part, unspaced in _by_script(chunk):
        if unspaced:
            yield from (Piece(gram, inflected=False) for gram in character_pairs(part))
        else:
            yield from _parts(part.strip(_EDGES))


def _by_script(chunk: str) -> list[tuple[str, bool]]:
    return [(chunk, False)] if chunk.isascii() or not UNSPACED.search(chunk) else script_runs(chunk)


def form(piece: Piece, language: str | None) -> str | None:
    """The form in which a piece is looked up in a language; None for a function word or a word that is too long."""
    if not piece.inflected:
        return piece.text
    word = lower(piece.text, language)
    if len(word) > LONGEST_WORD:
        return None
    if language is None:
        return None if word in STOP_WORDS else stem(word)
    if is_function_word(word, language):
        return None
    return word if len(word) <= 2 or _DIGIT.search(word) else stem_in(word, language)


@lru_cache(maxsize=32_768)  # of at most 1.2 kB each
def _of_short(chunk: str, language: str | None) -> tuple[str, ...]:
    return _words_of(chunk, language)


def _words_of(chunk: str, language: str | None) -> tuple[str, ...]:
    found: list[str] = []
    for part, unspaced in _by_script(chunk):
        if unspaced:
            found += character_pairs(part)  # without stemming
        else:
            parts = _parts(part.strip(_EDGES))
            found += [word for piece in parts if (word := form(piece, language)) is not None]
    return tuple(found)


def _parts(chunk: str) -> Iterator[Piece]:
    parts = [part for run in _WORD.findall(chunk) for part in _HUMP.split(run)]
    if len(chunk) <= LONGEST_WORD and _is_identifier(chunk, parts):
        yield Piece(chunk.lower(), inflected=False)
    yield from (Piece(part, inflected=True) for part in parts)


def _is_identifier(chunk: str, parts: list[str]) -> bool:
    """Whether a chunk is an identifier or a compound that is looked up as a whole as well.

    >>> [one for one in ("it's", "well-known", "E-42", "getUser", "3.5", "end.") if _is_identifier(one, [one, one])]
    ['well-known', 'E-42', 'getUser', '3.5']
    """
    if len(parts) < 2:
        return False
    return _WHOLE.fullmatch(chunk) is not None or _HUMP.search(chunk) is not None


GRAMS_OF_A_WORD = 3  # of a word of two characters, the usual length in Chinese and Japanese
Forms = str | tuple[str, ...]  # a word with one form in all languages, or its different forms


def words_of_cue(cue: str, languages: Sequence[str]) -> Mapping[Forms, float]:
    """How often each word occurs in the cue; `languages` are the languages of the records besides English.

    In a script without spaces, a word becomes its two characters and their pair. Each counts a third, because they are
    one word: three independent matches would be much less likely to be chance.

    >>> dict(words_of_cue("the houses of the cats", []))
    {'hous': 1, 'cat': 1}
    >>> dict(words_of_cue("Wann strichen wir die Häuser?", ["de"]))
    {('strichen', 'strich'): 1, ('häuser', 'haus'): 1}
    >>> round(sum(words_of_cue("東京", []).values()), 2)
    1.0
    """
    found: dict[Forms, float] = {}
    for one in _forms_in(cue, languages) if languages else words(cue):
        found[one] = found.get(one, 0) + 1
    if cue.isascii() or not UNSPACED.search(cue):
        return found
    return {one: times / GRAMS_OF_A_WORD if UNSPACED.match(_any_form(one)) else times for one, times in found.items()}


def _forms_in(cue: str, languages: Sequence[str]) -> list[Forms]:
    """The words of the cue, each with its forms in these languages and in English."""
    own, found = likeliest(cue, languages), list[Forms]()
    for chunk in text_chunks(cue):
        for piece in pieces(chunk):
            if forms := _forms(piece, own, languages):
                found.append(forms[0] if len(forms) == 1 else forms)
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
