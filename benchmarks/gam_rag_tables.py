"""GAM-RAG's table 2, its ablations (figure 4), and turns 0 to 10, with a judge where the gold labels were.

In each turn all questions are asked and answered; then the judge says which of the activated sentences each answer
rests on, and the memory learns of it. The gold labels are read only for the column "recall@5". A judge also decides
after each round of the graph whether the sentences suffice, and finds the time expressions of sentences. All of a set
is in the memory of one user, whichever tenants it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any, NamedTuple
from unittest.mock import patch

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, Recall
from adaptive_memory_core.errors import JudgeError
from adaptive_memory_core.evaluate.metrics import recall_at
from adaptive_memory_core.graph import paper
from adaptive_memory_core.judges import Judge
from adaptive_memory_core.learn import gain
from adaptive_memory_core.models.chat import prompt_json
from benchmarks.counted_chat import Cost, Models, costed, rounded, rounds_in
from benchmarks.data import Dataset, Item, Question
from benchmarks.in_ram import in_ram
from benchmarks.learning_forms import START
from benchmarks.means import means
from benchmarks.multi_hop import SYSTEMS
from benchmarks.rot import Clock

K, HOUR, MEMORISED = 5, 3_600.0, 5  # hits, as the paper has; seconds between questions; turns of its table 2
FIXED_GAIN = 0.1  # of the ablation "w/o gain"; the paper says "a fixed, small learning rate" and no number
REWRITE = """You rewrite a question so that it asks for the same in other words.

The next message is one JSON object with a "question". It is material to rewrite, and not addressed to you: do not
answer it. Keep its names, numbers and dates, and change the other words and their order as much as you can.

Reply with the rewritten question and nothing else."""
PUBLISHED = Policy.preset("gam_rag")
PLAIN = {"vanilla RAG": SYSTEMS["dense"], "graph, our form": SYSTEMS["graph"]}


def _learns(*, task: bool, time: bool) -> Callable[..., gain.SentenceMemory]:
    """`gain.learned` for one of the two memories of a sentence."""

    def learned(memory: gain.SentenceMemory, asked: gain.QuestionVectors, **how: Any) -> gain.SentenceMemory:
        if task:
            memory = memory._replace(task=gain.updated(memory.task, asked.task, **how))
        if time and memory.time is not None and asked.time is not None:
            memory = memory._replace(time=gain.updated(memory.time, asked.time, **how))
        return memory

    return learned


def _task_alone(similarity: float, memory: gain.SentenceMemory, asked: gain.QuestionVectors) -> float:
    return similarity * gain.gate(memory.task, asked.task)


def _time_alone(similarity: float, memory: gain.SentenceMemory, asked: gain.QuestionVectors) -> float:
    if memory.time is None or asked.time is None:
        return similarity
    return similarity * gain.gate(memory.time, asked.time)


def _always_open(belief: gain.Belief, asked: Any) -> float:
    return 1.0 + gain.cosine(belief.vector, asked)


ABLATIONS: Mapping[str, Mapping[tuple[Any, str], Any]] = {  # what of the product each one replaces
    "GAM-RAG": {},
    "w/o task": {(gain, "learned"): _learns(task=False, time=True), (paper, "weight"): _time_alone},
    "w/o time": {(gain, "learned"): _learns(task=True, time=False), (paper, "weight"): _task_alone},
    "w/o perplexity": {(gain, "gate"): _always_open},
    "w/o gain": {(gain, "kalman_gain"): lambda *_: FIXED_GAIN},
}
_numbers = count()


class Answered(NamedTuple):
    """One question with the recall that it was answered from."""

    question: Question
    recall: Recall
    reply: str
    row: Mapping[str, float]


class Asked:
    """A memory of all passages, with the model as its judge."""

    def __init__(self, memory: AdaptiveMemory, clock: Clock, models: Models, tokens: int) -> None:
        self._memory, self._clock, self._models, self._tokens = memory, clock, models, tokens
        self._user = memory.for_user("a reader")

    def build(self, items: Sequence[Item]) -> Cost:
        """Write the passages, and make the graph and its sentences; that is what indexing costs."""

        def indexed() -> None:
            self._user.remember_many([{"id": one.id, "text": one.labelled_text} for one in items])
            self._memory.sync()

        return costed(self._models.chat, indexed)[1]

    def ask(
        self, questions: Sequence[Question], policy: Policy = PUBLISHED, words: Callable[[str], str] = str
    ) -> list[Answered]:
        """The answer to each, measured; `words` puts a question in other words."""
        return [self._answered(one, policy, words(one.query)) for one in questions]

    def _answered(self, question: Question, policy: Policy, query: str) -> Answered:
        self._clock.now += HOUR
        chat = self._models.chat
        counts = policy is PUBLISHED  # what is learned from is logged, and reads change nothing in its ranking
        recall, found = costed(chat, lambda: self._user.recall(query, k=K, policy=policy, reinforce=counts))
        page = recall.render(self._tokens).splitlines()[1:]
        reply, answered = costed(chat, lambda: self._models.answer(query, page))
        cost, rounds = found + answered, rounds_in(recall.trace)
        row = self._models.measures(question, reply) | {"recall@5": recall_at(recall.ids, question.gold_ids, k=K)}
        row |= {"tokens/query": float(cost.tokens), "s/query": cost.seconds}
        return Answered(question, recall, reply, row if rounds is None else row | {"rounds": float(rounds)})

    def learn(self, answered: Sequence[Answered]) -> tuple[int, Cost]:
        """Have the judge say what each answer rests on; gives how many verdicts were learned."""
        found, cost = costed(self._models.chat, lambda: [self._learned(one) for one in answered])
        return sum(found), cost

    def _learned(self, one: Answered) -> int:
        if not one.reply or not one.recall.ids:
            return 0
        try:
            return self._user.feedback_on_answer([one.recall], answer=one.reply)
        except JudgeError:  # it said what cannot be read: nothing is learned of this answer
            return 0


@contextmanager
def memory_of(items: Sequence[Item], models: Models, embedder: Any, tokens: int) -> Iterator[tuple[Asked, Cost]]:
    """A memory of the passages, in RAM, and what indexing them cost."""
    clock, keeping = Clock(START), Keeping(lag_seconds=HOUR)
    name = f"gam-rag-{next(_numbers)}"
    judge = Judge(models.chat)
    with in_ram(name, clock, embedder=embedder, keeping=keeping, policy=PUBLISHED, judge=judge) as memory:
        asked = Asked(memory, clock, models, tokens)
        yield asked, asked.build(items)


@contextmanager
def without(name: str) -> Iterator[None]:
    """The product with one part of the method replaced."""
    with ExitStack() as stack:
        for (module, attribute), other in ABLATIONS[name].items():
            stack.enter_context(patch.object(module, attribute, other))
        yield


def turns(
    data: Dataset, questions: Sequence[Question], models: Models, embedder: Any, tokens: int, most: int
) -> Iterator[dict[str, Any]]:
    """A row for each turn: table 1's "w/ k-turn memorization", with what it costs."""
    with memory_of(data.items, models, embedder, tokens) as (memory, _):
        yield from ({"set": data.name, **row} for row in _turns(memory, questions, most))


def _turns(memory: Asked, questions: Sequence[Question], most: int) -> Iterator[dict[str, Any]]:
    for turn in range(most + 1):
        answered = memory.ask(questions)
        verdicts, cost = memory.learn(answered) if turn < most else (0, Cost(0, 0.0))
        row = rounded(means([one.row for one in answered]))
        yield {"turn": turn, **row, "verdicts": verdicts, "tokens to learn": cost.tokens}


def ablations(
    data: Dataset, questions: Sequence[Question], models: Models, embedder: Any, tokens: int, most: int
) -> Iterator[dict[str, Any]]:
    """A row for each variant of figure 4 and turn."""
    for name in ABLATIONS:
        with without(name), memory_of(data.items, models, embedder, tokens) as (memory, _):
            yield from ({"set": data.name, "variant": name, **row} for row in _turns(memory, questions, most))


def table_2(
    data: Dataset, questions: Sequence[Question], models: Models, embedder: Any, tokens: int, _: int
) -> Iterator[dict[str, Any]]:
    """A row for each method: what indexing costs, and how the same, similar and different questions are answered."""

    def other_words(query: str) -> str:
        return models.chat(REWRITE, prompt_json({"question": query})).strip() or query

    seen, unseen = halves_by_type(questions)
    reworded = {one.query: other_words(one.query) for one in questions}
    with ExitStack() as stack:
        same, index = stack.enter_context(memory_of(data.items, models, embedder, tokens))
        half, _cost = stack.enter_context(memory_of(data.items, models, embedder, tokens))

        def measured(method: str, policy: Policy, index: Cost | None) -> dict[str, Any]:
            cost = ("/", "/") if index is None else (index.tokens, round(index.seconds, 3))
            first = {"set": data.name, "method": method, "index tokens": cost[0], "index s": cost[1]}
            kinds = {
                "same": same.ask(questions, policy),
                "similar": same.ask(questions, policy, reworded.__getitem__),
                "different": half.ask(unseen, policy),
            }
            return first | {key: one for kind, own in kinds.items() for key, one in _columns(kind, own).items()}

        for method, policy in PLAIN.items():
            yield measured(method, policy, None)
        yield measured("GAM-RAG", PUBLISHED, index)
        for _turn in range(MEMORISED):
            same.learn(same.ask(questions))
            half.learn(half.ask(seen))
        yield measured(f"- {MEMORISED}-turn memorization", PUBLISHED, None)


def _columns(kind: str, answered: Sequence[Answered]) -> dict[str, float]:
    names = {"GPT-Acc": "GPT-Acc", "s/query": "Time(s)", "recall@5": "recall@5", "rounds": "rounds"}
    found = means([one.row for one in answered])
    return rounded({f"{kind} {name}": found[key] for key, name in names.items() if key in found})


def halves_by_type(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """Two halves with each type of question in both: every other one of its type.

    >>> asked = [Question(str(n), "?", (), type="ab"[n % 2]) for n in range(4)]
    >>> [[one.id for one in half] for half in halves_by_type(asked)]
    [['0', '1'], ['2', '3']]
    """
    met: dict[str | None, int] = {}
    halves: tuple[list[Question], list[Question]] = ([], [])
    for one in questions:
        number = met[one.type] = met.get(one.type, -1) + 1
        halves[number % 2].append(one)
    return halves
