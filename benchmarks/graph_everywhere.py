"""Could the graph be asked by default? What it gains and costs on every set, always and where the cue names something.

    python -m benchmarks.graph_everywhere --data DIR

NDCG@10 of our hybrid (words and vectors), and the paired difference of the hybrid with the channel "graph", with an
interval of 95 %: asked for every question, for those that name a title of the user's records ("titled"), for such
questions of users whose records are linked ("auto", which is the default), and for those that name two things that are
known ("two names"), each with the share of the questions that it is asked for. `links` is how many titles of others a
record names, of the user with the most, as a sample tells it. `more ms` is the processor time of a recall beyond the
hybrid's, the mean over all questions. "musique_100:steps" asks each step of MuSiQue's questions by itself, with
the answers before it filled in: questions of one step, about linked records.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Fields, Policy, Recall
from adaptive_memory_core.evaluate.intervals import paired_difference
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at
from adaptive_memory_core.graph.build import MOST_SAMPLED, Titled, links_per_record, record_title
from adaptive_memory_core.graph.names import known_names
from adaptive_memory_core.policy.advanced import LINKED_FROM
from benchmarks.data import Dataset, Question, add_data_argument, load
from benchmarks.embedders import EMBEDDERS
from benchmarks.multi_hop import SYSTEMS, complete, ranked, shaped
from benchmarks.recall_quality import asked, opened
from benchmarks.report import print_table, write_json
from benchmarks.rot import user_of

SETS = (
    *("musique_100", "musique_100:steps", "hotpotqa_200", "twowiki_101"),
    *("locomo", "assistant_chats", "madial_en", "timeqa_human", "banking77", "clinc150"),
)
NAMED = {"always": 0, "titled": 1, "two names": 2}
STEPS = ":steps"
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--questions", type=int, default=200, help="of each set")
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row_of(steps_or_questions(arguments.data, name), arguments) for name in arguments.sets]
    print_table(rows, title=f"The graph everywhere, embedder {arguments.embedder}")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def row_of(data: Dataset, arguments: argparse.Namespace) -> Row:
    questions = asked(data, arguments.questions, 0)
    with opened("everywhere", data, shaped, EMBEDDERS[arguments.embedder]()) as memory:
        complete(memory)
        plain, first = _all(memory, questions, SYSTEMS["hybrid"], data)
        with_graph, second = _all(memory, questions, SYSTEMS["graph"], data)
        known = [naming(memory, one) for one in questions]
    links = max(links_of(data, tenant) for tenant in {item.tenant for item in data.items})
    row: Row = {"set": data.name, "questions": len(questions), "links": f"{links:.2f}", "hybrid": f"{mean(plain):.3f}"}
    asked_for = {name: [there[number] for there in known] for name, number in NAMED.items()}
    asked_for["auto"] = [titled and links >= LINKED_FROM for titled in asked_for["titled"]]
    for name, open_ in asked_for.items():
        mixed = [new if ask else old for old, new, ask in zip(plain, with_graph, open_, strict=True)]
        change = paired_difference(mixed, plain, seed=0)
        row[name] = f"{change.mean:+.3f} ({change.low:+.3f} to {change.high:+.3f})"
        row[f"{name}: of all"] = f"{100 * mean([float(one) for one in open_]):.0f} %"
    return {**row, "more ms": round(1_000 * (second - first) / len(questions), 1)}


def steps_or_questions(folder: Path, name: str) -> Dataset:
    """The set of that name, or MuSiQue's questions step by step."""
    data = load(folder, name.removesuffix(STEPS))
    if not name.endswith(STEPS):
        return data
    return replace(
        data, name=name.replace(":", "-"), questions=tuple(one for each in data.scorable for one in steps(each))
    )


def steps(question: Question) -> list[Question]:
    """Each step by itself, with the answers to those before it.

    >>> told = [{"question": "Who wrote it?", "answer": "Ada"}, {"question": "Where was #1 born?", "answer": "London"}]
    >>> [one.query for one in steps(Question(id="q", query="", gold_ids=("1", "2"), more={"decomposition": told}))]
    ['Who wrote it?', 'Where was Ada born?']
    """
    found: list[Question] = []
    answers: list[str] = []
    for gold, step in zip(question.gold_ids, question.more["decomposition"], strict=False):
        text = step["question"]
        for number, answer in enumerate(answers, start=1):
            text = text.replace(f"#{number}", answer)
        answers.append(step["answer"])
        found.append(replace(question, id=f"{question.id}-{len(answers)}", query=text, gold_ids=(gold,)))
    return found


def links_of(data: Dataset, tenant: str | None) -> float:
    """How many titles of others a record of this user's names, as the memory finds out."""
    own = [shaped(item) for item in data.items if item.tenant == tenant]
    some = random.Random(0).sample(own, min(len(own), MOST_SAMPLED))
    return links_per_record(
        [Titled(one["text"], record_title(one.get("metadata"), Fields())) for one in some], len(own)
    )


def _all(
    memory: AdaptiveMemory, questions: Sequence[Question], policy: Policy, data: Dataset
) -> tuple[list[float], float]:
    start = time.thread_time()
    recalls: list[Recall] = [ranked(memory, one, policy, data) for one in questions]
    seconds = time.thread_time() - start
    return [ndcg_at(found.ids, one.gold_ids, k=10) for found, one in zip(recalls, questions, strict=True)], seconds


def naming(memory: AdaptiveMemory, question: Question) -> tuple[bool, bool, bool]:
    """Whether it is asked always, where the question names a title, and where it names two things that are known."""
    scope = memory.for_user(user_of(question.tenant)).scope
    with memory.ports().ledger.graph.view(scope) as graph:

        def known(possible: Any) -> set[str]:
            return set(graph.frequencies(possible))

        named = known_names(question.query, known)
        titled = any(len(own) for own in graph.titled(named).values())
    return True, titled, len(named) > 1


if __name__ == "__main__":
    main()
