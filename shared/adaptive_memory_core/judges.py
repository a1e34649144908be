"""Chat models as judges and rerankers, for summaries, and in the roles of the hierarchy.

The roles create the episodes, semantics and themes of observed conversations (docs/guides/conversations.md).
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
