"""The graph of names, and the hierarchy of what is observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import SHARE, Range, check_choices, check_ranges, check_switches
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.unknown_names import tells_unknown_names

GraphForm = Literal["ours", "paper"]
Asks = Literal["always", "titled", "linked"]
LINKED_FROM = 0.2  # titles of others in a record, on average, from which records are linked; graph_everywhere.py
LEAST_ALIKE = 0.7  # how like each other two names are at least that are kept as alike


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Graphs:
    """What the channel "graph" does with the names in a query."""

    form: GraphForm = "ours"  # "ours" finds more; "paper": equations 2 to 13 of GAM-RAG, as in the preset "gam_rag"
    asks: Asks = "always"  # for all queries, those that name a title ("titled"), or these of linked records ("linked")
    weight: float = 2.0  # what the graph counts in the relevance, next to Fusion's weights; a sweep: docs/graph.md
    rounds: int = 3  # from names to sentences and back, at most; 2 is nearly as good; a sweep: docs/graph.md
    names_alike: float = (
        0.0  # likeness from which one name is taken for another; 0: off, as it costs time: docs/graph.md
    )
    process_noise: float = 0.001  # Q of the paper's form; it gives no number, and this one gives its activation ratios

    RANGES: ClassVar[dict[str, Range]] = {
        "weight": Range(0, 100),
        "rounds": Range(1, 5, whole=True),
        "names_alike": SHARE,
        "process_noise": Range(0, 1, above=True),
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"form": get_args(GraphForm), "asks": get_args(Asks)}

    def __post_init__(self) -> None:
        check_choices(self, self.CHOICES)
        check_ranges(self, self.RANGES)
        if 0.0 < self.names_alike < LEAST_ALIKE:
            raise PolicyError(
                f"Graphs(names_alike={shown(self.names_alike)}) is not allowed: below {LEAST_ALIKE} nothing is kept. "
                f"It must be 0 (no name is taken for another) or a number in [{LEAST_ALIKE}, 1]."
            )


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Hierarchies:
    """How messages that were observed become episodes and themes, and how "top_down" goes through them.

    Of the memory's own policy; that of a single call changes only the last three. "The paper" is xMemory's.
    """

    gap_minutes: float = 30.0  # minutes between two messages that end an episode; the paper
    episode_messages: int = 15  # messages of an episode, at most; the paper: 10 to 15
    theme_semantics: int = 12  # semantics of a theme; a larger one is split; the paper, and docs/hierarchy.md
    representatives: bool = True  # Stage I of the paper: representatives of themes; False: the most similar semantics
    expand: bool = True  # Stage II of the paper, if there is a reader: only episodes that make it less uncertain
    set_size: int = 30  # results for which a page has room if the question asks for a set; a sweep: docs/hierarchy.md

    RANGES: ClassVar[dict[str, Range]] = {
        "gap_minutes": Range(0, 1_000_000),
        "episode_messages": Range(2, 1_000, whole=True),
        "theme_semantics": Range(3, 1_000, whole=True),
        "set_size": Range(1, 1_000, whole=True),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_switches(self, ("representatives", "expand"))


HIERARCHY = "hierarchy"  # the lead, and the part of a score, of what the way down came to
AnswerShape = Literal["flat", "episodes", "top_down"]
