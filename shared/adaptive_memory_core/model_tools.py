"""What is a model told of a memory's tools, what may it give them, and what does it read when they fail?"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

RECALL = "Look up what is remembered about the user. Use it when the answer may depend on what they said or did before."
REMEMBER = "Remember something about the user for later conversations: one fact, in words that stand on their own."
FORGET = "Forget a memory for good, when the user asks for that. It needs the id that a look-up showed."
NOTHING = "Nothing that is remembered matches."
OUT_OF_ORDER = "The memory cannot be used at the moment. Go on without it."
OnError = Literal["warn", "raise"]


class RecallInput(BaseModel):
    """What the model says to recall."""

    query: str = Field(description="what to look for, in a few words")


class RememberInput(BaseModel):
    """What the model says to remember."""

    text: str = Field(description="the fact, in words that can be understood without this conversation")
    importance: float = Field(default=0.5, description="from 0, trivial, to 1, vital")
    replaces: str | None = Field(
        default=None, description="the id of a memory that is no longer true, if this corrects it"
    )


class ForgetInput(BaseModel):
    """What the model says to forget."""

    memory_id: str = Field(description="the id of the memory, as it was shown")


def remembered(record_id: str) -> str:
    """What the model reads after it remembered something."""
    return f"Remembered, as {record_id}."


def forgotten(record_id: str) -> str:
    """What the model reads after it forgot something."""
    return f"Forgotten: {record_id}."
