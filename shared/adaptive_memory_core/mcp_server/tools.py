"""The six tools that a client sees, each with the schemas of what it takes and gives, and what it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel, Field

from adaptive_memory_core import model_tools as told

RECALL_ONLY_LOOKS = "Look up what is remembered about the user, without a trace: nothing counts as read."


class ToolAnswer(BaseModel):
    """What every tool answers."""

    text: str = Field(description="the answer in words, as the content has it")


class RecallAnswer(ToolAnswer):
    """What recall answers."""

    recall_id: str | None = Field(description="the id to give feedback by; null where nothing was logged")
    ids: list[str] = Field(description="the ids of the memories that were found, best first")


class RememberAnswer(ToolAnswer):
    """What remember answers."""

    id: str = Field(description="the new memory's id")


class FeedbackAnswer(ToolAnswer):
    """What feedback answers."""

    new_verdicts: int = Field(description="how many verdicts were new")


class ForgetAnswer(ToolAnswer):
    """What forget answers."""

    id: str = Field(description="the id of what is gone")


class RecentAnswer(ToolAnswer):
    """What recent answers."""

    ids: list[str] = Field(description="the ids of the memories, newest first")


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """One tool: what it is for, takes, gives and changes. `again` says that calling it twice is as good as once."""

    title: str
    description: str
    takes: type[BaseModel]
    gives: type[ToolAnswer]
    writes: bool = True
    destroys: bool = False
    again: bool = False


OFFERS: Mapping[str, OfferedTool] = {
    "remember": OfferedTool("Remember", told.REMEMBER, told.RememberInput, RememberAnswer),
    "recall": OfferedTool("Recall", told.RECALL, told.RecallInput, RecallAnswer),
    "explain": OfferedTool("Explain a recall", told.EXPLAIN, told.ExplainInput, ToolAnswer, writes=False, again=True),
    "feedback": OfferedTool("Give feedback", told.FEEDBACK, told.FeedbackInput, FeedbackAnswer, again=True),
    "forget": OfferedTool("Forget", told.FORGET, told.ForgetInput, ForgetAnswer, destroys=True, again=True),
    "recent": OfferedTool("Newest memories", told.RECENT, told.RecentInput, RecentAnswer, writes=False, again=True),
}
LOOKING: Mapping[str, OfferedTool] = {
    "recall": OfferedTool("Recall", RECALL_ONLY_LOOKS, told.RecallInput, RecallAnswer, writes=False, again=True),
    **{name: one for name, one in OFFERS.items() if not one.writes},
}


def offered(*, read_only: bool) -> Mapping[str, OfferedTool]:
    """The tools of a server; those of one that only looks change nothing at all."""
    return LOOKING if read_only else OFFERS


def listed(offers: Mapping[str, OfferedTool]) -> list[Tool]:
    """The tools as a client is told of them."""
    return [
        Tool(
            name=name,
            title=one.title,
            description=one.description,
            input_schema=_schema(one.takes) | {"additionalProperties": False},
            output_schema=_schema(one.gives),
            annotations=ToolAnnotations(
                title=one.title,
                read_only_hint=not one.writes,
                destructive_hint=one.destroys,
                idempotent_hint=one.again,
                open_world_hint=False,
            ),
        )
        for name, one in offers.items()
    ]


def _schema(of: type[BaseModel]) -> dict[str, Any]:
    """Its JSON schema, without the docstring that is for us."""
    return {name: part for name, part in of.model_json_schema().items() if name != "description"}
