"""What can be read about a memory? Receipts, statistics, log, checks and the parts of an answer; all public."""

from adaptive_memory_core.records import Dropped, Hit, Neighbour
from adaptive_memory_core.reports.check import CheckReport, Finding
from adaptive_memory_core.reports.log import Change, LoggedCandidate, LoggedRecall
from adaptive_memory_core.reports.nothing_found import Calibration, Unrelated
from adaptive_memory_core.reports.receipts import PruneReceipt, Receipt, Restored
from adaptive_memory_core.reports.statistics import (
    BackgroundStats,
    ProjectionStats,
    Sample,
    Stats,
    Strengths,
    WriteBackProgress,
)

__all__ = [
    "BackgroundStats",
    "Calibration",
    "Change",
    "CheckReport",
    "Dropped",
    "Finding",
    "Hit",
    "LoggedCandidate",
    "LoggedRecall",
    "Neighbour",
    "ProjectionStats",
    "PruneReceipt",
    "Receipt",
    "Restored",
    "Sample",
    "Stats",
    "Strengths",
    "Unrelated",
    "WriteBackProgress",
]
