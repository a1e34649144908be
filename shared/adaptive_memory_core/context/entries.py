"""What must a model know of a memory to weigh it? Its kind, when it was learned, from whom, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timezone, tzinfo

from adaptive_memory_core.context.ages import age, date, resolved
from adaptive_memory_core.context.clean import clean, label
from adaptive_memory_core.records import Record, Scored

INFERRED = frozenset({"inference", "inferred", "reflection", "insight", "belief", "hypothesis", "summary", "theme"})
_PROVENANCE = (("speaker", "said by"), ("source", "from"))  # keys of the caller's metadata, and what they say


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory as it is shown, in clean text; not yet escaped for any style."""

    id: str
    text: str
    kind: str
    learned: str | None = None
    age: str | None = None
    certainty: str | None = None
    provenance: tuple[str, ...] = ()
    inferred: bool = False

    @property
    def labels(self) -> list[str]:
        said = (self.kind, self.learned, self.age, *self.provenance, self.certainty)
        return [one for one in said if one]

    @property
    def in_brief(self) -> str:
        """The words alone, but for an inference, which stays one."""
        return f"inferred: {self.text}" if self.inferred else self.text


def entries(
    hits: Iterable[Scored], *, now: float | None = None, zone: tzinfo = timezone.utc, resolve: bool = True
) -> list[Entry]:
    """The hits in their order. `now` gives ages; `resolve` adds the day that "yesterday" was to a memory's words.

    >>> from adaptive_memory_core.records import Hit
    >>> hit = Scored(Hit(Record("a", "Ann may move", "reflection", created_at=0.0), 0.5, "a"), 0.5, {}, {})
    >>> entries([hit], now=86_400.0 * 3)[0].labels
    ['reflection', '1970-01-01', '3 days ago', 'previously inferred']
    """
    return [_whose(entry(hit.record, now=now, zone=zone, resolve=resolve), hit.shared) for hit in hits]


def entry(record: Record, *, now: float | None, zone: tzinfo, resolve: bool) -> Entry:
    learned = record.created_at
    text = clean(record.text)
    return Entry(
        id=clean(record.id),
        text=resolved(text, learned, zone) if resolve else text,
        kind=label(record.kind or "") or "memory",
        learned=None if learned is None else date(learned, zone),
        age=None if learned is None or now is None else age(learned, now=now),
        certainty=_certainty(record),
        inferred=_inferred(record),
        provenance=tuple(
            f"{said} {named}"
            for key, said in _PROVENANCE
            if isinstance(value := record.metadata.get(key), str) and (named := label(value))
        ),
    )


def _whose(one: Entry, shared: str | None) -> Entry:
    """With the shared scope it is of, where it is not the reader's own: not what this user said or did."""
    return one if shared is None else replace(one, provenance=(f"shared: {label(shared)}", *one.provenance))


def _inferred(record: Record) -> bool:
    return (record.kind or "").strip().lower() in INFERRED


def _certainty(record: Record) -> str | None:
    """An inference is not a fact, whoever drew it; a number of the caller's own is passed on."""
    said = ["previously inferred"] if _inferred(record) else []
    sure = record.metadata.get("confidence")
    if isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1:
        said.append(f"confidence {sure:.2f}")
    return ", ".join(said) or None
