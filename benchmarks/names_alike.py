"""What does it bring, and harm, to take a name for another one that is written nearly so? On names made up for it.

    python -m benchmarks.names_alike
    python -m benchmarks.names_alike --embedder minilm --vectors DIR

Of each pair below one name titles a record, and the other stands in the question ("in the question") or in the record
that leads there ("on the way"); two records answer each question. All records say the same but for their names.
`taken` is how many pairs are taken for one: of names that are the same, and of names that only look so. The floors are
`Graphs.names_alike`; 0 is off.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.evaluate.intervals import bootstrap, paired_difference
from adaptive_memory_core.evaluate.metrics import recall_at
from adaptive_memory_core.graph.alike_names import KnownNames, alike_above, unit_rows
from adaptive_memory_core.models.embedder import Embedder
from benchmarks.data import Dataset, Item
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.recall_quality import opened
from benchmarks.report import print_table, write_json
from benchmarks.rot import user_of

SAME = """
Jon Smith|John Smith;Universidad de Salamanca|University of Salamanca;Johann Nikolaus Bach|Johann Nicolaus Bach
Catherine Howard|Katherine Howard;Kathryn Bigelow|Katherine Bigelow;Beyonce Knowls|Beyonce Knowles
Chaikovsky|Tchaikovsky;Dostoevsky|Dostoyevsky;Mississipi River|Mississippi River;Massachusets|Massachusetts
Universitat Heidelberg|University of Heidelberg;Brittish Museum|British Museum;Steven Hawking|Stephen Hawking
Acme Corp|Acme Corporation;Rotterdam Harbor|Rotterdam Harbour;Theater Royal|Theatre Royal;Shakespear|Shakespeare
Edinburgh Castel|Edinburgh Castle;Sao Paolo|Sao Paulo;Kolkatta|Kolkata;Marseilles|Marseille;Phillipines|Philippines
Elisabeth Bennet|Elizabeth Bennett;Project Mercuri|Project Mercury;Museo Nacional|National Museum;Nueva York|New York
Londres|London;Roberto Diaz|Robert Diaz;Meredith Gray|Meredith Grey;Geoffrey Lebowski|Jeffrey Lebowski
Thames Barier|Thames Barrier;Helsinky|Helsinki;Warsawa|Warsaw;Kopenhagen|Copenhagen;Gorbachov|Gorbachev
"""
OTHER = """
Louis XIV|Louis XV;World War I|World War II;Apollo 11|Apollo 12;J. Smith|Jane Smith;North Korea|South Korea
Austria|Australia;Slovenia|Slovakia;Niger|Nigeria;Michael Jackson|Janet Jackson;Edward Smith|Edwin Smith
Prince Albert|Princess Albert;Melbourne|University of Melbourne;Henry VIII|Henry VII;George Bush|George W. Bush
Paris|Parks;Mark Twain|Mary Twain;Maria Garcia|Mario Garcia;Paul Simon|Paula Simon;San Jose|San Juan
John Adams|Joan Adams;Frances Burney|Francis Burney;Windows 10|Windows 11;Robert|Roberta;Christian|Christina
Daniel Brown|Danielle Brown;Venezia|Valencia;Bank of America|Bank of Armenia;Julian Lennon|Julia Lennon
Stuart|Stewart;Virgin|Virginia;South Dakota|South Carolina;Indian|Indiana;Rudolf I|Rudolf III;East Timor|West Timor
April 24|April 25;Burlington|Burton;Gerald|Geraldine;Boeing 737|Boeing 747;Elizabeth I|Elizabeth II;Mali|Malawi
"""
FIRST, LAST = "Orla Bram Tilda Juno Casper Wanda".split(), "Venn Kroll Ostrow Pelham Quist Radley Uzun".split()  # noqa: SIM905
TREES, ENDS = "Ash Birch Cedar Dune Elm Fern".split(), "brook dale field gate hurst mere worth".split()  # noqa: SIM905
FLOORS, NOTES = (0.0, 0.7, 0.75, 0.8, 0.85, 0.9), 200
CHANNELS: Any = ("dense", "lexical", "graph")


class Asked(NamedTuple):
    """A question, the records that it needs, and where the other form of the name stands."""

    where: str
    query: str
    gold: tuple[str, str]


def pairs(text: str) -> list[tuple[str, str]]:
    """
    >>> pairs("Jon|John;Ana|Anna")
    [('Jon', 'John'), ('Ana', 'Anna')]
    """
    return [
        (one, other) for pair in text.replace("\n", ";").split(";") if pair for one, _, other in [pair.partition("|")]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument("--vectors", type=Path, help="a folder where vectors are kept")
    parser.add_argument("--floors", nargs="+", type=float, default=list(FLOORS))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = list(measured(embedder_of(arguments.embedder, vectors=arguments.vectors), arguments.floors))
    print_table(rows, title=f"Names taken for others, embedder {arguments.embedder}")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def measured(embed: Embedder, floors: Sequence[float]) -> Iterator[dict[str, Any]]:
    """A row for each floor."""
    records, questions = made_up()
    with opened("names", Dataset("alike", tuple(records), ()), record, embed) as memory:
        memory.ports().graph.compare_names()
        memory.ports().graph.rebuild()
        without: dict[str, list[float]] = {}
        for floor in floors:
            row: dict[str, Any] = {"names_alike": floor}
            for said, both in (("same", pairs(SAME)), ("others", pairs(OTHER))):
                row[f"{said} taken"] = f"{taken(embed, both, floor)} of {len(both)}"
            for where in ("in the question", "on the way"):
                shares = [found(memory, one, floor) for one in questions if one.where == where]
                row[f"recall@5 {where}"] = f"{bootstrap(shares, seed=0).mean:.3f}"
                change = paired_difference(shares, without.setdefault(where, shares), seed=0)
                row[f"gain {where}"] = f"{change.mean:+.3f} ({change.low:+.3f} to {change.high:+.3f})"
            yield row


def made_up() -> tuple[list[Item], list[Asked]]:
    """The records and the questions."""
    people = [f"{first} {last}" for last in LAST for first in FIRST]
    estates = [f"{tree}{end}" for end in ENDS for tree in TREES]
    records = [
        Item(id=f"note {n}", title=f"Note {n}", text="A roof was repaired, and a house was sold.") for n in range(NOTES)
    ]
    questions: list[Asked] = []
    for number, (written, right) in enumerate(pairs(SAME)):
        who, estate, one = people[number], estates[number], str(number)
        records += [
            Item(id=f"{one}a", title=right, text=f"The roof was repaired by {who}. The house is old."),
            Item(id=f"{one}b", title=who, text="Born in a village by the sea. Learned the trade early."),
            Item(id=f"{one}c", title=estate, text=f"It was sold to {written} after the war."),
        ]
        village = f"In which village was the man born who repaired the roof of {written}?"
        questions += [
            Asked("in the question", village, (f"{one}a", f"{one}b")),
            Asked("on the way", f"Who repaired the roof for the buyer of {estate}?", (f"{one}c", f"{one}a")),
        ]
    return records, questions


def record(item: Item) -> dict[str, Any]:
    return {"id": item.id, "text": item.text, "metadata": {"title": item.title}}


def taken(embed: Embedder, both: Sequence[tuple[str, str]], floor: float) -> int:
    """How many of the pairs would be taken for one, if all of the second names are known."""
    if floor == 0.0:
        return 0
    asked, known = ([one[side].lower() for one in both] for side in (0, 1))
    vectors, rows = (unit_rows(np.asarray(embed.embed_documents(names))) for names in (asked, known))
    page = KnownNames([(np.arange(len(known)), rows)], lambda keys: {key: known[key] for key in keys})
    found = {(place, key) for place, key, _, _ in alike_above(floor, asked, vectors, page)}
    return sum((place, place) in found for place in range(len(both)))


def found(memory: AdaptiveMemory, question: Asked, floor: float) -> float:
    policy = Policy(channels=CHANNELS).replace(advanced={"graph": {"names_alike": floor}})
    recall = memory.for_user(user_of(None)).recall(question.query, k=5, reinforce=False, policy=policy)
    return recall_at(recall.ids, question.gold, k=5)


if __name__ == "__main__":
    main()
