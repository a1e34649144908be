"""A chat model's stand-in that answers from the material alone, judges by comparing words, and follows every prompt."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from adaptive_memory_core.channels.words_of_text import words

UNKNOWN = "I do not know."
SURE, UNSURE = [[0.0, -50.0]], [[math.log(0.5), math.log(0.5)]]


class SensibleModel:
    """It knows how a question is answered, and says so only if the texts before it hold all words of the answer."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = {_bare(question): answer for question, answer in answers.items()}

    def __call__(self, request: dict[str, Any]) -> tuple[str, list[list[float]]]:
        instructions, told = request["messages"][0]["content"], json.loads(request["messages"][1]["content"])
        if "evidence" in told:
            found = self._answer(told["question"], told["evidence"])
            return found, UNSURE if found == UNKNOWN else SURE
        return self._reply(instructions, told), []

    def _reply(self, instructions: str, told: dict[str, Any]) -> str:
        if "reply" in told:
            return _json(correct=_yes(any(_holds(told["reply"], one) for one in told["right_answers"])))
        if "rewrite" in instructions:
            return f"Please tell me: {told['question']}"
        if "texts" in told and "answer" in told:
            own = set() if told["answer"] == UNKNOWN else set(words(told["answer"]))
            return _json(support=[one["number"] for one in told["texts"] if own & set(words(one["text"]))])
        if "texts" in told:
            texts = [one["text"] for one in told["texts"]]
            return _json(sufficient=_yes(self._answer(told["question"], texts) != UNKNOWN))
        return self._of_a_hierarchy(told)

    def _of_a_hierarchy(self, told: dict[str, Any]) -> str:
        if "new" in told:
            return _json(ends=_yes(told["episode"][-1]["time"][:10] != told["new"][0]["time"][:10]))
        if "messages" in told and "number" in told["messages"][0]:
            facts = [{"text": f"{m['speaker']}: {m['text']}", "messages": [m["number"]]} for m in told["messages"]]
            return _json(facts=facts)
        if "messages" in told:
            lines = [f"{one['speaker']}: {one['text']}" for one in told["messages"]]
            return _json(title=lines[0], narrative=" ".join(lines))
        if "statements" in told:
            return _json(name=told["statements"][0][:40])
        year = re.search(r"in (?:[12]\d{3}|\d* ?May)\b", told["text"])
        return _json(time=year and year.group())

    def _answer(self, question: str, texts: Sequence[str]) -> str:
        answer = self._answers.get(_bare(question), "nobody knows")
        return answer if _holds(" ".join(texts), answer) else UNKNOWN


def _bare(question: str) -> str:
    return question.removeprefix("Please tell me: ")


def _holds(text: str, answer: str) -> bool:
    return set(words(answer)) <= set(words(text))


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _json(**told: Any) -> str:
    return json.dumps(told)
