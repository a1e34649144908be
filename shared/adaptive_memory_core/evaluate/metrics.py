"""Measures in [0, 1]: of one ranking, by record and by session, and of a written answer against the reference answer.

All rankings follow these rules:
- `gold` is a collection of ids, or a mapping from id to gain; an id is right if its gain is above 0.
- A question without gold has no score and raises: counting it as 0 or as 1 would distort the mean.
- A ranking with a duplicate id raises: the system that returned it is at fault, and hiding that would flatter it.
- Otherwise scores agree with trec_eval (R, P, success, ndcg_cut, recip_rank) to 1e-9, which the tests check.

Sessions: A ranking of records is read as a ranking of sessions, each at the rank of its best record. The published R@k
is 1 if *any* answering session is among the first k; `all@k` requires all of them. `NDCG@10 (LME)` follows
LongMemEval's own script, which does not discount the second rank; `NDCG@10` is the usual measure.

Answers: If there are several right answers, take the best with `best_of`. The measures agree with other tools, which
the tests check: exact match and F1 with SQuAD's script, `bleu_1` with sacrebleu (lower case, no smoothing), `rouge_l`
with rouge-score (no stemming) on ASCII texts. rouge-score ignores other scripts; `rouge_l` reads their words.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.datasets import Item, Question

RankedIds: TypeAlias = Sequence[str]
Gold: TypeAlias = Collection[str] | Mapping[str, float]


def recall_at(ranking: RankedIds, gold: Gold, *, k: int) -> float:
    """The share of the gold that is among the first k.

    >>> recall_at(["a", "b", "c"], {"a", "c"}, k=2)
    0.5
    >>> recall_at([], {"a"}, k=2)      # nothing was returned
    0.0
    """
    right = _gains(gold)
    return _found(ranking, right, k) / len(right)


def hit_rate_at(ranking: RankedIds, gold: Gold, *, k: int) -> float:
    """1 if any of the gold is among the first k, else 0; the mean over questions is the hit rate (success@k).

    >>> hit_rate_at(["a", "b", "c"], {"c", "z"}, k=3)
    1.0
    >>> hit_rate_at(["a", "b", "c"], {"c", "z"}, k=2)      # one place too late
    0.0
    """
    return float(_found(ranking, _gains(gold), k) > 0)


def all_found_at(ranking: RankedIds, gold: Gold, *, k: int) -> float:
    """1 if all of the gold is among the first k, else 0, as multi-hop questions need.

    >>> all_found_at(["a", "b", "c"], {"a", "c"}, k=3)
    1.0
    >>> all_found_at(["a", "b", "c"], {"a", "b"}, k=1)      # two do not fit in one place
    0.0
    """
    right = _gains(gold)
    return float(_found(ranking, right, k) == len(right))


def precision_at(ranking: RankedIds, gold: Gold, *, k: int) -> float:
    """The share of the k places that are gold. An empty place counts as wrong, so a short ranking is not rewarded.

    >>> precision_at(["a", "b", "c", "d"], {"a", "c"}, k=4)
    0.5
    >>> precision_at(["a"], {"a"}, k=4)      # three empty places
    0.25
    """
    return _found(ranking, _gains(gold), k) / k


def ndcg_at(ranking: RankedIds, gold: Gold, *, k: int) -> float:
    """The discounted gain of the first k, as a share of the ideal ranking's.

    The gain at rank r is divided by log2(r + 1). Gains are used directly, not as 2 ** gain - 1; if none are given,
    each gold id counts 1.

    >>> ndcg_at(["x", "y", "a"], {"a"}, k=3)      # log2(4) is 2
    0.5
    >>> ndcg_at(["b", "a"], {"a": 3.0, "b": 1.0}, k=1)      # graded: 1 of the 3 to be had in the first place
    0.3333333333333333
    >>> ndcg_at(["a"], {"a", "b"}, k=1)      # the rest of the gold does not fit: nothing was lost
    1.0

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002); discount as in trec_eval.
    """
    right = _gains(gold)
    gained = _discounted([right.get(item, 0.0) for item in _first(ranking, k)])
    ideal = _discounted(sorted(right.values(), reverse=True)[:k])
    return min(1.0, gained / ideal)


def reciprocal_rank(ranking: RankedIds, gold: Gold, *, k: int | None = None) -> float:
    """1 / rank of the first gold id, 0 if none is among the first k. The mean over questions is the MRR.

    >>> reciprocal_rank(["x", "a", "b"], {"a", "b"})
    0.5
    >>> reciprocal_rank(["x", "a", "b"], {"a", "b"}, k=1)
    0.0
    """
    right = _gains(gold)
    first = _first(ranking, max(1, len(ranking)) if k is None else k)
    return next((1 / rank for rank, item in enumerate(first, start=1) if item in right), 0.0)


def mean(scores: Iterable[float]) -> float:
    """The mean over questions, each with the same weight.

    >>> mean([1.0, 0.0, 0.5])
    0.5
    >>> mean([])      # no questions, no mean
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: there are no scores. A mean needs at least one. Check the selection.
    """
    scores = list(scores)
    if not scores:
        raise InvalidInputError("there are no scores. A mean needs at least one. Check the selection.")
    return math.fsum(scores) / len(scores)


def _found(ranking: RankedIds, right: Mapping[str, float], k: int) -> int:
    return sum(item in right for item in _first(ranking, k))


def _first(ranking: RankedIds, k: int) -> RankedIds:
    """The first k ids. Raises InvalidInputError if the ranking or k is not valid."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidInputError(f"k is {k!r}. It must be a whole number from 1 up. Pass e.g. k=10.")
    if isinstance(ranking, str):
        raise InvalidInputError(f"the ranking is the text {ranking!r}. It must be a list of ids. Pass [{ranking!r}].")
    if len(set(ranking)) != len(ranking):
        twice = next(item for place, item in enumerate(ranking) if item in ranking[:place])
        raise InvalidInputError(
            f"the ranking names {twice!r} twice. Each id may occur once. Fix the system that returned it, "
            "or keep the first of each with list(dict.fromkeys(ranking))."
        )
    return ranking[:k]


def _gains(gold: Gold) -> dict[str, float]:
    """The gain of each right id, all above 0. Raises InvalidInputError if there are none."""
    if isinstance(gold, str):
        raise InvalidInputError(f"the gold is the text {gold!r}. It must be a collection of ids. Pass {{{gold!r}}}.")
    gains = dict(gold) if isinstance(gold, Mapping) else dict.fromkeys(gold, 1.0)
    for item, gain in gains.items():
        if not 0 <= gain < math.inf:
            raise InvalidInputError(
                f"the gain of {item!r} is {gain!r}. A gain is a finite number from 0 up. Give 0 to what is irrelevant."
            )
    right = {item: float(gain) for item, gain in gains.items() if gain > 0}
    if not right:
        raise InvalidInputError(
            "the question has no gold. A measure needs at least one right id. "
            "Leave such questions out, and count separately how often nothing was returned for them."
        )
    return right


def _discounted(gains: Iterable[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


CUTS = (5, 10)


def session_measures(question: Question, ranking: Sequence[str], items: Mapping[str, Item]) -> dict[str, float]:
    """All session measures for one question; empty if its items have no sessions."""
    gold = gold_sessions(question, items)
    if not gold:
        return {}
    found = _distinct(_named(items[one].session) for one in ranking)
    row = {f"session R@{k}": hit_rate_at(found, gold, k=k) for k in CUTS}
    row["session NDCG@10"] = ndcg_at(found, gold, k=10)
    row["session hit@1"] = hit_rate_at(found, gold, k=1)
    row |= {f"session all@{k}": all_found_at(found, gold, k=k) for k in CUTS}
    row["session NDCG@10 (LME)"] = ndcg_of_their_script(found, gold, k=10)
    return row


def gold_sessions(question: Question, items: Mapping[str, Item]) -> frozenset[str]:
    """The answering sessions: the named sessions, or else those of the gold."""
    named = question.more.get("answer_sessions")
    own = named if named is not None else [items[one].session for one in question.gold_ids]
    return frozenset(str(one) for one in own if one is not None)


def ndcg_of_their_script(ranking: Sequence[Hashable], gold: Collection[Hashable], *, k: int) -> float:
    """NDCG as in LongMemEval's script: gains from rank 2 on are divided by log2(r), not by log2(r + 1).

    >>> ndcg_of_their_script(["x", "a"], {"a"}, k=10), ndcg_of_their_script(["x", "y", "z", "a"], {"a"}, k=10)
    (1.0, 0.5)
    """
    gained = _gain(place for place, one in enumerate(ranking[:k], start=1) if one in gold)
    return gained / _gain(range(1, min(k, len(gold)) + 1))


def _gain(places: Iterable[int]) -> float:
    return math.fsum(1.0 / math.log2(max(2, place)) for place in places)


def _distinct(sessions: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(sessions))


def _named(session: str | None) -> str:
    """The session's name; records without a session share an empty name, which answers nothing."""
    return "" if session is None else session


AnswerMeasure = Callable[[str, str], float]
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_MARKS = str.maketrans("", "", string.punctuation)
_WORD = re.compile(r"[^\W_]+")
_SPACED = (  # characters that are separate tokens, as in mteval's tokenizer "13a"
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def exact_match(reply: str, right: str) -> float:
    """1 if both are equal apart from case, punctuation, articles and spaces, else 0.

    >>> exact_match("The Blue Room.", "blue room"), exact_match("the red room", "blue room")
    (1.0, 0.0)
    """
    return float(_plain(reply) == _plain(right))


def f1(reply: str, right: str) -> float:
    """F1 of the reply's words against the right answer's, counting repeats, without articles and punctuation.

    >>> f1("7 May", "7 May 2023")
    0.8
    >>> f1("", "tea"), f1("", "")
    (0.0, 1.0)

    Source: Rajpurkar et al., SQuAD (2016).
    """
    ours, theirs = _plain(reply).split(), _plain(right).split()
    if not ours or not theirs:
        return float(ours == theirs)
    return _harmonic(_common(ours, theirs), len(ours), len(theirs))


def bleu_1(reply: str, right: str) -> float:
    """The share of the reply's tokens that are right, with a penalty for short replies.

    >>> bleu_1("7 May", "7 May"), round(bleu_1("7", "7 May"), 3), bleu_1("", "tea")
    (1.0, 0.368, 0.0)

    Source: Papineni et al., BLEU (2002), unigrams only; lower-case tokens as in mteval's "13a".
    """
    ours, theirs = _cut(reply), _cut(right)
    both = _common(ours, theirs)
    if not both:
        return 0.0
    return min(1.0, math.exp(1.0 - len(theirs) / len(ours))) * both / len(ours)


def rouge_l(reply: str, right: str) -> float:
    """F1 of the longest common subsequence of words.

    >>> rouge_l("b a", "a b"), rouge_l("a x b", "a b"), rouge_l("x", "a")
    (0.5, 0.8, 0.0)

    Source: Lin, ROUGE (2004).
    """
    ours, theirs = _WORD.findall(reply.lower()), _WORD.findall(right.lower())
    return _harmonic(_longest(ours, theirs), len(ours), len(theirs))


def contains(reply: str, right: str) -> float:
    """1 if the reply contains the right answer as whole words in the same order, else 0.

    >>> contains("It is the Blue Room, I think.", "blue room"), contains("It is a bluebell.", "blue")
    (1.0, 0.0)
    """
    wanted = _plain(right)
    return float(bool(wanted) and f" {wanted} " in f" {_plain(reply)} ")


def key_terms(right: str) -> tuple[str, ...]:
    """The terms that a reply should contain: the answer's stemmed words without stop words.

    >>> key_terms("The deploys are on Tuesdays.")
    ('deploy', 'tuesday')
    """
    return tuple(dict.fromkeys(words(right)))


def term_coverage(reply: str, terms: Collection[str]) -> float:
    """The share of the terms that the reply contains, in any inflection; all words of a term are needed.

    >>> term_coverage("We deploy every week", ["deploys", "Tuesday"])
    0.5
    """
    if not terms or isinstance(terms, str):
        raise InvalidInputError(f"the terms are {terms!r}. Give a list of at least one, or take key_terms(answer).")
    there = set(words(reply))
    return mean([float(bool(found := set(words(term))) and found <= there) for term in terms])


def best_of(measure: AnswerMeasure, reply: str, right: Iterable[str]) -> float:
    """The measure against the right answer that is closest to the reply.

    >>> best_of(f1, "Oslo", ["Rome", "Oslo"])
    1.0
    """
    return max((measure(reply, one) for one in right), default=0.0)


def _plain(text: str) -> str:
    """The text in lower case, without punctuation and articles, with single spaces."""
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
    """The length of the longest common subsequence, computed row by row."""
    lengths = [0] * (len(theirs) + 1)
    for one in ours:
        diagonal = 0
        for place, other in enumerate(theirs, start=1):
            here = diagonal + 1 if one == other else max(lengths[place], lengths[place - 1])
            diagonal, lengths[place] = lengths[place], here
    return lengths[-1]
