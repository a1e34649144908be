"""How are several flows driven at once? What they ask of foreign code is asked in one go, everything else in turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.foreign_calls import Questions, ask_foreign

T = TypeVar("T")


def together(flows: Sequence[Flow[T]]) -> Flow[list[T]]:
    """Several flows side by side: what they ask of foreign code is asked of all at once, everything else in turn.

    >>> from adaptive_memory_core.flow.calls.drive import run
    >>> from adaptive_memory_core.flow.calls.foreign_calls import Question
    >>> from adaptive_memory_core.flow.calls.unanswered import Unanswered
    >>> def one(name: str) -> Flow[str]:
    ...     (outcome,) = yield from ask_foreign([Question(lambda: name.upper(), 0.0, Unanswered())])
    ...     return str(outcome.value)
    >>> run(together([one("a"), one("b")]))
    ['A', 'B']
    """
    if len(flows) == 1:
        return [(yield from flows[0])]
    results: dict[int, T] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(flows)))
    while True:
        waiting: dict[int, Questions] = {}
        for number, answer in answers.items():
            questions, result = yield from _up_to_questions(flows[number], answer)
            if questions is None:
                results[number] = cast("T", result)
            else:
                waiting[number] = questions
        if not waiting:
            break
        outcomes = yield from ask_foreign([one for questions in waiting.values() for one in questions.questions])
        left = iter(outcomes)
        answers = {number: list(islice(left, len(one.questions))) for number, one in waiting.items()}
    return [results[number] for number in range(len(flows))]


def _up_to_questions(flow: Flow[T], answer: Any) -> Flow[tuple[Questions | None, T | None]]:
    """Drive the flow up to where it asks foreign code, or to its end."""
    try:
        call = flow.send(answer)
        while not isinstance(call, Questions):
            try:
                answer = yield call
            except Exception as error:  # noqa: BLE001 - it goes back into the flow, which decides
                call = flow.throw(error)
            else:
                call = flow.send(answer)
    except StopIteration as done:
        return None, done.value
    return call, None
