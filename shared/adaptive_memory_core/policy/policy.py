"""`Policy`: the settings of ranking and learning, each with its unit, its range and the reason for its default."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from adaptive_memory_core.error_messages import places_within, reason, tells_unknown_names
from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.frozen import HashedOnce, computed_once
from adaptive_memory_core.policy.advanced import (
    GRAPH,
    HIERARCHY,
    LINKED_FROM,
    MEASURED_WEIGHTS,
    OURS,
    Advanced,
    AnswerShape,
    Blend,
    Weights,
    check_channels,
)
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.learning import Decay, DecayPace, Learning
from adaptive_memory_core.policy.presets import fields_of, preset_settings, read_policy, write_policy
from adaptive_memory_core.ranges import (
    POSITIVE,
    SHARE,
    Range,
    check_choices,
    check_groups,
    check_ranges,
    check_switches,
)

TimeWords = Literal["rank", "filter", "off"]
Auto = Literal["auto"]
OF_THE_MEMORY = ("keeping", "fields", "embedder", "ledger", "clock", "reranker", "languages")  # arguments of the memory
HIERARCHY_WEIGHT = 2.0  # of the hierarchy's finds in the relevance, next to Fusion's weights; guess


def _elsewhere(name: str) -> str | None:
    """The code for a setting that does not belong to a policy; None for unknown names."""
    if name in OF_THE_MEMORY:
        return f"AdaptiveMemory(..., {name}=...)"
    return f"AdaptiveMemory(..., keeping=Keeping({name}=...))" if name in Keeping.__dataclass_fields__ else None


@tells_unknown_names(_elsewhere)
@dataclass(frozen=True, slots=True)
class Policy(HashedOnce):
    """How recalls rank and what reads change. Frozen and checked once; `replace` returns a changed copy.

    Sources: "the article" is the one on retrieval policies (Generative Agents' score), "ARM" the paper on selective
    remembrance; files are benchmarks and pages of this project, and a "guess" was not measured.

    >>> Policy().replace(half_life_days=7).half_life_days
    7.0
    >>> Policy(half_life_days=-1)
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.PolicyError: Policy(half_life_days=-1) is not allowed. It must be a number above 0.
    """

    weights: Weights = MEASURED_WEIGHTS  # how much each signal counts; only the ratios matter
    channels: tuple[str, ...] | Auto = (
        "auto"  # "dense", "lexical", "graph", your own; "auto": vectors and words, and the graph of linked records
    )
    recall_k: int = 20  # candidates per channel, at least k; the article: 20 to 50
    half_life_days: float = 14.0  # days until recency is 0.5; the article: 7 to 30
    refresh_floor_seconds: float = 60.0  # seconds between two reads that count; the article: 30 to 120
    reads_before_refresh: int = 1  # counted reads before recency changes; 2 is LRU-2, against scans; the article: 1
    min_score: float = 0.0  # score below which a result is dropped; 0: off, as a good value depends on the data
    min_similarity: float = 0.0  # cosine below which a result is dropped; 0: off, as each embedder has its own scale
    diversity: float = 0.0  # 1 - lambda of MMR: weight of the similarity to better results; 0: off; benchmarks/units.py
    time_words: TimeWords = "rank"  # "last week" or "now" in a query: "rank" by it, "filter" by it; asked_time.py
    newest_first: bool = True  # whether the newest of contradicting facts comes first; benchmarks/updates.py
    decay: Decay = Decay()  # how unread records lose strength; off, as it loses recall: docs/background/ranking.md
    shape: AnswerShape = "flat"  # results alone, in "episodes", or "top_down" from themes; docs/guides/conversations.md
    learning: Learning = Learning()  # what feedback and reads change
    advanced: Advanced = Advanced()  # settings that few users change

    RANGES: ClassVar[dict[str, Range]] = {
        "recall_k": Range(1, 10_000, whole=True),
        "half_life_days": POSITIVE,
        "refresh_floor_seconds": Range(0),
        "reads_before_refresh": Range(1, 100, whole=True),
        "min_score": SHARE,
        "min_similarity": SHARE,
        "diversity": SHARE,
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "time_words": get_args(TimeWords),
        "shape": get_args(AnswerShape),
    }

    def __post_init__(self) -> None:
        if isinstance(self.shape, Mapping):
            shape, advanced = _shaped(self.shape, self.advanced)
            object.__setattr__(self, "shape", shape)
            object.__setattr__(self, "advanced", advanced)
        check_ranges(self, self.RANGES)
        check_choices(self, self.CHOICES)
        check_switches(self, ("newest_first",))
        check_groups(self)
        check_channels(self.channels)

    __hash__ = HashedOnce.__hash__

    def replace(self, **changes: Any) -> Policy:
        """A copy with these fields changed; a mapping changes only the named fields of a group.

        >>> Policy.preset("balanced").replace(decay={"rate": 0.9}).decay.grace
        5.0
        """
        return replace(self, **checked_changes(self, changes))

    @staticmethod
    def preset(name: str) -> Policy:
        """A named policy.

        >>> Policy.preset("support").weights.importance
        1.5
        """
        return Policy(**preset_settings(name))

    def suited(self, *, links: float = 0.0) -> Policy:
        """The policy with "auto" replaced by vectors and words. If a record mentions `LINKED_FROM` titles of others on
        average, the graph is added for questions that mention a title.

        >>> Policy().suited().channels, Policy().suited(links=0.6).channels
        (('dense', 'lexical'), ('dense', 'lexical', 'graph'))
        >>> Policy(channels=("dense",)).suited().channels
        ('dense',)
        """
        if self.channels != "auto":
            return self
        return self.linked if links >= LINKED_FROM else self.unlinked

    @computed_once
    def unlinked(self) -> Policy:
        """The policy with "auto" replaced for records that do not mention each other's titles."""
        return replace(self, channels=("dense", "lexical"))

    @computed_once
    def linked(self) -> Policy:
        """The policy with "auto" replaced for records that mention each other's titles."""
        return self.replace(channels=("dense", "lexical", "graph"), advanced={"graph": {"asks": "linked"}})

    @computed_once
    def ways(self) -> tuple[str, ...]:
        """The channels to call; vectors alone if "auto" has not been replaced, e.g. to rank given candidates."""
        return ("dense",) if self.channels == "auto" else self.channels

    @computed_once
    def blending(self) -> Blend:
        """The method of combining signals; with custom weights a weighted sum, unless `advanced.blend` is set."""
        if self.advanced.blend != "auto":
            return self.advanced.blend
        return "bounded" if self.weights == MEASURED_WEIGHTS else "sum"

    @computed_once
    def own_weights(self) -> Mapping[str, float]:
        """The weights of the caller's channels (1, like the vectors, if not given), the graph and the hierarchy."""
        given = dict(self.advanced.channel_weights)
        graph = {GRAPH: self.advanced.graph.weight} if GRAPH in self.ways else {}
        down = {HIERARCHY: HIERARCHY_WEIGHT} if self.shape == "top_down" else {}
        return {**{name: given.get(name, 1.0) for name in self.ways if name not in OURS}, **graph, **down}

    @computed_once
    def pace(self) -> DecayPace:
        """The decay of unread records under this policy."""
        return self.decay.pace

    @computed_once
    def hash(self) -> str:
        """A hash of the policy, for the log."""
        return hashlib.blake2b(self.json.encode(), digest_size=8).hexdigest()

    @computed_once
    def json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    def save(self, path: str | Path) -> None:
        """Write the policy to a file that `load` reads; a failure leaves the old file."""
        write_policy(path, self.to_json())

    @staticmethod
    def load(path: str | Path) -> Policy:
        """The policy in a file that `save` wrote."""
        return Policy.from_json(read_policy(path))

    def to_json(self) -> str:
        return self.json

    @staticmethod
    def from_json(text: str) -> Policy:
        """The policy in a text that `to_json` wrote; unknown fields, of a newer version, are left out."""
        try:
            return Policy(**fields_of(text, Policy))
        except PolicyError:
            raise
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:  # not like a policy
            raise PolicyError(
                f"The policy cannot be read: {reason(error)}. Give what Policy.to_json() wrote."
            ) from error


def _shaped(given: Mapping[str, Any], advanced: Advanced) -> tuple[Any, Advanced]:
    """The shape and the changed settings from a `shape` given as a mapping. Without a `form`, the settings imply it.

    >>> shape, advanced = _shaped({"expand": False}, Advanced())
    >>> shape, advanced.hierarchy.expand
    ('top_down', False)
    """
    settings = dict(given)
    form = settings.pop("form", "episodes" if settings.keys() == {"set_size"} else "top_down")
    return form, replace(
        advanced, hierarchy=replace(advanced.hierarchy, **checked_changes(advanced.hierarchy, settings))
    )


def checked_changes(owner: Any, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes with whole groups instead of mappings, or a PolicyError that lists the existing fields."""
    known = [field.name for field in fields(owner)]
    unknown = sorted(set(changes) - set(known))
    if unknown:
        groups = places_within(type(owner))
        places = "".join(f" {one} belongs in {groups[one]}." for one in unknown if one in groups)
        raise PolicyError(
            f"{type(owner).__name__} has no {', '.join(unknown)}.{places} Its fields are: {', '.join(known)}."
        )
    return {name: _whole(getattr(owner, name), given) for name, given in changes.items()}


def _whole(now: Any, given: Any) -> Any:
    is_group = is_dataclass(now) and not isinstance(now, type)
    return replace(now, **checked_changes(now, given)) if is_group and isinstance(given, Mapping) else given
