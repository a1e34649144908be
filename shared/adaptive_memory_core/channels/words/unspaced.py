"""What are the words of a run of Chinese, Japanese, Korean or Thai, where nothing separates them? Pairs, and singles.

Pairs of characters are what most words of these scripts are made of; a character alone stands for the shorter ones. A
Thai or Lao character is taken with its vowels and tones. Those that only function words are made of are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

_THAI = "\u0e00-\u0e7f"
_MARKED = f"{_THAI}\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_EAST_ASIAN = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
UNSPACED = re.compile(f"[{_EAST_ASIAN}{_MARKED}]+")
_RUN = re.compile(f"[{_MARKED}]+|[{_EAST_ASIAN}]+")
_CLUSTER = re.compile("[\u0e40-\u0e44]?[\u0e01-\u0e2e][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*|.", re.DOTALL)
_LETTER = re.compile("[\u3040-\u30ff\u0e01-\u0eff]")  # says nothing alone: kana, and a consonant without its vowel
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


def parted(chunk: str) -> list[tuple[str, bool]]:
    """A chunk cut where the script changes; each part with whether nothing separates its words.

    >>> parted("使用Kubernetes部署")
    [('使用', True), ('Kubernetes', False), ('部署', True)]
    """
    parts, end = [], 0
    for run in UNSPACED.finditer(chunk):
        parts += [(chunk[end : run.start()], False), (run[0], True)]
        end = run.end()
    return [part for part in (*parts, (chunk[end:], False)) if part[0]]


def grams(run: str) -> Iterator[str]:
    """The pairs and singles of a run.

    >>> list(grams("東京都"))
    ['東', '京', '都', '東京', '京都']
    >>> list(grams("ラーメンが"))                   # a kana alone says nothing
    ['ラー', 'ーメ', 'メン', 'ンが']
    >>> list(grams("집에서")), list(grams("น้ำ"))
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
    """Function words, and the pairs and singles that longer ones are made of."""
    return frozenset(gram for word in _FUNCTION_WORDS.split() for gram in _whole_or_pairs(word))


def _whole_or_pairs(word: str) -> Iterator[str]:
    found = list(_all_grams(word))
    pairs = found if word[0] < "\u3000" else [gram for gram in found if len(gram) == 2]
    return iter(pairs or found)
