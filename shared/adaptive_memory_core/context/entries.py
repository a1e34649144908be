"""Entries of evidence, with their dates and ages in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone, tzinfo

from adaptive_memory_core.channels.language_of_text import likeliest
from adaptive_memory_core.channels.words_of_text import UNSPACED
from adaptive_memory_core.context.clean import Count, clean, excerpt, label
from adaptive_memory_core.cue.time.calendar import Span, months
from adaptive_memory_core.cue.time.chinese import Chinese
from adaptive_memory_core.cue.time.english import local
from adaptive_memory_core.cue.time.english_phrases import find_times
from adaptive_memory_core.cue.time.french import French
from adaptive_memory_core.cue.time.german import German
from adaptive_memory_core.cue.time.intent import Language, Window
from adaptive_memory_core.cue.time.spanish import Spanish
from adaptive_memory_core.fields import DEFAULT_FIELDS, Fields
from adaptive_memory_core.records import Record, Scored

MOST_RESOLVED = 2_000  # characters of a text that are searched for dates, more than most prompts show; guess
_UNITS = ((86_400.0 * 365.25, 2, "year"), (86_400.0 * 30.44, 2, "month"), (604_800.0, 2, "week"), (86_400.0, 1, "day"))
_SMALL = ((3_600.0, 1, "hour"), (60.0, 1, "minute"))


def date_of(posix: float, zone: tzinfo = timezone.utc) -> str:
    """The date, or the plain number if it is outside the calendar.

    >>> date_of(0.0), date_of(1e300)
    ('1970-01-01', 'at 1e+300')
    """
    moment = local(posix, zone)
    return f"at {posix:g}" if moment is None else moment.date().isoformat()


def age(then: float, *, now: float) -> str:
    """The time from `then` to `now`, in the largest unit that occurs at least twice (days and less: once).

    >>> [age(0.0, now=days * 86_400.0) for days in (0, 1, 9, 21, 150, 800)]
    ['just now', '1 day ago', '9 days ago', '3 weeks ago', '4 months ago', '2 years ago']
    >>> age(7200.0, now=0.0)
    'in 2 hours'
    """
    apart = abs(now - then)
    if not math.isfinite(apart):
        return "at a time unknown"
    for size, least, unit in (*_UNITS, *_SMALL):
        if apart >= least * size:
            count = int(apart // size)
            length = f"{count:,} {unit}{'' if count == 1 else 's'}"
            return f"{length} ago" if now >= then else f"in {length}"
    return "just now"


def resolved(text: str, written_at: float | None, zone: tzinfo = timezone.utc) -> str:
    """The text with dates added to relative words, from the day it was written; in a long text only at its start.

    >>> resolved("I saw her yesterday, and last year", 1683849600.0)       # 12 May 2023
    'I saw her yesterday (2023-05-11), and last year (2022)'
    >>> resolved("Gestern sah ich sie, und letztes Jahr.", 1683849600.0)
    'Gestern (2023-05-11) sah ich sie, und letztes Jahr (2022).'
    """
    today = None if written_at is None else local(written_at, zone)
    if today is None:
        return text
    read = text[:MOST_RESOLVED].replace("\u2019", "'")
    found = [(dated.end, dated.spans[0]) for dated in find_times(read, today, ahead=True) if dated.relative]
    shown, before = [], 0
    for end, span in found or relative_times(read, today.timestamp(), zone):
        if end > before and (meant := _named_time(span)):
            shown.append(f"{text[before:end]} ({meant})")
            before = end
    return "".join([*shown, text[before:]])


def _named_time(span: Span) -> str | None:
    """A short text for a span; None if it is shorter than a day or has no start."""
    start, end = span.start, span.end
    if start is None or end is None:
        return None if start is None else f"since {start.date()}"
    if any((start.hour, start.minute, start.second, end.hour, end.minute, end.second)):
        return _about(start, end)
    if start.day == 1 and span in (months(start.year, start.month, start), months(start.year, 1, start, 12)):
        return f"{start:%Y-%m}" if end - start < timedelta(days=32) else str(start.year)
    last = end - timedelta(days=1)
    return str(start.date()) if last <= start else f"{start.date()} to {last.date()}"


def _about(start: datetime, end: datetime) -> str | None:
    """An approximate date, as vague as the words were; None if the span is too short."""
    length, middle = end - start, start + (end - start) / 2
    if length <= timedelta(days=1):
        return None if length < timedelta(hours=12) else str(start.date())
    if length <= timedelta(days=15):
        return f"about {middle.date()}"
    return f"about {middle:%Y-%m}" if length <= timedelta(days=200) else f"about {middle.year}"


BEGINNING = 300  # characters that are used to detect the language; guess
LATER = 86_400.0 * 800  # seconds after which a phrase that depends on the day of the text means another time


def relative_times(text: str, written_at: float, zone: tzinfo) -> Iterator[tuple[int, Span]]:
    """The end and the time span of each phrase whose meaning depends on the day of the text. A day or month without a
    year is skipped as ambiguous: a plan and a report use the same name.

    >>> from datetime import timezone
    >>> text, day = "Das war vor drei Wochen, nicht am 3. Mai 2021.", 1683849600.0
    >>> [(text[:end], str(span[0].date())) for end, span in relative_times(text, day, timezone.utc)]
    [('Das war vor drei Wochen', '2023-04-17')]
    """
    language = _language_of(text, zone)
    if language is not None:
        yield from sorted(_found(text, written_at, zone, language))


def _language_of(text: str, zone: tzinfo) -> Language | None:
    """The language of the text's beginning if it is supported, else None."""
    start = text[:BEGINNING]
    if not start.isascii() and UNSPACED.search(start):
        return Chinese(zone)
    spaced: dict[str, Callable[[tzinfo], Language]] = {"de": German, "fr": French, "es": Spanish}
    language = likeliest(start, list(spaced))
    return spaced[language](zone) if language in spaced else None


def _found(text: str, written_at: float, zone: tzinfo, language: Language) -> Iterator[tuple[int, Span]]:
    signs = [one for one in language(text, written_at) if not one.comes_again]
    meant = [(sign.phrase, sign.window) for sign in signs if sign.window is not None]
    fixed = {(sign.phrase, sign.window) for sign in language(text, written_at + LATER)} if meant else set()
    for phrase, window in meant:
        span = _span(window, zone)
        if (phrase, window) not in fixed and phrase in text and span is not None:
            yield text.index(phrase) + len(phrase), span


def _span(window: Window, zone: tzinfo) -> Span | None:
    if window.start is None or window.end is None:
        return None
    start, end = local(window.start, zone), local(window.end, zone)
    return None if start is None or end is None else Span(start, end)


INFERRED = frozenset({"inference", "inferred", "reflection", "insight", "belief", "hypothesis", "summary", "theme"})
EXCERPT = "excerpt"  # the label of a text that is not shown whole
OLDER, PERHAPS = "older: a newer memory says otherwise", "older: a newer memory may say otherwise"
SOURCE = "source"  # the key in the caller's metadata for a memory's origin


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """One memory as clean text with its labels, not yet escaped for a style; or the labels that a block shares."""

    id: str = ""
    text: str = ""
    kind: str | None = None
    learned: str | None = None
    age: str | None = None
    certainty: str | None = None
    speaker: str | None = None
    source: str | None = None
    whose: str | None = None  # the shared scope that it belongs to, if it is not the user's own
    inferred: bool = False
    excerpt: bool = False  # whether the text is only a part of the stored text
    older: str | None = None  # the mark of an outdated memory, if a newer memory differs
    about: str | None = None  # a block's theme and episode

    @property
    def provenance(self) -> list[str]:
        sources = (("shared:", self.whose), ("said by", self.speaker), ("from", self.source))
        return [f"{how} {who}" for how, who in sources if who]

    @property
    def labels(self) -> list[str]:
        about = f"about {self.about}" if self.about else None
        marks = (self.older, self.kind, self.learned, self.age, *self.provenance, self.certainty, self.cut, about)
        return [one for one in marks if one]

    @property
    def cut(self) -> str | None:
        return EXCERPT if self.excerpt else None

    @property
    def in_brief(self) -> str:
        """The text alone, with a mark if it is an inference or outdated."""
        older = "perhaps older" if self.older == PERHAPS else "older"
        marks = [mark for mark, given in ((older, self.older), ("inferred", self.inferred)) if given]
        return ": ".join([*marks, self.text])

    def without(self, shared: ShownEntry) -> ShownEntry:
        """The entry without the labels that its block's heading shows."""
        dated = shared.learned is not None
        return replace(
            self,
            kind=None if shared.kind else self.kind,
            learned=None if dated else self.learned,
            age=None if dated else self.age,
            source=None if shared.source else self.source,
            certainty=None if shared.certainty else self.certainty,
        )


def shown_entries(
    hits: Iterable[Scored],
    *,
    now: float | None = None,
    zone: tzinfo = timezone.utc,
    resolve: bool = True,
    fields: Fields = DEFAULT_FIELDS,
) -> list[ShownEntry]:
    """The hits as entries, in order. `now` adds ages; `resolve` adds dates to words such as "yesterday".

    >>> from adaptive_memory_core.records import Hit
    >>> hit = Scored(Hit(Record("a", "Ann may move", "reflection", created_at=0.0), 0.5, "a"), 0.5, {}, {})
    >>> shown_entries([hit], now=86_400.0 * 3)[0].labels
    ['reflection', '1970-01-01', '3 days ago', 'previously inferred']
    """
    return [
        shown_entry(
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


def shown_entry(
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
        learned=None if learned is None else date_of(learned, zone),
        age=None if learned is None or now is None else age(learned, now=now),
        certainty=_certainty(record),
        inferred=_inferred(record),
        speaker=None if speaker is None or speaker == record.kind or says_who(text, speaker) else speaker,
        source=_named(record, SOURCE),
        whose=None if whose is None else label(whose),
        older=older,
    )


def outdated(hit: Scored) -> str | None:
    """The mark of a memory that a newer memory contradicts, or may contradict; None otherwise."""
    if hit.older_than is None:
        return None
    return PERHAPS if hit.older_perhaps else OLDER


def says_who(text: str, speaker: str) -> bool:
    """Whether a text starts with its speaker's name, as in transcripts, so that no label is needed.

    >>> says_who("Ana: I like tea", "ana"), says_who("ana likes tea", "ana"), says_who("ben: tea", "ana")
    (True, False, False)
    """
    return text[: len(speaker)].casefold() == speaker.casefold() and text[len(speaker) :].lstrip().startswith(":")


def shortened_entry(
    shown: ShownEntry,
    record: Record,
    cue: Sequence[str],
    room: int,
    count: Count,
    *,
    zone: tzinfo = timezone.utc,
    resolve: bool = True,
) -> ShownEntry:
    """The entry, cut to the sentences that answer if it is longer than the room."""
    if count(shown.text) <= room:
        return shown
    cut = excerpt(record.text, cue, room, count)
    if cut is None:
        return shown
    return replace(shown, text=resolved(cut, record.created_at, zone) if resolve else cut, excerpt=True)


def common_details(among: Sequence[ShownEntry]) -> ShownEntry:
    """The labels that all entries share, except the speaker. The age is that of the first entry.

    >>> ana = ShownEntry(kind="event", learned="2025-01-01", speaker="Ana")
    >>> common_details([ana, ShownEntry(kind="fact", learned="2025-01-01")])
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
    """The certainty label: "previously inferred" for an inference, and the caller's `confidence` if given."""
    marks = ["previously inferred"] if _inferred(record) else []
    sure = record.metadata.get("confidence")
    if isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1:
        marks.append(f"confidence {sure:.2f}")
    return ", ".join(marks) or None
