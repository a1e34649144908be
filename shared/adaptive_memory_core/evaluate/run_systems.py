"""Running systems on the same questions, and measuring their results: one row of measures per question."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.chat_models import ChatModel, StoredReplies
from adaptive_memory_core.evaluate.comparison import MeasureAbout
from adaptive_memory_core.evaluate.datasets import Dataset, Item, Question
from adaptive_memory_core.evaluate.metrics import (
    best_of,
    bleu_1,
    contains,
    exact_match,
    f1,
    hit_rate_at,
    key_terms,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
    rouge_l,
    session_measures,
)
from adaptive_memory_core.evaluate.metrics import term_coverage as coverage_of
from adaptive_memory_core.evaluate.plan import Experiment, SystemPlan
from adaptive_memory_core.evaluate.systems import System, SystemQuery, SystemResult, system_of
from adaptive_memory_core.evaluate.tokens_shown import Texts, each_alone, shown_measures
from adaptive_memory_core.models.embedder import Embedder, Vectors, as_embedder, embedder_named

DAY, MINUTE = 86_400.0, 60.0
START = 1_760_000_000.0  # POSIX seconds, if the data contain no time
NOBODY = "everyone's reader"  # the user for items without a tenant


class SystemAnswer(NamedTuple):
    """One system's result for one question, and the time it took."""

    system: str
    question: Question
    found: SystemResult
    seconds: float


def sampled_questions(questions: Sequence[Question], *, most: int, every: int, seed: int) -> list[Question]:
    """The questions to ask, in their original order.

    >>> asked = [Question(str(number), "?", ()) for number in range(9)]
    >>> [one.id for one in sampled_questions(asked, most=0, every=4, seed=1)]
    ['0', '4', '8']
    >>> len(sampled_questions(asked, most=3, every=1, seed=1))
    3
    """
    own = list(questions)[::every]
    if not 0 < most < len(own):
        return own
    places = sorted(random.Random(seed).sample(range(len(own)), most))  # noqa: S311 - a draw, no secret
    return [own[place] for place in places]


def fill(system: System, data: Dataset, users: Sequence[str | None]) -> None:
    """Write the items of the given users to a system, and prepare one query per user, so that filling caches is not
    timed."""
    wanted, own = set(users), dict[str | None, list[Item]]()
    for item in data.items:
        if item.tenant in wanted:
            own.setdefault(item.tenant, []).append(item)
    for user, items in own.items():
        system.write(user_label(user), items, now=end_of(items))
        before = SystemQuery(user_label(user), items[0].labelled_text, 1, end_of(items))
        system.prepare(before)
        system.ask(before)


def asked_in_turn(
    systems: Mapping[str, System], data: Dataset, questions: Sequence[Question], plan: Experiment
) -> Iterator[SystemAnswer]:
    """Ask every system each question; the system that goes first changes from question to question."""
    ends, names = _ends(data), list(systems)
    asked_before: dict[str | None, int] = {}
    for number, question in enumerate(questions):
        step = asked_before[question.tenant] = asked_before.get(question.tenant, 0) + 1
        now = max(ends.get(question.tenant, START), question.ts or 0.0)
        now += step * plan.minutes_apart * MINUTE if plan.reading else 0.0
        asked = SystemQuery(user_label(question.tenant), question.query, plan.hits, now, plan.reading)
        first = number % len(names)
        for name in names[first:] + names[:first]:
            yield _timed(name, systems[name], question, asked)


def user_label(user: str | None) -> str:
    return NOBODY if user is None else user


def end_of(items: Sequence[Item]) -> float:
    """A day after the last item: the earliest time of a question."""
    return max((item.ts + DAY for item in items if item.ts is not None), default=START)


def _ends(data: Dataset) -> dict[str | None, float]:
    own: dict[str | None, list[Item]] = {}
    for item in data.items:
        own.setdefault(item.tenant, []).append(item)
    return {user: end_of(items) for user, items in own.items()}


def _timed(name: str, system: System, question: Question, asked: SystemQuery) -> SystemAnswer:
    system.prepare(asked)
    begun = time.perf_counter()
    found = system.ask(asked)
    return SystemAnswer(name, question, found, time.perf_counter() - begun)


Progress = Callable[[int, int], object]


class MeasuredSystems(NamedTuple):
    """Measures per question by system, figures per user at the end by system, and measures per reply by (system,
    model)."""

    recalls: Mapping[str, Sequence[MeasureRow]]
    figures: Mapping[str, Sequence[Mapping[str, float]]]
    replies: Mapping[tuple[str, str], Sequence[MeasureRow]]


def measured_systems(
    plan: Experiment, data: Dataset, questions: Sequence[Question], progress: Progress | None = None
) -> MeasuredSystems:
    """Run all systems on one data set, then all chat models on their results."""
    report = progress or (lambda _, __: None)
    rows: dict[str, list[MeasureRow]] = {one.name: [] for one in plan.systems}
    pages: dict[str, list[str]] = {one.name: [] for one in plan.systems}
    plans = {one.name: one for one in plan.systems}
    with ExitStack() as stack:
        embedders = {one.embedder: embeds_texts_once(embedder_named(one.embedder)) for one in plan.systems}
        systems = {one.name: _filled(one, embedders, data, questions, stack) for one in plan.systems}
        texts = Texts(
            data, embedders[plan.systems[0].embedder].embed_documents([item.labelled_text for item in data.items])
        )
        for number, one in enumerate(asked_in_turn(systems, data, questions, plan), start=1):
            _check_known(one, texts)
            page = _page(one, texts, plan.page_tokens) if plan.models or right_answers(one.question) else ""
            rows[one.system].append(_row(one, plans[one.system], texts, plan, page))
            pages[one.system].append(page)
            report(number, len(systems) * len(questions))
        figures = {name: system.figures() for name, system in systems.items()}
    return MeasuredSystems(rows, figures, dict(_replies(plan, questions, pages, report)))


def _filled(
    plan: SystemPlan, embedders: Mapping[str, Embedder], data: Dataset, questions: Sequence[Question], stack: ExitStack
) -> System:
    system = stack.enter_context(closing(system_of(plan.use, embedders[plan.embedder], plan.settings)))
    fill(system, data, [question.tenant for question in questions])
    return system


def _check_known(one: SystemAnswer, texts: Texts) -> None:
    if unknown := [name for name in one.found.ids if name not in texts.items]:
        raise InvalidInputError(
            f"The system {one.system!r} returned {unknown[:3]} for question {one.question.id!r}, which are not ids "
            "of its items. Change its `ask` to return ids of items that `write` received."
        )


def _row(one: SystemAnswer, plan: SystemPlan, texts: Texts, experiment: Experiment, page: str) -> MeasureRow:
    row = recall_measures(one.question, one.found, texts, k=experiment.k, page=page) | {
        "recall ms": 1_000 * one.seconds
    }
    if plan.parameters_millions is not None:
        row["parameters (millions)"] = plan.parameters_millions
        row["NDCG per million parameters"] = row[f"NDCG@{experiment.k}"] / plan.parameters_millions
    return row


def _page(one: SystemAnswer, texts: Texts, tokens: int) -> str:
    """The page for a chat model: rendered by the system, or else the texts that fit into the tokens."""
    if one.found.page is not None:
        return one.found.page(tokens)
    units = each_alone(one.found.ids) if one.found.units is None else one.found.units()
    return texts.text_within(units, tokens)


def _replies(
    plan: Experiment, questions: Sequence[Question], pages: Mapping[str, Sequence[str]], report: Progress
) -> Iterator[tuple[tuple[str, str], list[MeasureRow]]]:
    """Rows of measures by (system, model). Questions go to all systems in turn, so a slow server affects all alike."""
    stored = StoredReplies(plan.cache) if plan.models else None
    answering = [one.name for one in plan.systems if one.answers]
    for one in plan.models:
        model = ChatModel(one, stored or StoredReplies(plan.cache))
        judge = None if plan.judge is None else ChatModel(plan.judge, stored or StoredReplies(plan.cache))
        rows: dict[str, list[MeasureRow]] = {name: [] for name in answering}
        for number, question in enumerate(questions):
            for name in answering:
                reply = model.answer(question.query, pages[name][number])
                row = of_reply(question, reply.text, seconds=reply.seconds, input_tokens=reply.input_tokens)
                rows[name].append(
                    row | {"output tokens": reply.output_tokens} | judge_reply(judge, question, reply.text)
                )
            report((number + 1) * len(answering), len(questions) * len(answering))
        yield from (((name, one.name), own) for name, own in rows.items())


def judge_reply(judge: ChatModel | None, question: Question, reply: str) -> MeasureRow:
    """The judged accuracy of a reply; empty without a judge, a right answer, or a judgement that can be parsed."""
    right = right_answers(question)
    verdict = judge.judge_answer(question.query, right, reply) if judge is not None and right else None
    return {} if verdict is None else {"judged accuracy": float(verdict)}


def embeds_texts_once(given: Any) -> Embedder:
    """The embedder with a cache for texts. Questions are not cached, so timings include their embedding.

    >>> calls = []
    >>> one = embeds_texts_once(lambda texts: [calls.append(text) or [1.0] for text in texts])
    >>> one.embed_documents(["a", "b"]).shape, one.embed_documents(["b", "c"]).shape, calls
    ((2, 1), (2, 1), ['a', 'b', 'c'])
    """
    inner = as_embedder(given)
    return Embedder(inner.name, _remembering(inner.embed_documents), inner.embed_query, inner.dimension)


def _remembering(embed: Callable[[list[str]], Vectors]) -> Callable[[list[str]], Any]:
    known: dict[str, Any] = {}

    def vectors(texts: list[str]) -> Any:
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, embed(new), strict=True))
        return np.array([known[text] for text in texts])

    return vectors


MeasureRow = dict[str, float]
OF_TOKENS = {  # names in `tokens_shown`, and the names used here
    "r500": "evidence in 500 tokens",
    "r1000": "evidence in 1000 tokens",
    "covered": "answer covered",
    "tokens to cover": "tokens to cover",
    "blocks to cover": "blocks to cover",
    "redundancy": "redundancy",
}
ABOUT_MEASURES: Mapping[str, MeasureAbout] = {
    one.name: one
    for one in (
        MeasureAbout("session NDCG@10 (LME)", about="as in LongMemEval's own script"),
        MeasureAbout("evidence in 500 tokens", about="the share of the gold among the first 500 tokens"),
        MeasureAbout("evidence in 1000 tokens", about="the share of the gold among the first 1,000 tokens"),
        MeasureAbout("answer covered", about="whether all words of the answer were read within 4,000 tokens"),
        MeasureAbout("tokens to cover", "tokens", "lower", "until all words of the answer were read, if they were"),
        MeasureAbout("blocks to cover", "blocks", "lower", "until all words of the answer were read, if they were"),
        MeasureAbout("redundancy", "ratio", "lower", "how similar a block is to the most similar earlier block"),
        MeasureAbout("contained in page", about="whether the page contains the answer word for word"),
        MeasureAbout("terms in page", about="the share of the answer's key terms that the page contains"),
        MeasureAbout("page tokens", "tokens", "lower", "characters / 4 of the page"),
        MeasureAbout("recall ms", "ms", "lower", "from the question to the ids, including its embedding"),
        MeasureAbout("exact match", about="the reply equals the answer apart from case, punctuation and articles"),
        MeasureAbout("judged accuracy", about="the judge finds the reply correct (GPT-Acc)"),
        MeasureAbout("contain-accuracy", about="the reply contains the answer word for word"),
        MeasureAbout("key-term coverage", about="the share of the answer's key terms that the reply contains"),
        MeasureAbout("response s", "s", "lower", "until the reply, when it was first requested"),
        MeasureAbout("response words", "words", None, "in the reply"),
        MeasureAbout("input tokens", "tokens", "lower", "of the request, as the server counts them"),
        MeasureAbout("output tokens", "tokens", "lower", "of the reply, as the server counts them"),
        MeasureAbout("remembered", "share", None, "records that are exempt from decay at the end, per user"),
        MeasureAbout(
            "memory size", "share", None, "records that have not nearly faded at the end (nonzero embeddings), per user"
        ),
        MeasureAbout(
            "stale norm", "ratio", None, "the norm of the strengths of records that are not remembered, per user"
        ),
        MeasureAbout("reads per recall", "ratio", None, "hits that were counted as read, per user"),
        MeasureAbout("update ms", "ms", "lower", "to store the changes of a recall, per user"),
        MeasureAbout("parameters (millions)", "ratio", "lower", "of the embedder"),
        MeasureAbout("NDCG per million parameters", "ratio", "higher", "the efficiency as the paper words it"),
    )
}


def about(name: str) -> MeasureAbout:
    """The description of a measure; by default, a share of which more is better."""
    return ABOUT_MEASURES.get(name, MeasureAbout(name))


def recall_measures(question: Question, found: SystemResult, texts: Texts, *, k: int, page: str) -> MeasureRow:
    """The measures without a chat model. Measures that need the answer are left out if it is not known."""
    ranking, gold = list(found.ids), question.gold_ids
    row = {
        f"NDCG@{k}": ndcg_at(ranking, gold, k=k),
        f"recall@{k}": recall_at(ranking, gold, k=k),
        f"precision@{k}": precision_at(ranking, gold, k=k),
        "hit@1": hit_rate_at(ranking, gold, k=1),
        f"MRR@{k}": reciprocal_rank(ranking, gold, k=k),
    }
    row |= session_measures(question, ranking, texts.items)
    shown = shown_measures(texts, question, found.units() if found.units is not None else each_alone(ranking))
    row |= {name: shown[one] for one, name in OF_TOKENS.items() if one in shown}
    if right := right_answers(question):
        row["contained in page"] = best_of(contains, page, right)
        row |= _terms(question, page, "terms in page") | {"page tokens": len(page) / 4}
    return row


def of_reply(question: Question, reply: str, *, seconds: float, input_tokens: int) -> MeasureRow:
    """The measures of a chat model's reply."""
    right = right_answers(question)
    measures = {
        "exact match": exact_match,
        "F1": f1,
        "BLEU-1": bleu_1,
        "ROUGE-L": rouge_l,
        "contain-accuracy": contains,
    }
    row = {name: best_of(measure, reply, right) for name, measure in measures.items()} if right else {}
    row |= _terms(question, reply, "key-term coverage")
    return row | {"response s": seconds, "response words": len(reply.split()), "input tokens": input_tokens}


def right_answers(question: Question) -> list[str]:
    """All right answers: the main one, and those in a list `answers`."""
    others = question.more.get("answers")
    own = [] if question.answer is None else [question.answer]
    return [str(one) for one in (*own, *(others if isinstance(others, list) else ())) if str(one).strip()]


def _terms(question: Question, text: str, name: str) -> MeasureRow:
    """The coverage of the question's key terms, or of its answer's; empty if there are none."""
    given = question.more.get("key_terms")
    right = right_answers(question)
    terms = tuple(map(str, given)) if isinstance(given, list) and given else key_terms(right[0]) if right else ()
    return {name: coverage_of(text, terms)} if terms else {}
