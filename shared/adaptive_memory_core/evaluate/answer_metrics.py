"""Measures of a written answer compared with the reference answer, each in [0, 1].

Where there are several right answers, take the best with `best_of`. They agree with others' tools, which the tests
check: exact match and F1 with SQuAD's script, `bleu_1` with sacrebleu (lower case, no smoothing), `rouge_l` with
rouge-score (no stemming) on texts of ASCII; of other writing rouge-score sees nothing, and this one sees the words.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.metrics import mean

AnswerMeasure = Callable[[str, str], float]
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_MARKS = str.maketrans("", "", string.punctuation)
_WORD = re.compile(r"[^\W_]+")
_SPACED = (  # what stands apart as a token of its own, after the tokenizer "13a" of mteval
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def exact_match(said: str, right: str) -> float:
    """1 if both are the same but for case, punctuation, articles and spaces, else 0.

    >>> exact_match("The Blue Room.", "blue room"), exact_match("the red room", "blue room")
    (1.0, 0.0)
    """
    return float(_plain(said) == _plain(right))


def f1(said: str, right: str) -> float:
    """How far the words are those of the right answer, each as often as it is there, without articles and punctuation.

    >>> f1("7 May", "7 May 2023")
    0.8
    >>> f1("", "tea"), f1("", "")
    (0.0, 1.0)

    Source: Rajpurkar et al., SQuAD (2016).
    """
    ours, theirs = _plain(said).split(), _plain(right).split()
    if not ours or not theirs:
        return float(ours == theirs)
    return _harmonic(_common(ours, theirs), len(ours), len(theirs))


def bleu_1(said: str, right: str) -> float:
    """The share of what is said that is right, less where too little is said.

    >>> bleu_1("7 May", "7 May"), round(bleu_1("7", "7 May"), 3), bleu_1("", "tea")
    (1.0, 0.368, 0.0)

    Source: Papineni et al., BLEU (2002), with words alone; tokens as mteval's "13a" cuts them, in lower case.
    """
    ours, theirs = _cut(said), _cut(right)
    both = _common(ours, theirs)
    if not both:
        return 0.0
    return min(1.0, math.exp(1.0 - len(theirs) / len(ours))) * both / len(ours)


def rouge_l(said: str, right: str) -> float:
    """F1 of the longest sequence of words that both have in this order.

    >>> rouge_l("b a", "a b"), rouge_l("a x b", "a b"), rouge_l("x", "a")
    (0.5, 0.8, 0.0)

    Source: Lin, ROUGE (2004).
    """
    ours, theirs = _WORD.findall(said.lower()), _WORD.findall(right.lower())
    return _harmonic(_longest(ours, theirs), len(ours), len(theirs))


def contains(said: str, right: str) -> float:
    """1 if the reply contains the right answer, as whole words in its order, else 0.

    >>> contains("It is the Blue Room, I think.", "blue room"), contains("It is a bluebell.", "blue")
    (1.0, 0.0)
    """
    wanted = _plain(right)
    return float(bool(wanted) and f" {wanted} " in f" {_plain(said)} ")


def key_terms(right: str) -> tuple[str, ...]:
    """The terms that an answer should hold: its words, without those that say little.

    >>> key_terms("The deploys are on Tuesdays.")
    ('deploy', 'tuesday')
    """
    return tuple(dict.fromkeys(words(right)))


def term_coverage(said: str, terms: Collection[str]) -> float:
    """The share of the terms that the reply contains, in any inflection; a term of several words must be there in full.

    >>> term_coverage("We deploy every week", ["deploys", "Tuesday"])
    0.5
    """
    if not terms or isinstance(terms, str):
        raise InvalidInputError(f"the terms are {terms!r}. Give a list of at least one, or take key_terms(answer).")
    there = set(words(said))
    return mean([float(bool(found := set(words(term))) and found <= there) for term in terms])


def best_of(measure: AnswerMeasure, said: str, right: Iterable[str]) -> float:
    """The measure against the right answer to which the reply comes closest.

    >>> best_of(f1, "Oslo", ["Rome", "Oslo"])
    1.0
    """
    return max((measure(said, one) for one in right), default=0.0)


def _plain(text: str) -> str:
    """Lower case, without punctuation and articles, with single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_WITHOUT_MARKS)).split())


def _cut(text: str) -> list[str]:
    line = f" {text.lower()} "
    for pattern, apart in _SPACED:
        line = pattern.sub(apart, line)
    return line.split()


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    return sum((Counter(ours) & Counter(theirs)).values())


def _harmonic(both: int, ours: int, theirs: int) -> float:
    return 2 * both / (ours + theirs) if both else 0.0


def _longest(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """How long the longest common subsequence is, a row of the table at a time."""
    lengths = [0] * (len(theirs) + 1)
    for one in ours:
        diagonal = 0
        for place, other in enumerate(theirs, start=1):
            here = diagonal + 1 if one == other else max(lengths[place], lengths[place - 1])
            diagonal, lengths[place] = lengths[place], here
    return lengths[-1]
