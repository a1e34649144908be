"""What did each system find on one set of data, and what is that worth? A row of measures for each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import NamedTuple

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.asked_in_turn import Answered, asked_in_turn, fill
from adaptive_memory_core.evaluate.chat.ask_model import ChatModel
from adaptive_memory_core.evaluate.chat.replies import Replies
from adaptive_memory_core.evaluate.labelled import Dataset, Question
from adaptive_memory_core.evaluate.plan import Experiment, SystemPlan
from adaptive_memory_core.evaluate.question_measures import Row, of_recall, of_reply, right_answers
from adaptive_memory_core.evaluate.systems.by_name import system_of
from adaptive_memory_core.evaluate.systems.port import System
from adaptive_memory_core.evaluate.tokens_shown import Texts, each_alone
from adaptive_memory_core.evaluate.vectors_once import embeds_texts_once
from adaptive_memory_core.models.by_name import embedder_of
from adaptive_memory_core.models.embedder import Embedder

Progress = Callable[[int, int], object]


class Measured(NamedTuple):
    """Rows of measures by system, a row a question; what the systems are like at the end, a row a user; and the rows
    of the chat models' replies, by (system, model)."""

    recalls: Mapping[str, Sequence[Row]]
    figures: Mapping[str, Sequence[Mapping[str, float]]]
    replies: Mapping[tuple[str, str], Sequence[Row]]


def measured_systems(
    plan: Experiment, data: Dataset, questions: Sequence[Question], progress: Progress | None = None
) -> Measured:
    """All systems on one set of data, and then all chat models on what they found."""
    told = progress or (lambda _, __: None)
    rows: dict[str, list[Row]] = {one.name: [] for one in plan.systems}
    pages: dict[str, list[str]] = {one.name: [] for one in plan.systems}
    plans = {one.name: one for one in plan.systems}
    with ExitStack() as stack:
        embedders = {one.embedder: embeds_texts_once(embedder_of(one.embedder)) for one in plan.systems}
        systems = {one.name: _filled(one, embedders, data, questions, stack) for one in plan.systems}
        texts = Texts(data, embedders[plan.systems[0].embedder].embed_documents([item.said for item in data.items]))
        for number, one in enumerate(asked_in_turn(systems, data, questions, plan), start=1):
            _check_known(one, texts)
            page = _page(one, texts, plan.page_tokens) if plan.models or right_answers(one.question) else ""
            rows[one.system].append(_row(one, plans[one.system], texts, plan, page))
            pages[one.system].append(page)
            told(number, len(systems) * len(questions))
        figures = {name: system.figures() for name, system in systems.items()}
    return Measured(rows, figures, dict(_replies(plan, questions, pages, told)))


def _filled(
    plan: SystemPlan, embedders: Mapping[str, Embedder], data: Dataset, questions: Sequence[Question], stack: ExitStack
) -> System:
    system = stack.enter_context(closing(system_of(plan.use, embedders[plan.embedder], plan.settings)))
    fill(system, data, [question.tenant for question in questions])
    return system


def _check_known(one: Answered, texts: Texts) -> None:
    if unknown := [name for name in one.found.ids if name not in texts.items]:
        raise InvalidInputError(
            f"The system {one.system!r} found {unknown[:3]} for question {one.question.id!r}, no ids of items "
            "that it was given. Mend it: `ask` returns ids of what `write` has taken in."
        )


def _row(one: Answered, plan: SystemPlan, texts: Texts, experiment: Experiment, page: str) -> Row:
    row = of_recall(one.question, one.found, texts, k=experiment.k, page=page) | {"recall ms": 1_000 * one.seconds}
    if plan.parameters_millions is not None:
        row["parameters (millions)"] = plan.parameters_millions
        row["NDCG per million parameters"] = row[f"NDCG@{experiment.k}"] / plan.parameters_millions
    return row


def _page(one: Answered, texts: Texts, tokens: int) -> str:
    """What a chat model is shown: as the system renders it, else the texts as far as the tokens go."""
    if one.found.page is not None:
        return one.found.page(tokens)
    units = each_alone(one.found.ids) if one.found.units is None else one.found.units()
    return texts.text_within(units, tokens)


def _replies(
    plan: Experiment, questions: Sequence[Question], pages: Mapping[str, Sequence[str]], told: Progress
) -> Iterator[tuple[tuple[str, str], list[Row]]]:
    """Question by question, so that a busy minute of a server hits all systems."""
    kept = Replies(plan.cache) if plan.models else None
    answering = [one.name for one in plan.systems if one.answers]
    for one in plan.models:
        model = ChatModel(one, kept or Replies(plan.cache))
        rows: dict[str, list[Row]] = {name: [] for name in answering}
        for number, question in enumerate(questions):
            for name in answering:
                reply = model.answer(question.query, pages[name][number])
                row = of_reply(question, reply.text, seconds=reply.seconds, input_tokens=reply.input_tokens)
                rows[name].append(row)
            told((number + 1) * len(answering), len(questions) * len(answering))
        yield from (((name, one.name), own) for name, own in rows.items())
