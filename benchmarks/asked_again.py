"""Does a graph learn from being asked again? The same, similar and different questions of several steps, turn by turn.

    python -m benchmarks.asked_again --data DIR
    python -m benchmarks.asked_again --data DIR --sets timeqa_human --questions 200 --forms paper "paper without time"

In each turn all questions are asked, and what they found is judged by whether they need it. "same" is what these
questions find, "similar" what they find in other words (by rule: no model is asked), and "different" what those find
that are never judged, every other one of the set. Recall@2 and @5 before the first turn and after some. "memory" is a
memory with the channel "graph" and verdicts on the five best, "memory, paper's form" has that form of the graph in the
place of all else that verdicts teach; "paper" is GAM-RAG as published, equations 3 to 13, and "paper without ..." are
its four ablations. What is asked of a set with several tenants stands in one corpus.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core import Keeping
from adaptive_memory_core.evaluate.metrics import mean, recall_at
from benchmarks.data import Dataset, Question, add_data_argument, load
from benchmarks.embedders import EMBEDDERS
from benchmarks.hop_forms import WITHOUT, Learner, OfMemory, of_paper
from benchmarks.in_ram import in_ram
from benchmarks.learning_forms import START
from benchmarks.multi_hop import SETS, shaped
from benchmarks.report import print_table, write_json
from benchmarks.rot import Clock

_PUBLISHED: dict[str, Any] = {"learning": {"similar_questions": 0.0, "usefulness": 0.0}}
MEMORIES: dict[str, dict[str, Any]] = {
    "memory": {},
    "memory, paper's form": {**_PUBLISHED, "advanced": {"graph": {"form": "paper"}}},
}
USUAL = ["memory"]
PAPERS = ["paper", *(f"paper without {one}" for one in WITHOUT[1:])]
TOLD = (0, 1, 2, 5, 10)  # turns after which it is measured
_REWORDED = (
    (r"^(who|what|which|where|when|how|are|is|do|does|did|was|were)\b", lambda it: f"tell me, {it[0].lower()}"),
    (r"\b(the|a|an|of the)\b ", lambda _: ""),
    (r"\bborn\b", lambda _: "given birth"),
    (r"\bfilm\b", lambda _: "movie"),
    (r"\bdirector\b", lambda _: "maker"),
    (r"\bdied?\b", lambda _: "passed away"),
    (r"\?$", lambda _: ", please"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--forms", nargs="+", default=[*USUAL, *PAPERS], choices=[*MEMORIES, *PAPERS])
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--questions", type=int, default=1_000, help="of a set, at most")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for name in arguments.sets for row in rows_of(load(arguments.data, name), arguments)]
    print_table(rows, title="Asked again")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    questions = data.scorable[:: max(1, len(data.scorable) // arguments.questions)][: arguments.questions]
    embed = EMBEDDERS[arguments.embedder]()
    papers = of_paper(data.items, embed) if set(arguments.forms) & set(PAPERS) else {}
    for form in arguments.forms:
        for kind in ("same", "different"):
            measure = _measured(questions, kind, arguments.turns)
            found = measure(papers[form]()) if form in papers else in_memory(data, embed, form, measure)
            yield from ({"set": data.name, "form": form, **row} for row in found)


def _measured(questions: Sequence[Question], kind: str, turns: int) -> Callable[[Learner], list[dict[str, Any]]]:
    """In which order it is asked and judged, for either kind of questions."""
    judged = questions if kind == "same" else questions[::2]
    asked = {"same": questions, "similar": questions} if kind == "same" else {"different": questions[1::2]}

    def measure(learner: Learner) -> list[dict[str, Any]]:
        rows: dict[str, dict[str, Any]] = {name: {"asked": name} for name in asked}
        for turn in range(turns + 1):
            for name, some in asked.items():
                if turn in TOLD:
                    rows[name] |= _shares(learner, some, turn, other_words=name == "similar")
            for one in judged if turn < turns else ():
                learner.learn(one.query, one.gold_ids)
        return list(rows.values())

    return measure


def _shares(learner: Learner, questions: Sequence[Question], turn: int, *, other_words: bool) -> dict[str, str]:
    found = [(learner.ranked(reworded(one.query) if other_words else one.query), one.gold_ids) for one in questions]
    two, five = (mean([recall_at(ids, gold, k=k) for ids, gold in found]) for k in (2, 5))
    return {f"turn {turn}: @2 / @5": f"{two:.3f} / {five:.3f}"}


def reworded(question: str) -> str:
    """The question in other words, by rule.

    >>> reworded("Where did the director of the film Kali Topi die?")
    'tell me, where did maker movie Kali Topi passed away, please'
    """
    for pattern, other in _REWORDED:
        question = re.sub(pattern, other, question.strip(), flags=re.IGNORECASE)
    return question


def in_memory(data: Dataset, embed: Any, form: str, measure: Callable[[Learner], Any]) -> list[dict[str, Any]]:
    """In a memory of its own."""
    clock = Clock(START)
    with in_ram("again", clock, embedder=embed, keeping=Keeping(lag_seconds=3_600)) as memory:
        records = [{**shaped(one), "created_at": None} for one in data.items]
        memory.for_user("a reader").remember_many(records)
        memory.ports().graph.rebuild()
        found: list[dict[str, Any]] = measure(OfMemory(memory, clock, **MEMORIES[form]))
    return found


if __name__ == "__main__":
    main()
