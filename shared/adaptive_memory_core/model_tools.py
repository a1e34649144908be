"""Descriptions, arguments and replies of a memory's tools for a model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

RECALL = (
    "Search what you were told earlier about the user and their work. Use it before you answer or act, whenever that "
    "may depend on what they said, decided or did before."
)
REMEMBER = (
    "Keep one fact about the user or their work for later conversations, in words that can be understood alone. A text "
    "that is kept already is not kept twice."
)
FORGET = "Delete a memory for good, when the user asks for that. It needs the id that a search showed."
NOTHING = "Nothing that is remembered matches."
OUT_OF_ORDER = "The memory cannot be used at the moment. Go on without it."
OnError = Literal["warn", "raise"]


class RecallInput(BaseModel):
    """The model's arguments for a recall."""

    query: str = Field(description="what to look for: a question, or a few words")


class RememberInput(BaseModel):
    """The model's arguments for storing a memory."""

    text: str = Field(description="the fact, in words that can be understood without this conversation")
    importance: float = Field(default=0.5, description="from 0, trivial, to 1, vital")
    replaces: str | None = Field(
        default=None, description="the id of a memory that is no longer true, if this corrects it"
    )


class ForgetInput(BaseModel):
    """The model's arguments for forgetting a memory."""

    memory_id: str = Field(description="the id of the memory, as it was shown")


def remembered_message(record_id: str) -> str:
    """The reply to the model after a memory was stored."""
    return f"Remembered, as {record_id}."


def forgotten(record_id: str) -> str:
    """The reply to the model after a memory was forgotten."""
    return f"Forgotten: {record_id}."
