"""Is an importance given on another scale? What counts as neutral for that reason is named, with the way out."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.candidates import columns_of

USUAL_SCALES = (1, 5, 10, 100)


def odd_importance(hits: Sequence[Hit], fields: Fields) -> str | None:
    """A note on the candidates whose importance is no number on the scale that was declared; None where all are.

    >>> from adaptive_memory_core.records import Record
    >>> odd = Hit(Record("a", "tea", stored={"importance": 8}), 0.5, "a")
    >>> odd_importance([odd], Fields()).partition(":")[0]
    "the importance of 1 candidate, such as 8 of 'a', is no number from 0 to 1 and counts as neutral"
    >>> odd_importance([Hit(Record("a", "tea"), 0.5, "a")], Fields()) is None
    True
    """
    these, key = columns_of(hits), fields.importance
    rows = enumerate(zip(these.columns.stored, these.columns.importances, these.columns.reads, strict=True))
    likely = [one for one, (stored, found, read) in rows if (found is None or read.boost) and key in stored]
    odd = [record for one in likely if (record := these[one].record).written_importance is None]
    if not odd:
        return None
    values = [one.stored[key] for one in odd]
    number = "1 candidate" if len(odd) == 1 else f"{len(odd)} candidates"
    return (
        f"the importance of {number}, such as {values[0]!r} of {odd[0].id!r}, is no number from 0 to "
        f"{fields.importance_scale:g} and counts as neutral: {_remedy(values, fields)}"
    )


def _remedy(values: Sequence[object], fields: Fields) -> str:
    """What to declare, where one scale fits all of the values."""
    numbers = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    fits = next((scale for scale in USUAL_SCALES if numbers and max(numbers) <= scale), None)
    if len(numbers) < len(values) or fits is None or min(numbers) < 0:
        return f"write numbers from 0 to {fields.importance_scale:g} under {fields.importance!r}"
    return f"say fields=Fields(importance={fields.importance!r}, importance_scale={fits})"
