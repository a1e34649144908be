"""How well is the right session found? Measures of sessions, in the form in which others publish those of LongMemEval.

A ranking of records is read as one of sessions, each at the place of its best record. What is published as R@k is 1
where *any* of the sessions that answer is among the first k; `all@k` asks for all of them. `NDCG@10 (LME)` is that of
LongMemEval's own script, which does not discount the second place; `NDCG@10` is the usual one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from adaptive_memory_core.evaluate.labelled import Item, Question
from adaptive_memory_core.evaluate.metrics import all_found_at, hit_rate_at, ndcg_at

CUTS = (5, 10)


def session_measures(question: Question, ranking: Sequence[str], items: Mapping[str, Item]) -> dict[str, float]:
    """All of them for one question; none where its items stand in no sessions."""
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
    """The sessions that answer: those that are named, else those of the gold."""
    named = question.more.get("answer_sessions")
    own = named if named is not None else [items[one].session for one in question.gold_ids]
    return frozenset(str(one) for one in own if one is not None)


def ndcg_of_their_script(ranking: Sequence[Hashable], gold: Collection[Hashable], *, k: int) -> float:
    """NDCG as LongMemEval's evaluation has it: the gain at rank r from 2 up is divided by log2(r), not by log2(r + 1).

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
    """A record without a session counts as one session of its own kind, which answers nothing."""
    return "" if session is None else session
