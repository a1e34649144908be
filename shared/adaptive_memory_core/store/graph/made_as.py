"""Is the graph made as this memory would make it? With titles under the same key, and names by the same extractor.

Another setting takes its place once, and the graph is made anew in the background. A memory whose setting has given way
uses the graph as it is and leaves it to the others: two processes must not undo each other's.
"""

from __future__ import annotations

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.graph import GraphRows
from adaptive_memory_core.graph.names import Extract
from adaptive_memory_core.reports import Finding

_BY = " by "  # between the key of the titles and the extractor, where that is not ours
_ADVICE = (
    "Give all that share this memory the same fields= and entities=, or call check(repair=True) here, which makes it "
    "anew as this one has it."
)


class MadeAs:
    """What this memory would make the graph with, beside what it is made with."""

    def __init__(self, rows: GraphRows, fields: Fields, extract: Extract | None) -> None:
        self._rows, self.setting, self.extract = rows, setting_of(fields.title, extract), extract

    def begin(self, *, anew: bool = False) -> None:
        """Take this setting on, unless it gave way to another before, or in any case."""
        self._rows.made_as(self.setting, anew=anew)

    def is_ours(self) -> bool:
        return self._rows.made_as() in (None, self.setting)

    def note(self) -> str | None:
        """What to tell whoever looks, where others make it otherwise."""
        return None if self.is_ours() else f"{self._said()} {_ADVICE}"

    def finding(self, *, repaired: bool) -> Finding | None:
        return None if self.is_ours() else Finding("graph", self._said(), _ADVICE, repaired)

    def _said(self) -> str:
        return (
            f"the graph is made with {described(self._rows.made_as() or '')}, which took the place of "
            f"{described(self.setting)}, as this memory has it; it is used as it is."
        )


def setting_of(title_key: str, extract: Extract | None) -> str:
    """In a few words that are kept beside the graph.

    >>> setting_of("title", None), setting_of("title", lambda sentence: [])
    ('title', 'title by a function')
    """
    return title_key if extract is None else f"{title_key}{_BY}{getattr(extract, 'name', 'a function')}"


def described(setting: str) -> str:
    """
    >>> described("title"), described("headline by spacy")
    ("titles under 'title'", "titles under 'headline' and names by 'spacy'")
    """
    title, _, extractor = setting.partition(_BY)
    return f"titles under {title!r}" + (f" and names by {extractor!r}" if extractor else "")
