"""Entries of evidence, and how times are written in them."""

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

MOST_RESOLVED = 2_000  # characters of a text in which dates are looked for, more than most prompts show of it; guess
_UNITS = ((86_400.0 * 365.25, 2, "year"), (86_400.0 * 30.44, 2, "month"), (604_800.0, 2, "week"), (86_400.0, 1, "day"))
_SMALL = ((3_600.0, 1, "hour"), (60.0, 1, "minute"))


def date_of(posix: float, zone: tzinfo = timezone.utc) -> str:
    """The day, or the plain number where no calendar reaches.

    >>> date_of(0.0), date_of(1e300)
    ('1970-01-01', 'at 1e+300')
    """
    moment = local(posix, zone)
    return f"at {posix:g}" if moment is None else moment.date().isoformat()


def age(then: float, *, now: float) -> str:
    """How long ago, in the largest unit of which there are at least two (days and less: one).

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
    """The text with the dates that its words meant on the day it was written; a long text's first part only.

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
    """A span in as few words as it needs; None where it is shorter than a day, or has no beginning."""
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
    """If the words were not exact, neither is the date."""
    length, middle = end - start, start + (end - start) / 2
    if length <= timedelta(days=1):
        return None if length < timedelta(hours=12) else str(start.date())
    if length <= timedelta(days=15):
        return f"about {middle.date()}"
    return f"about {middle:%Y-%m}" if length <= timedelta(days=200) else f"about {middle.year}"


BEGINNING = 300  # characters of a text that tell its language; guess
LATER = 86_400.0 * 800  # seconds after which a phrase that hangs on the day of the text means another time


def relative_times(text: str, written_at: float, zone: tzinfo) -> Iterator[tuple[int, Span]]:
    """The end of each phrase whose meaning depends on the day of the text, and what it means. The name of a day or
    month without its year does not say which one is meant: a plan and a report use the same name.

    >>> from datetime import timezone
    >>> text, day = "Das war vor drei Wochen, nicht am 3. Mai 2021.", 1683849600.0
    >>> [(text[:end], str(span[0].date())) for end, span in relative_times(text, day, timezone.utc)]
    [('Das war vor drei Wochen', '2023-04-17')]
    """
    language = _language_of(text, zone)
    if language is not None:
        yield from sorted(_found(text, written_at, zone, language))


def _language_of(text: str, zone: tzinfo) -> Language | None:
    """That of the text's beginning, where it is one of these."""
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


def shown_entries(
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
    """A memory that is longer than the room, cut to the sentences that answer; else as it is."""
    if count(shown.text) <= room:
        return shown
    cut = excerpt(record.text, cue, room, count)
    if cut is None:
        return shown
    return replace(shown, text=resolved(cut, record.created_at, zone) if resolve else cut, excerpt=True)


def common_details(among: Sequence[ShownEntry]) -> ShownEntry:
    """What all of them have in common, but for who said it: that is each one's own. The age is that of the first.

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
    """An inference is not a fact, no matter who drew it; the caller's own number is passed on."""
    marks = ["previously inferred"] if _inferred(record) else []
    sure = record.metadata.get("confidence")
    if isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1:
        marks.append(f"confidence {sure:.2f}")
    return ", ".join(marks) or None
