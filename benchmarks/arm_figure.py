"""How do strengths move while a memory is used? A figure of ARM's profiles, drawn from real memories.

    python -m benchmarks.arm_figure --out figure.png

Left: the strength of one item that is read now and then until it is consolidated, and of one that is never read (cf.
Figure 2 of the paper, which is a sketch). Right: the remembered fraction, and the l2 norm of what is left of stale
strengths, while made-up needs recur and change half-way. No data are needed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
from adaptive_memory_core.reports import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PROFILES = ("balanced", "ultra_efficient", "broad_adaptation", "conservative", "aggressive")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000")  # told apart by the colour-blind (Okabe and Ito)
NOW_AND_THEN = 8  # queries between two that read the item on the left
TOPICS, ITEMS, RETURNED = 40, 3, 3
SAMPLES = 50  # points of a line on the right
Points = list[tuple[int, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("arm_dynamics.png"), help="where to write the PNG")
    parser.add_argument("--queries", type=int, default=100, help="on the left; on the right four times as many")
    parser.add_argument("--profiles", nargs="+", default=list(PROFILES), choices=PROFILES)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.queries < 1:
        parser.error(f"--queries is {arguments.queries}; it must be 1 or more")
    draw(arguments.out, arguments.profiles, queries=arguments.queries, seed=arguments.seed)
    print(f"written: {arguments.out.name}")


def draw(out: Path, profiles: Sequence[str], *, queries: int, seed: int) -> None:
    """Write the figure; `matplotlib` is needed for nothing else, so it is looked for here."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise SystemExit("The figure needs matplotlib: pip install matplotlib") from missing
    figure = Figure(figsize=(11, 4.8), layout="constrained")  # not pyplot's: no display is needed
    left, right = figure.subplots(1, 2)
    norms = right.twinx()
    for name, colour in zip(profiles, COLOURS, strict=False):
        read, unread = strengths(Policy.preset(name), queries)
        left.plot(*zip(*read, strict=True), color=colour, label=name)
        left.plot(*zip(*unread, strict=True), color=colour, linestyle="--")
        samples = fared(Policy.preset(name), 4 * queries, seed=seed)
        steps = [0, *(sample.step for sample in samples)]
        right.plot(steps, [0.0, *(sample.remembered_fraction for sample in samples)], color=colour)
        norms.plot(steps, [0.0, *(sample.strengths.stale_norm for sample in samples)], color=colour, linestyle="--")
    label(left, right, norms, drift=2 * queries)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, format="png", dpi=150)


def strengths(policy: Policy, queries: int) -> tuple[Points, Points]:
    """The strength after each query of an item that is read now and then, and of one that is not."""
    with opened(policy) as memory:
        user = memory.for_user("reader")
        user.remember_many([{"id": name, "text": f"{name} 0"} for name in ("read", "unread", "other")])
        lines: tuple[Points, Points] = ([(0, 1.0)], [(0, 1.0)])
        for query in range(1, queries + 1):
            user.recall("read 0" if query % NOW_AND_THEN == 0 else "other 0", k=1)
            for line, name in zip(lines, ("read", "unread"), strict=True):
                line.append((query, user.get(name).read.strength))
    return lines


def fared(policy: Policy, queries: int, *, seed: int) -> Sequence[Sample]:
    """The samples that the ledger took of a memory whose user's needs recur and, half-way, become others."""
    chance = random.Random(seed)
    topics = chance.sample(range(TOPICS), TOPICS)
    halves = (topics[: TOPICS // 3], topics[TOPICS // 3 : 2 * (TOPICS // 3)])
    every = max(1, queries // SAMPLES)
    with opened(policy, sample_recalls=every) as memory:
        user = memory.for_user("reader")
        user.remember_many([f"topic{topic} {item}" for topic in range(TOPICS) for item in range(ITEMS)])
        for query in range(1, queries + 1):
            needs = halves[0] if query <= queries // 2 else halves[1]
            (need,) = chance.choices(needs, [1 / rank for rank in range(1, len(needs) + 1)])
            user.recall(f"topic{need} {chance.randrange(ITEMS, 100)}", k=RETURNED)
            if query % every == 0:
                memory.flush()  # samples are taken with the write-back
        return user.history()


@contextmanager
def opened(policy: Policy, *, sample_recalls: int = 100) -> Iterator[AdaptiveMemory]:
    """A memory that lasts as long as it is looked at."""
    keeping = Keeping(log=False, lag_seconds=3600, sample_recalls=sample_recalls)
    with (
        tempfile.TemporaryDirectory() as folder,
        AdaptiveMemory.open(Path(folder) / "memory", embedder=made_up, policy=policy, keeping=keeping) as memory,
    ):
        yield memory


def made_up(texts: Sequence[str]) -> Any:
    """A direction for the first word of a text, and a bit of another for the whole: texts of one topic are alike."""
    rows = np.array([direction(text.split()[0]) + 0.6 * direction(text) for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def direction(name: str) -> Any:
    vector = np.random.default_rng(zlib.crc32(name.encode())).normal(size=64)
    return vector / np.linalg.norm(vector)


def label(left: Axes, right: Axes, norms: Axes, *, drift: int) -> None:
    left.set(xlabel="queries", ylabel="strength", ylim=(0, 1.05), title="Strength of two items")
    left.plot([], [], color="grey", label=f"read every {NOW_AND_THEN}th query")
    left.plot([], [], color="grey", linestyle="--", label="never read")
    right.set(xlabel="queries", ylabel="remembered fraction (solid)", ylim=(0, 1.05))
    right.set_title("A memory whose user's needs change half-way")
    right.axvline(drift, color="grey", linewidth=0.8)
    norms.set_ylabel("l2 norm of stale strengths (dashed)")
    norms.set_ylim(bottom=0)


if __name__ == "__main__":
    main()
