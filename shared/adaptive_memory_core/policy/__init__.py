"""The settings of a memory: `Policy`, and the groups of numbers that it is made of. The names here are public."""

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
