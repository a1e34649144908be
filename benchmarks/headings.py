"""Do headings come before what answers? Passages whose titles are records of their own, and labels found by examples.

    python -m benchmarks.headings --data DIR
    python -m benchmarks.headings --data DIR --sets twowiki_101 --every 2

A heading or a name is nearer to a question about it than the passage that answers, for it says nothing besides. Of sets
whose passages begin with a title, the title is made a record of its own; what is to be found is the passage. `faq` is
the opposite: of each of BANKING77's intents 25 questions are records, and others of that intent are asked, so what
is to be found is as short as the cue. The columns are the default beside each channel alone.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from adaptive_memory_core.evaluate.metrics import mean, ndcg_at, recall_at
from benchmarks.baselines import recalled
from benchmarks.data import Dataset, Item, Question, add_data_argument, load
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.recall_quality import DEEP, POLICIES, K, ends, opened, plain
from benchmarks.report import print_table

FAQ = "faq"
HEADED = ("hotpotqa_200", "musique_100", "twowiki_101")
STORED, ASKED = 25, 3  # questions of an intent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", choices=[*HEADED, FAQ], default=[*HEADED, FAQ])
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument("--every", type=int, default=1, help="ask every so-manieth question only")
    arguments = parser.parse_args()
    rows = [row_of(data, arguments) for data in sets_of(arguments.data, arguments.sets)]
    print_table(rows, title=f"Recall@10 / NDCG@10, embedder {arguments.embedder}")


def sets_of(folder: Path, names: list[str]) -> Iterator[Dataset]:
    for name in names:
        yield as_faq(load(folder, "banking77")) if name == FAQ else headed(load(folder, name))


def headed(data: Dataset) -> Dataset:
    """Each passage without its title, and the title by itself.

    >>> rome = Item(id="1", text="Rome\\nA city in Italy.")
    >>> [(item.id, item.text) for item in headed(Dataset("x", (rome,), ())).items]
    [('1', 'A city in Italy.'), ('1:title', 'Rome')]
    """
    parted = [(item, *item.text.partition("\n")[::2]) for item in data.items]
    passages = [replace(item, text=text or title) for item, title, text in parted]
    titles = [replace(item, id=f"{item.id}:title", text=title) for item, title, text in parted]
    return Dataset(f"{data.name}-headed", (*passages, *titles), data.questions)


def as_faq(data: Dataset) -> Dataset:
    """Questions as records, and others with the same answer that ask for them.

    >>> asked = [Question(id=str(n), query=f"lost {n}", gold_ids=("card",)) for n in range(30)]
    >>> found = as_faq(Dataset("x", (), tuple(asked)))
    >>> len(found.items), len(found.questions), len(found.questions[0].gold_ids)
    (25, 3, 25)
    """
    intents: dict[str, list[Question]] = {}
    for question in data.scorable:
        intents.setdefault(question.gold_ids[0], []).append(question)
    items: list[Item] = []
    questions: list[Question] = []
    for _, own in sorted(intents.items()):
        random.Random(0).shuffle(own)
        gold = tuple(question.id for question in own[:STORED])
        items += [Item(id=question.id, text=question.query) for question in own[:STORED]]
        questions += [replace(question, gold_ids=gold) for question in own[STORED : STORED + ASKED]]
    return Dataset(FAQ, tuple(items), tuple(questions))


def row_of(data: Dataset, arguments: argparse.Namespace) -> dict[str, object]:
    questions = data.scorable[:: arguments.every]
    row: dict[str, object] = {"set": data.name, "records": len(data.items), "questions": len(questions)}
    with opened("headings", data, plain, embedder_of(arguments.embedder)) as memory:
        for system, policy in POLICIES.items():
            ask = recalled(memory, policy, ends(data))
            pairs = [(ask(question, DEEP), question.gold_ids) for question in questions]
            found, gain = (mean([measure(*pair, k=K) for pair in pairs]) for measure in (recall_at, ndcg_at))
            row[system] = f"{found:.3f} / {gain:.3f}"
    return row


if __name__ == "__main__":
    main()
