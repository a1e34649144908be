"""Who says what an answer rests on, whether texts suffice, and which time one names? Chat models as judges."""

from adaptive_memory_core.models.chat import OpenAIChat
from adaptive_memory_core.models.judges import SufficiencyJudge, SupportJudge, TimeJudge

__all__ = ["OpenAIChat", "SufficiencyJudge", "SupportJudge", "TimeJudge"]
