"""How is one function of the caller's asked? In this thread, unless it has a limit of time or has to be awaited."""

from __future__ import annotations

import inspect
from typing import Any

from adaptive_memory_core.flow.calls.drive import Flow, Outcome, attempt
from adaptive_memory_core.flow.calls.foreign_calls import Question, ask_foreign, called_here


def one_answer(question: Question) -> Flow[Outcome[Any]]:
    """What it says; an error is an answer too."""
    if question.seconds or question.coroutine:
        return (yield from ask_foreign([question]))[0]
    outcome = yield from attempt(Exception, called_here, question.call)
    if not inspect.isawaitable(outcome.value):
        return outcome
    given = outcome.value
    return (yield from ask_foreign([Question(lambda: given, 0.0, question.unanswered, coroutine=True)]))[0]
