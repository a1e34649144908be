"""What do forgetting, pruning and restoring report? A receipt each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `forget` removed, and what it cannot reach. `derived` are the ids of records that were derived from it: they
    are still there and no longer returned."""

    id: str
    collection: bool
    ledger: bool
    log_entries: int
    verdicts: int
    note: str = (
        "Chroma keeps the text of a deleted record in its own files until it purges its queue; "
        "`chroma vacuum --path DIR` does that at once. Its index keeps the vector until it is made anew: "
        "`AdaptiveMemory.repair(DIR, anew=True)`. The ledger's write-ahead log keeps traces until the next `flush()`. "
        "Words of a cue that asked for it stay in the log until its "
        "retention ends. Copies and backups are out of reach."
    )
    derived: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of restoring a state: how many records took theirs, and the ids that nothing here stands for."""

    records: int
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PruneReceipt:
    """What `prune` removed (or, in a dry run, would remove).

    `kept` records were looked at and are still strong enough, `vanished` ones had been deleted by others before. Where
    `limit` ended the work, `complete` is False: call again.
    """

    ids: tuple[str, ...]
    below: float | None
    dry_run: bool
    kept: int
    vanished: int
    complete: bool

    def __len__(self) -> int:
        return len(self.ids)
