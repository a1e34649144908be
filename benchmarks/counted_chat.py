"""Chat models whose requests, tokens and seconds are counted, and what is measured of one answer.

Replies are kept in a file, as `adaptive-memory compare` keeps them: a run that broke off continues, and a second run
asks nobody. Tokens and seconds of a kept reply are those of the time when it was first given.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from adaptive_memory_core.evaluate.chat_models import ChatModel, StoredReplies
from adaptive_memory_core.evaluate.metrics import best_of, bleu_1, contains, f1, rouge_l
from adaptive_memory_core.evaluate.plan import ModelPlan
from adaptive_memory_core.evaluate.run_systems import judge_reply, right_answers
from adaptive_memory_core.judges import OpenAIReader
from adaptive_memory_core.models.judges import prompt
from adaptive_memory_core.models.openai import reader_material
from benchmarks.data import Question

T = TypeVar("T")
AS_JSON = "Reply with one JSON object"  # in the prompts of judges and of the hierarchy
SENTENCES = ("perltqa", "graphrag_medical", "longmemeval")  # sets whose answers are sentences, not phrases
MEASURES = {"BLEU": bleu_1, "F1": f1, "ROUGE-L": rouge_l, "Contain-Acc": contains}


@dataclass
class Spent:
    """What was asked of a model. `waited` are the seconds of this run, `seconds` those of the replies when they were
    first given. `unread` replies are not the JSON that was asked for: a rule takes the model's place there."""

    requests: int = 0
    unread: int = 0
    tokens: int = 0
    seconds: float = 0.0
    waited: float = 0.0


class CountedChat:
    """A function of instructions and material, as a judge or a role of the hierarchy takes it, that counts."""

    def __init__(self, plan: ModelPlan, replies: StoredReplies) -> None:
        self.plan, self.spent, self.model = plan, Spent(), ChatModel(plan, replies)

    def __call__(self, instructions: str, material: str) -> str:
        begun = time.perf_counter()
        reply = self.model.ask(instructions, material)
        self.spent.waited += time.perf_counter() - begun
        self.spent.requests += 1
        self.spent.tokens += reply.input_tokens + reply.output_tokens
        self.spent.seconds += reply.seconds
        self.spent.unread += AS_JSON in instructions and not is_json(reply.text)
        return reply.text


def is_json(text: str) -> bool:
    """
    >>> is_json('{"ends": "yes"}'), is_json('Sure: {"ends": "yes"}')
    (True, False)
    """
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


class Cost(NamedTuple):
    """Tokens and seconds of one step, whichever of its replies were kept from before."""

    tokens: int
    seconds: float

    def __add__(self, other: Any) -> Cost:
        return Cost(self.tokens + other.tokens, self.seconds + other.seconds)


def costed(chat: CountedChat, step: Callable[[], T]) -> tuple[T, Cost]:
    """What a step gives, and what it cost."""
    before, begun = replace(chat.spent), time.perf_counter()
    found = step()
    own = time.perf_counter() - begun - (chat.spent.waited - before.waited)
    return found, Cost(chat.spent.tokens - before.tokens, own + chat.spent.seconds - before.seconds)


class Models(NamedTuple):
    """The model of an experiment, the judge of its answers, and how long its answers are."""

    chat: CountedChat
    judge: CountedChat
    in_sentences: bool
    reader_model: str | None = None  # whose uncertainty is read; the chat's own, unless it is given

    def answer(self, question: str, page: Sequence[str]) -> str:
        """From what was retrieved: in a few words, or in sentences if the set's answers are such."""
        instructions = prompt("answer_from_page" if self.in_sentences else "answer")
        return self.chat(instructions, reader_material(question, page)).strip()

    def measures(self, question: Question, reply: str) -> dict[str, float]:
        """What the answer is worth; "GPT-Acc" is the judge's verdict."""
        right = right_answers(question)
        row = {name: best_of(measure, reply, right) for name, measure in MEASURES.items()}
        verdict = judge_reply(self.judge.model, question, reply)
        return row | ({"GPT-Acc": verdict["judged accuracy"]} if verdict else {})

    def reader(self) -> OpenAIReader:
        """A model on the same server whose uncertainty is read. Its replies are not kept: they are probabilities."""
        plan = self.chat.plan
        key = os.environ.get(plan.api_key_env) or (None if plan.base_url is None else "none is needed")
        return OpenAIReader(
            self.reader_model or plan.model,
            base_url=plan.base_url,
            api_key=key,
            max_retries=plan.retries,
            timeout_seconds=plan.timeout_seconds,
        )


def models_of(
    told: Mapping[str, Any], judge: Mapping[str, Any], cache: Path, data: str, reader: str | None = None
) -> Models:
    """The models; `told` and `judge` are fields of `ModelPlan`."""
    replies, plans = StoredReplies(cache), [ModelPlan(name=str(one["model"]), **one) for one in (told, judge)]
    first, second = (CountedChat(one, replies) for one in plans)
    return Models(first, second, data.startswith(SENTENCES), reader)


def rounds_in(trace: Sequence[str]) -> int | None:
    """How many rounds the graph made, as a recall's trace says it.

    >>> rounds_in(("the graph made 2 of 3 rounds",)), rounds_in(())
    (2, None)
    """
    found = re.search(r"the graph made (\d+) of", " ".join(trace))
    return None if found is None else int(found[1])


def rounded(row: Mapping[str, float], digits: int = 4) -> dict[str, float]:
    return {name: round(value, digits) for name, value in row.items()}
