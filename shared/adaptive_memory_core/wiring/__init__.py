"""How are the parts of a memory put together? Ports over a collection, or over its mirror, as the options say."""

from adaptive_memory_core.wiring.common import OpenRequest, check_options
from adaptive_memory_core.wiring.open_memory import opened, repaired

__all__ = ["OpenRequest", "check_options", "opened", "repaired"]
