"""What does it cost to observe conversations? Seconds for all of them, and the time that one semantic takes to attach.

    python -m benchmarks.hierarchy_cost --data DIR

Each conversation of the set is observed as one user, in a directory of its own kind: records, episodes, semantics and
themes. Embedding is taken out: every text is embedded once before, and looked up while the clock runs. Attaching is
measured alone, semantic by semantic, with its splits and merges, on what was distilled. Beside the cost stands what has
grown, and how many of the messages that answer questions are among what was distilled. Then questions are recalled in
each shape, in turn, and the second table says what each takes of the thread's processor time, as a share of "flat".

The last table holds what was measured against what it may be; the command ends with 1 where something is more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder
from adaptive_memory_core.hierarchy.grow import ThemeClusters
from adaptive_memory_core.hierarchy.nodes import Hierarchy
from adaptive_memory_core.policy import Hierarchies
from adaptive_memory_core.store.locations import LEDGER_NAME
from benchmarks.data import Dataset, Item, add_data_argument, load
from benchmarks.hierarchy_bounds import SECONDS, beside_bounds, recall_costs
from benchmarks.report import print_table, write_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=["locomo"])
    parser.add_argument("--questions", type=int, default=120, help="that are recalled in each shape")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows, recalls = [], []
    for name in arguments.sets:
        row, shapes = cost(load(arguments.data, name), arguments.questions)
        rows.append(row)
        recalls += shapes
    print_table(rows, title="What observing costs")
    print_table(recalls, title="What a recall of each shape costs")
    held = [one for row in rows for one in beside_bounds(row, recalls)]
    print_table(held, title="Beside what it may cost")
    if arguments.json:
        write_json(arguments.json, [*rows, *recalls, *held], command=sys.argv, settings=vars(arguments))
    if not all(one["held"] for one in held):
        sys.exit(1)


def cost(data: Dataset, questions: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A row for one set, and one for each shape of its recalls."""
    embed = Looked(LocalEmbedder())
    embed.prepare([item.text for item in data.items])
    with tempfile.TemporaryDirectory() as folder:
        with AdaptiveMemory.open(folder, embedder=embed) as memory:
            users = {item.tenant or "": memory.for_user(item.tenant or "nobody") for item in data.items}
            embed.seconds, began, processor = 0.0, time.perf_counter(), time.process_time()
            for tenant, user in users.items():
                user.observe([_message(one) for one in data.items if (one.tenant or "") == tenant])
            observed = time.perf_counter() - began
            views = {tenant: _grown(memory, user) for tenant, user in users.items()}
            elapsed = time.perf_counter() - began - embed.seconds
            spent = time.process_time() - processor - embed.seconds
            recalls = list(recall_costs(memory, data, questions))
        size = sum(one.stat().st_size for one in Path(folder).glob(f"{LEDGER_NAME}*") if one.is_file())
    row = {
        "set": data.name,
        "messages": len(data.items),
        SECONDS: elapsed,
        "of which until all are stored": observed,
        "processor seconds": spent,
        "embedding, seconds": embed.seconds,
        "MB of the ledger": size / 1e6,
        **_structure(list(views.values())),
        "of gold messages": _reached(data, views),
        **_attaching(list(views.values())),
    }
    return row, recalls


class Looked:
    """An embedder that has the vectors of known texts at hand, and counts the seconds that it takes in all."""

    def __init__(self, embed: LocalEmbedder) -> None:
        self._embed, self.name = embed, embed.name
        self._known: dict[str, Any] = {}
        self.seconds = 0.0

    def prepare(self, texts: Sequence[str]) -> None:
        self._known.update(zip(texts, self._embed(texts), strict=True))

    def __call__(self, texts: Sequence[str]) -> Any:
        began = time.perf_counter()
        missing = [one for one in dict.fromkeys(texts) if one not in self._known]
        if missing:
            self.prepare(missing)
        found = np.array([self._known[one] for one in texts])
        self.seconds += time.perf_counter() - began
        return found


def _message(item: Item) -> dict[str, Any]:
    known = {"speaker": item.speaker, "at": item.ts, "session": item.session, "seq": item.seq}
    return {"id": item.id, "text": item.text, **{key: one for key, one in known.items() if one is not None}}


def _grown(memory: AdaptiveMemory, user: Any) -> Hierarchy:
    user.themes()
    found = memory.ports().hierarchy.view(user.scope)
    if found is None:
        raise RuntimeError("Nothing was observed.")
    return found


def _structure(views: Sequence[Hierarchy]) -> dict[str, Any]:
    """Sums over the conversations, and means of what is a share."""
    found = [one.statistics for one in views]
    total = {name: sum(getattr(one, name) for one in found) for name in ("episodes", "semantics", "themes")}
    means = ("objective", "sparsity", "coherence", "reassigned")
    replaced = sum(one.replaces is not None for view in views for one in view.semantics.values())
    return {
        **total,
        "semantics a theme": total["semantics"] / max(1, total["themes"]),
        "largest theme": max(one.largest for one in found),
        **{name: float(np.mean([getattr(one, name) for one in found])) for name in means},
        "replaced": replaced,
    }


def _reached(data: Dataset, views: dict[str, Hierarchy]) -> float:
    """The share of the messages that answer questions from which something was distilled."""
    owned = {message for view in views.values() for message in view.semantics_of}
    gold = {one for question in data.scorable for one in question.gold_ids}
    return len(gold & owned) / max(1, len(gold))


def _attaching(views: Sequence[Hierarchy]) -> dict[str, float]:
    """Milliseconds of one attach, with the split or the merge that it leads to: of two rounds the quicker, since
    what else the machine does is no part of it."""
    taken = [min(twice) for view in views for twice in zip(_attached(view), _attached(view), strict=True)]
    return {f"attach, ms, p{one}": float(np.percentile(taken, one)) for one in (50, 99, 100)}


def _attached(view: Hierarchy) -> list[float]:
    """Milliseconds of the attach of each semantic, one after another, with the look at what is near to it that follows
    each, and that for tiny themes."""
    taken, themes = [], ThemeClusters(Hierarchies(), next_key=1)
    for key, vector in zip(view.semantics, view.vectors, strict=True):
        began = time.thread_time()
        themes.attach(key, vector)
        themes.semantics.of(key)
        if themes.attached % 8 == 0:
            themes.merge_tiny()
        taken.append(1000.0 * (time.thread_time() - began))
    return taken


if __name__ == "__main__":
    main()
