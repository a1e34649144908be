"""The settings of a memory: `Policy` and its groups of settings. The names here are public."""

from adaptive_memory_core.policy.advanced import Advanced, Fusion, Graphs, Hierarchies, Weights
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.learning import Decay, Learning, Remembrance
from adaptive_memory_core.policy.policy import Policy

__all__ = [
    "Advanced",
    "Decay",
    "Fusion",
    "Graphs",
    "Hierarchies",
    "Keeping",
    "Learning",
    "Policy",
    "Remembrance",
    "Weights",
]
