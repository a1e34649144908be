"""What are hits part of? The episode, and the theme, of each; and facts of other episodes that belong to the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adaptive_memory_core.records import Scored


class Place(NamedTuple):
    """Where a message stands: its episode by number, the episode's title, and the theme that most of it is about."""

    episode: int
    title: str = ""
    theme: str | None = None

    @property
    def heading(self) -> str:
        """The way from the theme down to the episode, in words.

        >>> Place(3, "A pottery class", "pottery, clay").heading, Place(3, "A walk").heading, Place(3).heading
        ('pottery, clay > A pottery class', 'A walk', '')
        """
        return " > ".join(one for one in (self.theme, self.title) if one)


class Fact(NamedTuple):
    """A semantic that was chosen and whose messages are not shown: what it says, its theme, when it was said, and by
    which messages (ids as the user knows them)."""

    text: str
    theme: str | None
    at: float
    of: Sequence[str]


@dataclass(frozen=True, slots=True)
class Outline:
    """The places of hits and of what stands beside them, by id, the facts, best first, and the themes they are from.

    `apart` says that each episode is shown by itself, also where several are of one session. `more` are the next best
    where a set is asked for: a page shows them where its budget leaves room, and they are no hits.
    """

    places: Mapping[str, Place] = field(default_factory=dict)
    facts: Sequence[Fact] = ()
    themes: Sequence[str] = ()
    apart: bool = False
    more: Sequence[Scored] = ()

    def __bool__(self) -> bool:
        return bool(self.places or self.facts)


NO_OUTLINE = Outline()
