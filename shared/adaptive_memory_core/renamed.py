"""What happens when an old public name is used? It works for one version, with a warning that names the new place."""

from __future__ import annotations

import warnings

_ERRORS = (
    *("ClosedError", "DamagedLedgerError", "DamagedStoreError", "EmbedderError", "EmbedderMismatchError"),
    *("FilterError", "LedgerError", "LedgerVersionError", "MissingExtraError", "PartialWriteError", "RerankerError"),
    *("StoreError", "StoreInUseError"),
)
_POLICY = ("Fusion", "Remembrance", "Usefulness")
_REPORTS = (
    *("Calibration", "Change", "CheckReport", "Dropped", "Finding", "Hit", "LoggedCandidate", "LoggedRecall"),
    *("Neighbour", "ProjectionStats", "PruneReceipt", "Receipt", "Restored", "Sample", "Stats", "Strengths"),
    "Unrelated",
)
PLACES_OF_TOP_NAMES = {  # of the package, in the version before; by the module that has them now
    **dict.fromkeys(_ERRORS, "errors"),
    **dict.fromkeys(_POLICY, "policy"),
    **dict.fromkeys(_REPORTS, "reports"),
}


def warn_renamed(old: str, new: str, *, stacklevel: int = 2) -> None:
    """A DeprecationWarning with the new place, for the line that used the old name."""
    warnings.warn(
        f"adaptive-memory-retrieval: {old} is {new} now; the old name goes with the next version.",
        DeprecationWarning,
        stacklevel=stacklevel + 1,
    )
