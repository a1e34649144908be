"""What is shown of a memory besides its text: kind, date, source, speaker and certainty."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timezone, tzinfo

from adaptive_memory_core.context.clean import Count, clean, excerpt, label
from adaptive_memory_core.context.times import age, date, resolved
from adaptive_memory_core.fields import DEFAULT_FIELDS, Fields
from adaptive_memory_core.records import Record, Scored

INFERRED = frozenset({"inference", "inferred", "reflection", "insight", "belief", "hypothesis", "summary", "theme"})
EXCERPT = "excerpt"  # the label of what is not shown whole
OLDER, PERHAPS = "older: a newer memory says otherwise", "older: a newer memory may say otherwise"
SOURCE = "source"  # the key of the caller's metadata that says where a memory is from


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """One memory as it is shown, in clean text; not yet escaped for any style. Of a block, what its entries share."""

    id: str = ""
    text: str = ""
    kind: str | None = None
    learned: str | None = None
    age: str | None = None
    certainty: str | None = None
    speaker: str | None = None
    source: str | None = None
    whose: str | None = None  # the shared scope it is of: not what this user said or did
    inferred: bool = False
    excerpt: bool = False  # whether the text is a part of what is stored
    older: str | None = None  # what is said of it where a newer memory says something else of the same
    about: str | None = None  # of a block: its theme and its episode

    @property
    def provenance(self) -> list[str]:
        told = (("shared:", self.whose), ("said by", self.speaker), ("from", self.source))
        return [f"{how} {who}" for how, who in told if who]

    @property
    def labels(self) -> list[str]:
        about = f"about {self.about}" if self.about else None
        said = (self.older, self.kind, self.learned, self.age, *self.provenance, self.certainty, self.cut, about)
        return [one for one in said if one]

    @property
    def cut(self) -> str | None:
        return EXCERPT if self.excerpt else None

    @property
    def in_brief(self) -> str:
        """The words alone, but for an inference, which stays one, and what has changed since, which stays old."""
        older = "perhaps older" if self.older == PERHAPS else "older"
        marks = [mark for mark, given in ((older, self.older), ("inferred", self.inferred)) if given]
        return ": ".join([*marks, self.text])

    def without(self, shared: ShownEntry) -> ShownEntry:
        """What is left to say of it where a heading says the shared."""
        dated = shared.learned is not None
        return replace(
            self,
            kind=None if shared.kind else self.kind,
            learned=None if dated else self.learned,
            age=None if dated else self.age,
            source=None if shared.source else self.source,
            certainty=None if shared.certainty else self.certainty,
        )


def entries(
    hits: Iterable[Scored],
    *,
    now: float | None = None,
    zone: tzinfo = timezone.utc,
    resolve: bool = True,
    fields: Fields = DEFAULT_FIELDS,
) -> list[ShownEntry]:
    """The hits in their order. `now` gives ages; `resolve` adds the day that "yesterday" was to a memory's words.

    >>> from adaptive_memory_core.records import Hit
    >>> hit = Scored(Hit(Record("a", "Ann may move", "reflection", created_at=0.0), 0.5, "a"), 0.5, {}, {})
    >>> entries([hit], now=86_400.0 * 3)[0].labels
    ['reflection', '1970-01-01', '3 days ago', 'previously inferred']
    """
    return [
        entry(
            hit.record,
            now=now,
            zone=zone,
            resolve=resolve,
            fields=fields,
            whose=hit.shared,
            older=outdated(hit),
        )
        for hit in hits
    ]


def entry(
    record: Record,
    *,
    now: float | None,
    zone: tzinfo,
    resolve: bool,
    fields: Fields,
    whose: str | None = None,
    older: str | None = None,
) -> ShownEntry:
    learned, speaker = record.created_at, _named(record, fields.speaker)
    text = clean(record.text)
    return ShownEntry(
        id=clean(record.id),
        text=resolved(text, learned, zone) if resolve else text,
        kind=label(record.kind or "") or "memory",
        learned=None if learned is None else date(learned, zone),
        age=None if learned is None or now is None else age(learned, now=now),
        certainty=_certainty(record),
        inferred=_inferred(record),
        speaker=None if speaker is None or speaker == record.kind or says_who(text, speaker) else speaker,
        source=_named(record, SOURCE),
        whose=None if whose is None else label(whose),
        older=older,
    )


def outdated(hit: Scored) -> str | None:
    """What is said of a memory where a newer one says something else of the same, or may do so."""
    if hit.older_than is None:
        return None
    return PERHAPS if hit.older_perhaps else OLDER


def says_who(text: str, speaker: str) -> bool:
    """Whether a text names its own speaker first, as transcripts do: then nobody else need.

    >>> says_who("Ana: I like tea", "ana"), says_who("ana likes tea", "ana"), says_who("ben: tea", "ana")
    (True, False, False)
    """
    return text[: len(speaker)].casefold() == speaker.casefold() and text[len(speaker) :].lstrip().startswith(":")


def shortened(
    shown: ShownEntry,
    record: Record,
    cue: Sequence[str],
    room: int,
    count: Count,
    *,
    zone: tzinfo = timezone.utc,
    resolve: bool = True,
) -> ShownEntry:
    """A memory that is longer than the room, cut to the sentences that answer; else as it is."""
    if count(shown.text) <= room:
        return shown
    said = excerpt(record.text, cue, room, count)
    if said is None:
        return shown
    return replace(shown, text=resolved(said, record.created_at, zone) if resolve else said, excerpt=True)


def shared(among: Sequence[ShownEntry]) -> ShownEntry:
    """What all of them have in common, but for who said it: that is each one's own. The age is that of the first.

    >>> ana = ShownEntry(kind="event", learned="2025-01-01", speaker="Ana")
    >>> shared([ana, ShownEntry(kind="fact", learned="2025-01-01")])
    ShownEntry(id='', text='', kind=None, learned='2025-01-01', age=None, certainty=None, speaker=None, source=None, ...
    """
    first = among[0]
    same = {
        name: getattr(first, name)
        for name in ("kind", "learned", "certainty", "source")
        if len({getattr(one, name) for one in among}) == 1
    }
    return ShownEntry(age=first.age if same.get("learned") else None, **same)


def _named(record: Record, key: str) -> str | None:
    value = record.metadata.get(key)
    return label(value) or None if isinstance(value, str) else None


def _inferred(record: Record) -> bool:
    return (record.kind or "").strip().lower() in INFERRED


def _certainty(record: Record) -> str | None:
    """An inference is not a fact, whoever drew it; a number of the caller's own is passed on."""
    said = ["previously inferred"] if _inferred(record) else []
    sure = record.metadata.get("confidence")
    if isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1:
        said.append(f"confidence {sure:.2f}")
    return ", ".join(said) or None
