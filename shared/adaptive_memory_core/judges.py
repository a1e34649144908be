"""Who says what an answer rests on, whether texts suffice, what matters, and what to keep of a conversation?

Chat models as judges, as rerankers, for summaries, and in the roles that the hierarchy of what was observed has.
"""

from adaptive_memory_core.flow.ports.roles import Roles
from adaptive_memory_core.models.chat_reranker import ChatReranker
from adaptive_memory_core.models.hierarchy_roles import (
    ChatBoundary,
    ChatEpisode,
    ChatSemantics,
    ChatThemeName,
    chat_roles,
)
from adaptive_memory_core.models.judges import SufficiencyJudge, SupportJudge, TimeJudge
from adaptive_memory_core.models.openai_chat import OpenAIChat
from adaptive_memory_core.models.openai_reader import OpenAIReader
from adaptive_memory_core.models.salience import SalienceJudge
from adaptive_memory_core.models.summary import ChatSummary

__all__ = [
    "ChatBoundary",
    "ChatEpisode",
    "ChatReranker",
    "ChatSemantics",
    "ChatSummary",
    "ChatThemeName",
    "OpenAIChat",
    "OpenAIReader",
    "Roles",
    "SalienceJudge",
    "SufficiencyJudge",
    "SupportJudge",
    "TimeJudge",
    "chat_roles",
]
