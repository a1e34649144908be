"""How well does a model answer from what a memory shows it? BLEU-1, F1, ROUGE-L, and the tokens of a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.evaluate.metrics import bleu_1, f1, mean, rouge_l
from adaptive_memory_core.judges import OpenAIReader
from benchmarks.data import Question
from benchmarks.rot import user_of

MEASURES = {"BLEU-1": bleu_1, "F1": f1, "ROUGE-L": rouge_l}
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
    right = str(question.answer)
    scores = {name: measure(found.text, right) for name, measure in MEASURES.items()}
    return {**scores, "uncertainty": found.uncertainty or 0.0, "tokens a query": float(reader.spent - before)}
