"""Which shape does an answer have? Single hits, episodes with what belongs to them, or a walk down the hierarchy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy.ranges import SHARE, Range, check_choices, check_ranges, check_switches
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.unknown_names import tells_unknown_names

HIERARCHY = "hierarchy"  # the lead, and the part of a score, of what the way down came to
Form = Literal["flat", "episodes", "top_down"]


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Shapes:
    """How the hits of a recall are chosen and put together.

    "flat": single hits. "episodes": hits with the turns around the first one and the questions that the next ones
    answer, those of one session in one block, under the themes that it is about. "top_down": the paper's way (xMemory),
    for use with a `reader`: themes, then semantics, then their episodes as far as they make the reader less uncertain,
    each in a block of its own. Where nothing was observed, blocks have no themes, and "top_down" finds what "flat"
    does.

    >>> Shapes("episodes").form
    'episodes'
    """

    form: Form = "flat"  # the measures of each: docs/hierarchy.md
    join: float = 0.3  # share of a block's best score that a hit of its session needs to join it; docs/hierarchy.md
    longest_beside: int = 400  # characters of a turn that is shown beside a hit; long replies push evidence out
    headings: bool = True  # whether a block says which theme and episode it is of
    set_size: int = 30  # hits, and what comes after them, that a page shows where a set is asked for; docs/hierarchy.md
    cover: float = 0.1  # how much less one more of a session counts in a set, for each that is shown; docs/hierarchy.md
    representatives: bool = True  # Stage I: representatives of themes and semantics; else the most similar semantics
    alpha: float = 0.2  # what covering neighbours counts in Stage I, beside similarity; .05 to .2 is flat, .5 loses
    alike: float = 0.5  # cosine from which on a representative covers a neighbour; at 0 Stage I ends too soon
    covered: float = 1.0  # share of the candidates that representatives cover before Stage I ends; guess
    candidates: int = 60  # semantics that are looked at, the most similar; guess
    themes: int = 12  # representatives among the themes, at most; guess
    semantics: int = 24  # representatives among the semantics, at most; guess
    weight: float = 2.0  # what the way down the hierarchy counts in the relevance, beside Fusion's weights; guess
    expand: bool = True  # Stage II: episodes only as far as they help the reader, where there is one
    episode_drop: float = 0.02  # nats a token by which an episode must make the reader less uncertain; guess
    message_drop: float = 0.02  # nats a token by which its messages must, beside its summary; guess
    patience: int = 2  # episodes in a row that may fail to, before the reader is not asked any more; guess
    timeout_seconds: float = 0.0  # seconds after which a reader that has not answered is left out; 0 = wait for it

    RANGES: ClassVar[dict[str, Range]] = {
        "join": SHARE,
        "longest_beside": Range(0, 1_000_000, whole=True),
        "set_size": Range(1, 1_000, whole=True),
        "cover": Range(0, 10),
        "alpha": SHARE,
        "alike": SHARE,
        "covered": SHARE,
        "candidates": Range(1, 10_000, whole=True),
        "themes": Range(1, 1_000, whole=True),
        "semantics": Range(1, 1_000, whole=True),
        "weight": Range(0, 100),
        "episode_drop": Range(0, 100),
        "message_drop": Range(0, 100),
        "patience": Range(1, 100, whole=True),
        "timeout_seconds": Range(0, 3600),
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"form": get_args(Form)}

    def __post_init__(self) -> None:
        check_choices(self, self.CHOICES)
        check_ranges(self, self.RANGES)
        check_switches(self, ("headings", "representatives", "expand"))

    def joining(self, usual: float) -> float:
        """The share of a block's best score that a hit needs to stand in it; `usual` is that of single hits."""
        return usual if self.form == "flat" else self.join


def shape_of(given: Any) -> Shapes:
    """Shapes, or those of a form by its name.

    >>> shape_of("top_down").form
    'top_down'
    """
    if isinstance(given, Shapes):
        return given
    if isinstance(given, str) and given in get_args(Form):
        return Shapes(form=given)  # type: ignore[arg-type] # one of the forms
    raise PolicyError(
        f"Policy(shape={shown(given)}) is not allowed. Give Shapes(...), 'flat', 'episodes' or 'top_down'."
    )
