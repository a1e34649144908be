"""How well does a model answer from what a memory shows it? BLEU-1, F1, ROUGE-L, and the tokens of a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.evaluate.metrics import mean
from adaptive_memory_core.judges import OpenAIReader
from benchmarks.data import Question
from benchmarks.rot import user_of

K, BUDGET = 20, 2_000  # hits of a recall, and tokens of its page


def answers(
    memory: AdaptiveMemory, questions: Sequence[Question], policies: dict[str, Policy], reader: OpenAIReader
) -> Iterator[dict[str, Any]]:
    """A row for each policy. All that the model is asked counts, the expansion of a top-down recall as well."""
    for name, policy in policies.items():
        rows = [_answered(memory, question, policy, reader) for question in questions if question.answer]
        means = {measure: round(mean([row[measure] for row in rows]), 4) for measure in rows[0]} if rows else {}
        yield {"system": name, "questions": len(rows), **means}


def _answered(memory: AdaptiveMemory, question: Question, policy: Policy, reader: OpenAIReader) -> dict[str, float]:
    before = reader.spent
    recall = memory.for_user(user_of(question.tenant)).recall(question.query, k=K, reinforce=False, policy=policy)
    found = reader.answer(question.query, recall.render(BUDGET).splitlines()[1:])
    said, right = _tokens(found.text), _tokens(str(question.answer))
    scores = {"BLEU-1": bleu_1(said, right), "F1": f1(said, right), "ROUGE-L": rouge_l(said, right)}
    return {**scores, "uncertainty": found.uncertainty or 0.0, "tokens a query": float(reader.spent - before)}


def f1(said: Sequence[str], right: Sequence[str]) -> float:
    """Of tokens, each as often as it is there.

    >>> f1(["7", "may"], ["7", "may", "2023"])
    0.8
    >>> f1([], ["a"])
    0.0
    """
    both = sum((Counter(said) & Counter(right)).values())
    return 2 * both / (len(said) + len(right)) if both else 0.0


def bleu_1(said: Sequence[str], right: Sequence[str]) -> float:
    """The share of tokens that are right, less where too little is said.

    >>> bleu_1(["7", "may"], ["7", "may"]), round(bleu_1(["7"], ["7", "may"]), 3), bleu_1([], ["a"])
    (1.0, 0.368, 0.0)
    """
    if not said:
        return 0.0
    both = sum((Counter(said) & Counter(right)).values())
    return min(1.0, math.exp(1.0 - len(right) / len(said))) * both / len(said)


def rouge_l(said: Sequence[str], right: Sequence[str]) -> float:
    """F1 of the longest sequence that both have in this order.

    >>> rouge_l(["b", "a"], ["a", "b"]), rouge_l(["a", "x", "b"], ["a", "b"]), rouge_l(["x"], ["a"])
    (0.5, 0.8, 0.0)
    """
    longest = [0] * (len(right) + 1)
    for one in said:
        before = 0
        for place, other in enumerate(right, start=1):
            before, longest[place] = (
                longest[place],
                before + 1 if one == other else max(longest[place], longest[place - 1]),
            )
    return 2 * longest[-1] / (len(said) + len(right)) if longest[-1] else 0.0


def _tokens(text: str) -> list[str]:
    return words(text.lower())
