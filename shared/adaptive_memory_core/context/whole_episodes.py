"""Hits of a top-down recall as whole episodes: their text, and what they are part of, for adapters."""

from __future__ import annotations

from typing import Any, NamedTuple

from adaptive_memory_core.channels.conversation.turns import BY_FIELD, turn_of
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.records import Record, Scored


class WholeEpisode(NamedTuple):
    """What was said in an episode, line by line, and its title, theme and messages (ids as the user knows them)."""

    text: str
    title: str
    theme: str | None
    message_ids: list[str]

    @property
    def metadata(self) -> dict[str, Any]:
        """What is told of it beside the text."""
        theme = {} if self.theme is None else {"theme": self.theme}
        return {"episode": self.title, **theme, "message_ids": self.message_ids}


def whole_episode(hit: Scored, recall: Recall) -> WholeEpisode | None:
    """The episode that a hit stands for: all its messages, or where a reader needs no more its narrative and the best
    one. None where hits stand for themselves."""
    place = recall.outline.places.get(hit.id)
    if place is None or not recall.outline.apart:
        return None
    around = [one for one in recall.beside if one.of == hit.id]
    before = [one.record for one in around if one.offset < 0]
    after = [one.record for one in around if one.offset > 0]
    told = [place.narrative] if hit.id in recall.outline.summed_up else []
    lines = [*told, *(_line(one, recall.fields) for one in (*before, hit.record, *after))]
    return WholeEpisode("\n".join(lines), place.title, place.theme, list(place.messages))


def _line(record: Record, fields: Fields) -> str:
    """A message behind its speaker's name.

    >>> _line(Record("1", "Hi!", metadata={"speaker": "Ana"}), Fields()), _line(Record("2", "Ben: Hello!"), Fields())
    ('Ana: Hi!', 'Ben: Hello!')
    """
    turn = turn_of(record.text, record.metadata, fields, created_at=record.created_at)
    return f"{turn.speaker}: {record.text}" if turn.speaker and turn.told == BY_FIELD else record.text
