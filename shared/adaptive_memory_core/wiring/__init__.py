"""Construction of a memory's parts from its options, over a collection or over the ledger's copy of it."""

from adaptive_memory_core.wiring.common import OpenRequest, check_options
from adaptive_memory_core.wiring.open_memory import opened, repaired

__all__ = ["OpenRequest", "check_options", "opened", "repaired"]
