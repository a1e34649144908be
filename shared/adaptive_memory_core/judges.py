"""Who says what an answer rests on, whether texts suffice, which time one names, and what to keep of a conversation?

Chat models as judges, and in the roles that the hierarchy of what was observed has for them.
"""

from adaptive_memory_core.flow.ports.roles import Roles
from adaptive_memory_core.models.chat import OpenAIChat
from adaptive_memory_core.models.hierarchy_roles import (
    ChatBoundary,
    ChatEpisode,
    ChatSemantics,
    ChatThemeName,
    chat_roles,
)
from adaptive_memory_core.models.judges import SufficiencyJudge, SupportJudge, TimeJudge
from adaptive_memory_core.models.openai_reader import OpenAIReader

__all__ = [
    "ChatBoundary",
    "ChatEpisode",
    "ChatSemantics",
    "ChatThemeName",
    "OpenAIChat",
    "OpenAIReader",
    "Roles",
    "SufficiencyJudge",
    "SupportJudge",
    "TimeJudge",
    "chat_roles",
]
