"""How does the graph propagate? The settings of the channel "graph"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import SHARE, Range, check_choices, check_ranges, check_switches
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.unknown_names import tells_unknown_names

Form = Literal["ours", "paper"]
Asks = Literal["always", "titled", "linked"]
LEAST_ALIKE = 0.7  # how like each other two names are at least that are kept as alike


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Graphs:
    """What the channel "graph" does with the names in a question; the defaults: docs/graph.md."""

    form: Form = "ours"  # "ours", or "paper": equations 3 to 9 of GAM-RAG as they stand
    asks: Asks = "always"  # for which questions: all, those that name a title, or such of users with linked records
    links: float = 0.2  # titles of others in a record, on average, from which they are; benchmarks/graph_everywhere.py
    weight: float = 2.0  # what it counts in the relevance, beside Fusion's weights; a sweep: docs/graph.md
    rounds: int = 3  # from names to sentences and back, at most; 2 is nearly as good; a sweep: docs/graph.md
    sentences: int = 3  # that a round activates, and the best of each name that these leave out; the paper
    names: int = 20  # that a round goes on with; 8 loses .02, the paper has 5; a sweep: docs/graph.md
    rare: float = 2.0  # power of how rare a name is; 1 is as good, 0 loses .027; a sweep: docs/graph.md
    title: float = 0.3  # for a passage titled by a name in the question; a sweep: docs/graph.md
    title_edge: float = 1.0  # more for sentences below the title that a name is; a sweep: docs/graph.md
    seed: float = 0.6  # that sentences of passages found by other channels receive in round 1; a sweep: docs/graph.md
    unlike: float = 0.1  # weight of a sentence that says nothing of the question; 0 to 0.2 are alike: docs/graph.md
    nameless: float = 0.2  # share of `weight` for a question without names; guess
    spoken: float = 0.1  # share of what it says of a record that is said in a conversation; a sweep: docs/graph.md
    time_memory: bool = False  # whether the paper's form has its time memory as well; benchmarks/asked_again.py
    lift: float = 1.0  # more for sentences of records that answered such questions, as far as they are trusted; guess
    names_alike: float = 0.0  # how like another name must be to be taken for it; 0: none is; docs/graph.md
    reach: int = 1_000  # sentences that a round looks at, those of rare names first; a sweep: docs/graph.md

    RANGES: ClassVar[dict[str, Range]] = {
        "links": Range(0, 100, above=True),
        "weight": Range(0, 100),
        "rounds": Range(1, 5, whole=True),
        "sentences": Range(1, 100, whole=True),
        "names": Range(1, 100, whole=True),
        "rare": Range(0, 10),
        "title": Range(0, 10),
        "title_edge": Range(0, 10),
        "seed": Range(0, 10),
        "unlike": SHARE,
        "nameless": SHARE,
        "spoken": SHARE,
        "lift": Range(0, 10),
        "names_alike": SHARE,
        "reach": Range(10, 1_000_000, whole=True),
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"form": get_args(Form), "asks": get_args(Asks)}

    def __post_init__(self) -> None:
        check_choices(self, self.CHOICES)
        check_ranges(self, self.RANGES)
        check_switches(self, ("time_memory",))
        if 0.0 < self.names_alike < LEAST_ALIKE:
            raise PolicyError(
                f"Graphs(names_alike={shown(self.names_alike)}) is not allowed: below {LEAST_ALIKE} nothing is kept. "
                f"It must be 0 (no name is taken for another) or a number in [{LEAST_ALIKE}, 1]."
            )
