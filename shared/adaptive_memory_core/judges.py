"""Who says what an answer rests on, whether texts suffice, what matters, and what to keep of a conversation?

Chat models as judges, as rerankers, for summaries, and in the roles that the hierarchy of what was observed has.
"""

from adaptive_memory_core.flow.ports.models import Roles
from adaptive_memory_core.models.hierarchy_roles import (
    ChatBoundary,
    ChatEpisode,
    ChatSemantics,
    ChatThemeName,
    chat_roles,
)
from adaptive_memory_core.models.judges import (
    ChatReranker,
    ChatSummary,
    Judge,
    SalienceJudge,
    SufficiencyJudge,
    SupportJudge,
    TimeJudge,
)
from adaptive_memory_core.models.openai import OpenAIChat, OpenAIReader

__all__ = [
    "ChatBoundary",
    "ChatEpisode",
    "ChatReranker",
    "ChatSemantics",
    "ChatSummary",
    "ChatThemeName",
    "Judge",
    "OpenAIChat",
    "OpenAIReader",
    "Roles",
    "SalienceJudge",
    "SufficiencyJudge",
    "SupportJudge",
    "TimeJudge",
    "chat_roles",
]
