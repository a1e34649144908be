"""How much evidence stands in how few tokens? Chunks, windows, our flat recall and its other shapes, in one run.

    python -m benchmarks.hierarchy --data DIR
    python -m benchmarks.hierarchy --data DIR --sets locomo --every 3 --systems "naive chunks" flat episodes
    python -m benchmarks.hierarchy --data DIR --sets locomo --every 9 --model qwen3-8b --base-url http://localhost:8000/v1

Without `--model` no language model is asked. Nothing is read (`reinforce=False`), and all systems have the bundled
embedder. Each answers with an ordered list of units (`tokens_shown` in evaluate/ says what a turn costs, where one is
cut); the order is what a budget cuts, whatever the budget. `rB` is the share of the gold turns among the first B
tokens, `all B` the share of questions with all of them, `intact B` as rB, where a gold turn counts only with the
question right before it; `tokens to all` is a mean over all questions, 4,000 where gold is not among the first 4,000.

`covered` is the share of questions of which all words of the answer were read, with the dates that rendering adds on
every side; tokens and blocks to cover are compared over the questions that both cover, as shares of the best naive
chunks (the paper's Table 3). The hit shares say how many words of the answer a block holds (its Figure 4), and
`redundancy` how alike a block is to the most similar one before it, both within 2,000 tokens.

"in the page" is what `render` shows within the budget, headings, labels and all.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adaptive_memory_core.evaluate.metrics import mean
from adaptive_memory_core.evaluate.tokens_shown import BUDGETS, Measures, Texts, shown_measures
from adaptive_memory_core.judges import OpenAIReader
from benchmarks.arguments import kept, of_questions
from benchmarks.conversation_measures import CATEGORIES
from benchmarks.data import Dataset, Question, load
from benchmarks.embedders import embedder_of
from benchmarks.evidence_systems import BASE, DEEP, NAMES, OURS, observed, systems
from benchmarks.means import beside, by_category, means
from benchmarks.reader_answers import answers
from benchmarks.recall_quality import asked
from benchmarks.report import print_table
from benchmarks.units import Script, quarter

SETS = ("locomo", "assistant_chats", "madial_en")
FOR_CATEGORIES = ("r500", "r1000")
Row = dict[str, Any]


def main() -> None:
    parser = of_questions(__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--systems", nargs="+", choices=list(NAMES), default=list(NAMES))
    parser.add_argument("--hits", type=int, default=DEEP, help="of a recall of ours, at most")
    parser.add_argument("--model", help="a chat model that answers: BLEU-1, F1, ROUGE-L and tokens a query")
    parser.add_argument("--base-url", help="of its server; OpenAI's protocol, with log-probabilities")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for name in arguments.sets:
        for title, table in tables(load(arguments.data, name), arguments):
            print_table(table, title=f"{title}: {name}")
            rows += [{"set": name, "table": title, **row} for row in table]
    kept(rows, arguments)


def tables(data: Dataset, arguments: argparse.Namespace) -> Iterator[tuple[str, list[Row]]]:
    """All tables of one set of data."""
    questions = asked(data, len(data.questions), arguments.seed)[:: arguments.every]
    texts = Texts(data, embedder_of("local").embed_documents([item.text for item in data.items]))
    measures: dict[str, list[Measures]] = {}
    pages: dict[str, Sequence[str]] = {}
    for shown in systems(data, questions, arguments.systems, arguments.hits):
        measures[shown.system] = [shown_measures(texts, *one) for one in zip(questions, shown.units, strict=True)]
        pages |= {f"{shown.system}, {budget}": page for budget, page in shown.pages.items()}
    yield "Evidence within a budget", list(_evidence(measures))
    if data.name == "locomo":
        yield "Evidence by category", list(_categories(questions, measures))
    yield "What it takes to cover the answer", list(_coverage(measures))
    yield "Evidence in the page", list(_in_the_page(Script(data), questions, pages))
    if arguments.model is not None:
        yield "Answers of a model", list(_answers(data, questions, arguments))


def _answers(data: Dataset, questions: Sequence[Question], arguments: argparse.Namespace) -> Iterator[Row]:
    """What a model answers from each of our shapes; top down, it says as well which episodes help."""
    reader = OpenAIReader(arguments.model, base_url=arguments.base_url)
    with observed(data, reader=reader) as memory:
        yield from answers(memory, questions, {name: OURS[name] for name in arguments.systems if name in OURS}, reader)


def _evidence(measures: Mapping[str, Sequence[Measures]]) -> Iterator[Row]:
    names = [*(f"r{one}" for one in BUDGETS), "all 500", "all 1000", "intact 500", "intact 1000"]
    base = _base(measures)
    for system, rows in measures.items():
        found = means(rows)
        cost = beside(rows, measures[base], "tokens to all") if base else None
        told = {name: f"{found[name]:.3f}" for name in names}
        yield {"system": system, **told, "tokens to all": round(found["tokens to all"]), "of naive": _share(cost)}


def _categories(questions: Sequence[Question], measures: Mapping[str, Sequence[Measures]]) -> Iterator[Row]:
    for system, rows in measures.items():
        row: Row = {"system": system}
        for name in FOR_CATEGORIES:
            kinds = by_category(questions, rows, name, lambda one: CATEGORIES[one.more["category"]])
            row |= {f"{kind} {name}": f"{value:.3f}" for kind, value in kinds.items()}
        yield row


def _coverage(measures: Mapping[str, Sequence[Measures]]) -> Iterator[Row]:
    base = _base(measures)
    for system, rows in measures.items():
        found, row = means(rows), {"system": system}
        for name in ("covered", "1-hit", "2-hit", "multi-hit", "redundancy"):
            row[name] = f"{found.get(name, 0.0):.3f}"
        for name in ("blocks to cover", "tokens to cover"):
            row[name] = f"{found.get(name, 0.0):.2f}"
            row[f"{name}, of naive"] = _share(beside(rows, measures[base], name) if base else None)
        yield row


def _in_the_page(script: Script, questions: Sequence[Question], pages: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    for name, texts in pages.items():
        seen = [script.seen(question, text) for question, text in zip(questions, texts, strict=True)]
        told = {measure: f"{mean([one[measure] for one in seen]):.3f}" for measure in seen[0]}
        of_sets = [one["evidence"] for question, one in zip(questions, seen, strict=True) if _is_multi_hop(question)]
        told |= {"evidence, multi-hop": f"{mean(of_sets):.3f}"} if of_sets else {}
        yield {"system, tokens": name, **told, "tokens shown": f"{mean([quarter(one) for one in texts]):.0f}"}


def _is_multi_hop(question: Question) -> bool:
    return CATEGORIES.get(question.more.get("category", 0)) == "multi-hop"


def _base(measures: Mapping[str, Sequence[Measures]]) -> str | None:
    """The naive chunks with the most evidence, beside which all others are put."""
    there = [name for name in BASE if name in measures]
    return max(there, key=lambda name: means(measures[name])["r1000"], default=None)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
