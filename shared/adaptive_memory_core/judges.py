"""Who says what an answer rests on, whether texts suffice, and which time one names? Chat models as judges."""

from adaptive_memory_core.models.chat import OpenAIChat
from adaptive_memory_core.models.judges import SufficiencyJudge, SupportJudge, TimeJudge
from adaptive_memory_core.models.openai_reader import OpenAIReader

__all__ = ["OpenAIChat", "OpenAIReader", "SufficiencyJudge", "SupportJudge", "TimeJudge"]
