"""How does a chat model judge? Whether texts suffice, which of them support an answer, and which time one names."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.cue.time.intent import Language, understand
from adaptive_memory_core.flow.ports.judges import NamedTime, Sufficient, Supports
from adaptive_memory_core.models.chat import as_chat
from adaptive_memory_core.models.strict_json import asked

PROMPTS = files("adaptive_memory_core.models") / "prompts"
LATE = 4_102_444_800.0  # no text names a later day as one that was; 2100 in POSIX seconds
LONGEST = 2_000  # characters of a text that a judge is shown


class SufficiencyJudge:
    """Asks a chat model whether texts suffice to answer a question.

    >>> SufficiencyJudge(lambda instructions, material: '{"sufficient": "no"}')("who?", ["Ana was there."])
    Sufficient(answer=False, note=None)
    """

    def __init__(self, model: Any) -> None:
        self._chat, self._prompt = as_chat(model), prompt("sufficiency")

    def __call__(self, question: str, texts: Sequence[str]) -> Sufficient:
        material = {"question": question, "texts": _numbered(texts)}
        return Sufficient(*asked(self._chat, self._prompt, material, _yes_or_no))


class SupportJudge:
    """Asks a chat model which texts support an answer.

    `feedback` says it of what a recall returned, in the words of `feedback()`; where the model does not know, it names
    nothing, and nothing is learned.

    >>> judge = SupportJudge(lambda instructions, material: '{"support": [2]}')
    >>> judge("who?", "Ana", ["It rained.", "Ana was there."])
    Supports(places=[1], note=None)
    """

    def __init__(self, model: Any) -> None:
        self._chat, self._prompt = as_chat(model), prompt("support")

    def __call__(self, question: str, answer: str, texts: Sequence[str]) -> Supports:
        if not texts:
            return Supports([])
        material = {"question": question, "answer": answer, "texts": _numbered(texts)}
        return Supports(*asked(self._chat, self._prompt, material, lambda given: _places(given, len(texts))))

    def feedback(self, recall: Recall, answer: str) -> dict[str, list[str]]:
        """What an answer rests on, and the others, by id: `user.feedback(recall, **judge.feedback(recall, answer))`."""
        own = [one for one in recall if one.hit.learnable]
        found = self(recall.cue.own_words, answer, [one.text for one in own]).places
        if found is None:
            return {"helpful": [], "unhelpful": []}
        helpful = [own[place].id for place in found]
        return {"helpful": helpful, "unhelpful": [one.id for one in own if one.id not in helpful]}


class TimeJudge:
    """Asks a chat model which words of a text say when it holds. Without a model it finds what the languages know.

    >>> TimeJudge()("Ana lived in Rome in May 2021.").words
    'May 2021'
    >>> TimeJudge()("Ana likes tea."), TimeJudge(lambda instructions, material: '{"time": null}')("tea")
    (NamedTime(words=None, note=None), NamedTime(words=None, note=None))
    """

    def __init__(self, model: Any = None, languages: Sequence[Language] | None = None) -> None:
        self._chat = None if model is None else as_chat(model)
        self._prompt = prompt("time_expression")
        self._languages = [English()] if languages is None else list(languages)

    def __call__(self, text: str) -> NamedTime:
        if self._chat is None:
            return NamedTime(", ".join(understand(text, self._languages, now=LATE).phrases) or None)
        return NamedTime(*asked(self._chat, self._prompt, {"text": text[:LONGEST]}, _words))


def prompt(name: str) -> str:
    """The instructions of that name."""
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")


def _numbered(texts: Sequence[str]) -> list[dict[str, Any]]:
    return [{"number": number, "text": text[:LONGEST]} for number, text in enumerate(texts, start=1)]


def _yes_or_no(given: Any) -> bool:
    """
    >>> _yes_or_no({"sufficient": "yes"})
    True
    """
    return {"yes": True, "no": False}[given["sufficient"]]


def _places(given: Any, count: int) -> list[int]:
    """
    >>> _places({"support": [3, 1]}, 3)
    [2, 0]
    """
    found = given["support"]
    whole = isinstance(found, list) and all(type(one) is int and 1 <= one <= count for one in found)
    if not whole or len(set(found)) < len(found):
        raise ValueError(found)
    return [one - 1 for one in found]


def _words(given: Any) -> str | None:
    """
    >>> _words({"time": " in May "}), _words({"time": None})
    ('in May', None)
    """
    found = given["time"]
    if found is not None and not isinstance(found, str):
        raise ValueError(found)
    return (found or "").strip() or None
