"""How is the hierarchy grown from what is observed? Where episodes end, what is distilled, and how large themes are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaptive_memory_core.policy.ranges import SHARE, Range, check_ranges
from adaptive_memory_core.unknown_names import tells_unknown_names


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Hierarchies:
    """How messages that were observed become episodes, semantics and themes; the memory's policy counts, not a call's.

    "the paper" is xMemory's; the other defaults: docs/hierarchy.md.
    """

    gap_minutes: float = 30.0  # between two messages, that end an episode; the paper
    longest: int = 15  # messages of an episode; the paper: 10 to 15
    characters: int = 4_000  # of an episode, from which on the next message begins another; guess
    shortest: int = 2  # messages that an episode has before a change of topic can end it; a sweep: docs/hierarchy.md
    topic: float = (
        0.35  # share of the way from unrelated to equal, below which vectors speak of another topic; docs/hierarchy.md
    )
    topic_words: float = 0.2  # share of words in common, up to which words speak of another topic; docs/hierarchy.md
    semantics: int = 5  # sentences distilled from an episode; fewer of a short one; a sweep: docs/hierarchy.md
    attach: float = 0.15  # share of the way from unrelated to equal, from which on a theme takes a semantic; guess
    cap: int = 12  # semantics of a theme; above it the theme is split; the paper
    tiny: int = 1  # semantics up to which a theme is merged once it has not grown; guess
    patience: int = 40  # semantics that come in elsewhere before a tiny theme is merged; guess
    merge: float = 0.0  # share of the way from unrelated to equal, from which on a tiny theme goes into another; guess
    candidates: int = 5  # nearest themes that a tiny one may go into; guess
    neighbours: int = 8  # nearest nodes that each theme and each semantic is linked to; guess

    RANGES: ClassVar[dict[str, Range]] = {
        "gap_minutes": Range(0, 1_000_000),
        "longest": Range(2, 1_000, whole=True),
        "characters": Range(100, 10_000_000, whole=True),
        "shortest": Range(1, 1_000, whole=True),
        "topic": SHARE,
        "topic_words": SHARE,
        "semantics": Range(1, 100, whole=True),
        "attach": SHARE,
        "cap": Range(3, 1_000, whole=True),
        "tiny": Range(0, 10, whole=True),
        "patience": Range(1, 1_000_000, whole=True),
        "merge": SHARE,
        "candidates": Range(1, 100, whole=True),
        "neighbours": Range(3, 100, whole=True),
    }

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
