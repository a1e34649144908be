"""xMemory's tables 1, 2 and 4: answers from naive chunks, from a flat memory, and from a hierarchy with its two stages.

"memory only" takes the most similar semantics of the hierarchy and shows all their episodes. "+RepSel" adds Stage I,
representatives of themes and semantics; "+UncSion" adds Stage II, which shows only episodes that make the model less
uncertain; "xMemory" has both. "hierarchy by the model" has the model find the episodes, their titles and narratives,
the semantics and the names of themes, which the other rows have by rule. "recall" is the share of the gold turns that
the page shows word for word; a narrative or a statement that says the same does not count there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.entries import resolved
from adaptive_memory_core.evaluate.metrics import mean
from adaptive_memory_core.evaluate.tokens_shown import Texts
from adaptive_memory_core.judges import OpenAIReader, chat_roles
from benchmarks.chunks_and_windows import naive_chunks
from benchmarks.conversation_measures import CATEGORIES
from benchmarks.counted_chat import Cost, CountedChat, Models, costed, rounded
from benchmarks.data import Dataset, Item, Question
from benchmarks.embedders import embedder_of
from benchmarks.evidence_systems import EPISODES_FOUND, FLAT, TOP_DOWN, Moment, observed
from benchmarks.means import by_category, means
from benchmarks.recall_quality import ends
from benchmarks.rot import user_of

NAIVE, FULL, BY_MODEL = "naive RAG", "xMemory", "xMemory, hierarchy by the model"


def _stages(*, representatives: bool, expand: bool) -> Policy:
    return TOP_DOWN.replace(advanced={"hierarchy": {"representatives": representatives, "expand": expand}})


OURS: Mapping[str, Policy] = {
    "flat memory": FLAT,
    "memory only": _stages(representatives=False, expand=False),
    "+RepSel": _stages(representatives=True, expand=False),
    "+UncSion": _stages(representatives=False, expand=True),
    FULL: _stages(representatives=True, expand=True),
    BY_MODEL: _stages(representatives=True, expand=True),
}
TABLES = {"xmemory-1": (NAIVE, "flat memory", FULL, BY_MODEL), "xmemory-4": (NAIVE, *OURS)}


Show = Callable[[Question], str]  # the page that a method shows the model


def rows_of(
    table: str, data: Dataset, questions: Sequence[Question], models: Models, tokens: int
) -> Iterator[dict[str, Any]]:
    """A row for each method. "Token/query" counts all requests for a question, those of Stage II included."""
    texts, methods = Texts(data), [one for one in TABLES[table] if not _expands(one)]
    if models.reader().answer("Is it noon?", ["It is noon."]).uncertainty is not None:
        methods = list(TABLES[table])
    else:
        print(f"Only {', '.join(methods)}: the model gives no log-probabilities. Give --reader-model of one that does.")
    for method in methods:
        with _method(method, data, texts, models, tokens) as (show, reader, built):
            measured = [_measured(show, texts, question, models, reader) for question in questions]
        told: dict[str, Any] = {"set": data.name, "model": models.chat.plan.name, "method": method}
        for name in ("BLEU", "F1"):
            kinds = by_category(questions, measured, name, kind_of)
            told |= {f"{kind} {name}": round(value, 4) for kind, value in kinds.items()}
        yield told | rounded(means(measured)) | {"questions": len(questions), "tokens to build": built.tokens}


def _expands(method: str) -> bool:
    """Whether it has Stage II, which reads how uncertain the model is."""
    return method not in (NAIVE, "flat memory") and OURS[method].advanced.hierarchy.expand


def kind_of(question: Question) -> str:
    """The category of LoCoMo, or what another set calls the kind of its question."""
    return CATEGORIES.get(question.more.get("category", 0)) or question.type or "all"


def _measured(
    show: Show, texts: Texts, question: Question, models: Models, reader: OpenAIReader | None
) -> dict[str, float]:
    before = 0 if reader is None else reader.spent
    page, found = costed(models.chat, lambda: show(question))
    reply, answered = costed(models.chat, lambda: models.answer(question.query, page.splitlines()))
    aux = 0 if reader is None else reader.spent - before
    cost, there = found + answered, [_stands(texts.items[one], page) for one in question.gold_ids]
    row = models.measures(question, reply) | {"recall": mean(there)}
    return row | {"Token/query": float(cost.tokens + aux), "s/query": cost.seconds}


@contextmanager
def _method(
    method: str, data: Dataset, texts: Texts, models: Models, tokens: int
) -> Iterator[tuple[Show, OpenAIReader | None, Cost]]:
    if method == NAIVE:
        units = naive_chunks(data, embedder_of("local").embed_documents, named=True)
        yield lambda question: texts.text_within(units(question), tokens), None, Cost(0, 0.0)
        return
    reader = models.reader() if _expands(method) else None
    clock, chat = Moment(), models.chat
    memory, built = costed(chat, lambda: _built(data, reader, clock, chat if method == BY_MODEL else None))
    with memory:
        yield _shown_by(memory, clock, OURS[method], ends(data), tokens), reader, built


def _built(data: Dataset, reader: OpenAIReader | None, clock: Moment, chat: CountedChat | None) -> AdaptiveMemory:
    return observed(data, reader=reader, clock=clock, roles=None if chat is None else chat_roles(chat))


def _shown_by(
    memory: AdaptiveMemory, clock: Moment, policy: Policy, times: Mapping[str | None, float | None], tokens: int
) -> Show:
    def show(question: Question) -> str:
        clock.at = times.get(question.tenant)
        user = memory.for_user(user_of(question.tenant))
        return user.recall(question.query, k=EPISODES_FOUND, reinforce=False, policy=policy).render(tokens)

    return show


def _stands(item: Item, page: str) -> bool:
    """Word for word, or as `render` has it: with dates behind "yesterday" and the like."""
    return item.text in page or resolved(clean(item.text), item.ts) in page
