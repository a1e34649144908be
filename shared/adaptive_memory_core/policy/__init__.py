"""Which settings has a memory? `Policy`, and the groups of numbers that it is made of. The names here are public."""

from adaptive_memory_core.policy.asked_before import AskedBefore
from adaptive_memory_core.policy.copies import Copies
from adaptive_memory_core.policy.decay import Decay, Remembrance
from adaptive_memory_core.policy.exploration import Exploration
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.policy.gain import Gain
from adaptive_memory_core.policy.graph import Graphs
from adaptive_memory_core.policy.hierarchy import Hierarchies
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.policy.reading import Reading
from adaptive_memory_core.policy.rerank import Rerank
from adaptive_memory_core.policy.shape import Shapes
from adaptive_memory_core.policy.shown import Shown
from adaptive_memory_core.policy.spreads import Spreads
from adaptive_memory_core.policy.time_words import TimeWords
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.policy.usefulness import Usefulness
from adaptive_memory_core.policy.weights import Weights

__all__ = [
    "AskedBefore",
    "Copies",
    "Decay",
    "Exploration",
    "Fusion",
    "Gain",
    "Graphs",
    "Hierarchies",
    "Keeping",
    "Policy",
    "Reading",
    "Remembrance",
    "Rerank",
    "Shapes",
    "Shown",
    "Spreads",
    "TimeWords",
    "Updates",
    "Usefulness",
    "Weights",
]
