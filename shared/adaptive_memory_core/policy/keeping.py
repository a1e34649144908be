"""`Keeping`: settings of the ledger and the write-back, such as retention, batches, waiting times and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from adaptive_memory_core.error_messages import tells_unknown_names
from adaptive_memory_core.ranges import POSITIVE, SHARE, Range, check_choices, check_ranges, check_switches


@tells_unknown_names()
@dataclass(frozen=True, slots=True)
class Keeping:
    """Settings of the ledger and of the write-back into the collection."""

    lag_seconds: float = 5.0  # seconds until a change is in the collection; measured: few, large batches are cheap
    stall_ms: float = 20.0  # milliseconds a write of over 50 records may take; measured: benchmarks/write_back_waits
    queue_limit: int = 5_000  # records waiting before the lag is cut short
    batch: int = 500  # records per write, at most; measured: 200 to 500
    log: bool = True  # keep the log of recalls
    log_days: float = 30.0  # days a recall stays in the log
    log_recalls: int = 100_000  # recalls of one user that stay in the log
    sample_recalls: int = 100  # recalls of one user between two samples of the memory's quality
    durability: Literal["normal", "full"] = "normal"  # "full" survives a power cut: each write waits for an fsync
    wait_seconds: float = 30.0  # seconds that one call waits, in all, for other writers of the ledger; then it fails
    count_seconds: float = 5.0  # seconds that a recall waits to be counted; then it answers uncounted; guess
    cue_characters: int = 20_000  # characters of a query that are read; a longer one is cut in the middle; guess
    cue_word_characters: int = 2_000  # characters of a query in which words, names and times are looked for; guess
    text_characters: int = 2_000_000  # characters that a record's text may have; a longer one is refused; guess
    mask_secrets: bool = False  # replace keys, tokens and passwords in known formats before anything is stored
    copy_limit: int = 500_000  # records up to which a collection is copied into the ledger; 0 = never; guess
    mirror_records: int = 100_000  # records of a user up to which recalls compare vectors in RAM; 0 = never; speed.md
    mirror_megabytes: float = 256.0  # megabytes of vectors in RAM, for the users with the latest recalls; guess
    file_records: int = 2_000  # records of a user from which vectors and words are in files; 0 = never; fast_path.py
    others_seen_seconds: float = 2.0  # seconds until other programs' changes of the collection are noticed; guess
    prune_unread_days: float = 0.0  # days without a read after which a record is removed automatically; 0 = never
    prune_max_records: int = 0  # records of a user above which the weakest are removed automatically; 0 = any number
    prune_below: float = 0.0  # strength in [0, 1] below which a record is removed automatically; 0 = never
    prune_hours: float = 24.0  # hours between two such removals, in the background; guess

    RANGES: ClassVar[dict[str, Range]] = {
        "lag_seconds": Range(0.01, 3600),
        "stall_ms": Range(1, 60_000),
        "queue_limit": Range(1, 1_000_000, whole=True),
        "batch": Range(1, 5_000, whole=True),
        "log_days": POSITIVE,
        "log_recalls": Range(1, whole=True),
        "sample_recalls": Range(1, whole=True),
        "wait_seconds": Range(0.0, 3600),
        "count_seconds": Range(0.0, 3600),
        "cue_characters": Range(100, 10_000_000, whole=True),
        "cue_word_characters": Range(100, 10_000_000, whole=True),
        "text_characters": Range(100, 100_000_000, whole=True),
        "copy_limit": Range(0, 1_000_000_000, whole=True),
        "mirror_records": Range(0, 10_000_000, whole=True),
        "mirror_megabytes": POSITIVE,
        "file_records": Range(0, 10_000_000, whole=True),
        "others_seen_seconds": Range(0.01, 3600),
        "prune_unread_days": Range(0.0),
        "prune_max_records": Range(0, whole=True),
        "prune_below": SHARE,
        "prune_hours": POSITIVE,
    }
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"durability": ("normal", "full")}

    def __post_init__(self) -> None:
        check_ranges(self, self.RANGES)
        check_choices(self, self.CHOICES)
        check_switches(self, ("mask_secrets",))

    @property
    def prunes(self) -> bool:
        """Whether records are removed automatically.

        >>> Keeping().prunes, Keeping(prune_max_records=10_000).prunes
        (False, True)
        """
        return self.prune_unread_days > 0.0 or self.prune_max_records > 0 or self.prune_below > 0.0
