"""What does a hierarchy look like, and what do splits, merges and the cap of themes do to it and to what is found?

    python -m benchmarks.hierarchy_structure --data DIR
    python -m benchmarks.hierarchy_structure --data DIR --every 3

The statistics of the paper's Tables 7 and 8, and its ablations without a model that answers: `w/o split` has a cap
that no theme reaches, `w/o merge` lets tiny themes be. `r500` and `r1000` are the share of the gold turns within so
many tokens of whole episodes, in the order in which the way down comes to them, with Stage I and without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adaptive_memory_core import Policy
from adaptive_memory_core.evaluate.metrics import mean
from adaptive_memory_core.evaluate.tokens_shown import ShownUnit, Texts
from adaptive_memory_core.hierarchy import grow
from adaptive_memory_core.hierarchy.nodes import Hierarchy
from adaptive_memory_core.hierarchy.top_down import top_down
from adaptive_memory_core.policy import Hierarchies
from benchmarks.arguments import kept, of_questions
from benchmarks.chunks_and_windows import without_names
from benchmarks.data import Dataset, Question, load
from benchmarks.embedders import embedder_of
from benchmarks.evidence_systems import observed
from benchmarks.recall_quality import asked
from benchmarks.report import print_table
from benchmarks.rot import user_of

NO_SPLIT, NO_MERGE = 1_000, 0
SETTINGS: Mapping[str, tuple[int, int]] = {  # the cap of a theme, and up to how many semantics it is tiny
    "w/o split and merge": (NO_SPLIT, NO_MERGE),
    "w/o split": (NO_SPLIT, grow.TINY),
    "w/o merge": (12, NO_MERGE),
    "cap 12": (12, grow.TINY),
    "cap 8": (8, grow.TINY),
    "cap 10": (10, grow.TINY),
    "cap 14": (14, grow.TINY),
}
WAYS = {"": Hierarchies(), ", no Stage I": Hierarchies(representatives=False)}
Views = Mapping[str | None, Hierarchy]


def main() -> None:
    parser = of_questions(__doc__)
    parser.add_argument("--sets", nargs="+", default=["locomo"])
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    arguments = parser.parse_args()
    rows = []
    for name in arguments.sets:
        own = list(structures(load(arguments.data, name), arguments))
        print_table(own, title=f"Structure: {name}")
        rows += own
    kept(rows, arguments)


def structures(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each setting."""
    questions = asked(data, len(data.questions), arguments.seed)[:: arguments.every]
    embed = embedder_of("local").embed_documents
    texts = Texts(data, embed([item.text for item in data.items]))
    names = {item.speaker for item in data.items if item.speaker}
    cues = embed([without_names(one.query, names) for one in questions])
    for name in arguments.settings:
        cap, grow.TINY = SETTINGS[name]
        with observed(data, Policy().replace(advanced={"hierarchy": {"theme_semantics": cap}})) as memory:
            view = memory.ports().hierarchy.view
            found = {one.tenant: view(memory.for_user(user_of(one.tenant)).scope) for one in data.items}
        views = {tenant: one for tenant, one in found.items() if one is not None}
        row = {"setting": name, **_statistics(list(views.values()))}
        for way, settings in WAYS.items():
            shown = [_shown(texts, views[one.tenant], cue, settings) for one, cue in zip(questions, cues, strict=True)]
            for budget in (500, 1_000):
                row[f"r{budget}{way}"] = (
                    f"{mean([_share(*one, budget) for one in zip(questions, shown, strict=True)]):.3f}"
                )
        yield row


def _statistics(views: Sequence[Hierarchy]) -> dict[str, Any]:
    every = [one.statistics for one in views]
    themes, semantics = sum(one.themes for one in every), sum(one.semantics for one in every)
    moved = sum(one.reassigned * one.semantics for one in every) / max(1, semantics)
    return {
        "episodes": sum(one.episodes for one in every),
        "semantics": semantics,
        "themes": themes,
        "mean": round(semantics / max(1, themes), 2),
        "largest": max(one.largest for one in every),
        "f": round(mean([one.objective for one in every]), 3),
        "sparsity": round(mean([one.sparsity for one in every]), 3),
        "coherence": round(mean([one.coherence for one in every]), 3),
        "reassigned": round(moved, 3),
    }


def _shown(texts: Texts, view: Hierarchy, cue: Any, settings: Hierarchies) -> Any:
    way = top_down(view, cue, settings)
    return texts.read([ShownUnit(place, view.episodes[one].messages) for place, one in enumerate(way.episodes)])


def _share(question: Question, read: Any, budget: int) -> float:
    gold = set(question.gold_ids)
    return len(gold & set(read.within(budget))) / len(gold)


if __name__ == "__main__":
    main()
