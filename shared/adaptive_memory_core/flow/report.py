"""The data for the report pages of one user, and of all users."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from adaptive_memory_core.context.entries import date_of
from adaptive_memory_core.flow import prune
from adaptive_memory_core.flow.look_up import RECORDS_OF_A_PAGE, look_up
from adaptive_memory_core.flow.look_up import stats as stats_of
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.flow.remember import themes
from adaptive_memory_core.graph.ports import passage_of
from adaptive_memory_core.identity import is_namespaced
from adaptive_memory_core.learn.decay import PacedSpan, Timeline, as_of, strength
from adaptive_memory_core.pages.charts import Point
from adaptive_memory_core.pages.memory_insights import MOST_LISTED, asked_questions, verdicts_of
from adaptive_memory_core.pages.memory_page import UsersFacts
from adaptive_memory_core.pages.memory_records import FadingFacts, LogFacts, MemoryFacts, NameFacts, RecordList
from adaptive_memory_core.policy.learning import DecayPace, Regime
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.record_metadata import SHARED, hits_of, owner_of
from adaptive_memory_core.records import ReadState, Record, Scope
from adaptive_memory_core.reports import LoggedRecall, Stats
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.sources.gather import known_states

MOST_KINDS, MOST_JUDGED, MOST_CHANGES, MOST_DAYS, MOST_LOGGED = 12, 100, 200, 30, 1_000
MOST_VERDICTS = 10_000  # changes that are searched for verdicts
REPEATEDLY = 2  # least number of unhelpful verdicts for the list of unhelpful records
HOUR = 3_600.0
HITS_SHOWN, DROPPED_SHOWN = 20, 8  # candidates of a recall whose texts are looked up
AT_LEAST = 0.01  # least strength that counts as not faded
MORE_READS = "32+"
READS = ((0, "0"), (1, "1"), (3, "2–3"), (7, "4–7"), (15, "8–15"), (31, "16–31"))
NAMES_OF_READS = [*(name for _, name in READS), MORE_READS]
Worth = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The checked settings of a report."""

    scope: Scope
    policy: Policy
    regime: Regime
    now: float
    since: float  # earlier recalls are beyond the log's retention
    records: int
    recalls: int


@dataclass(slots=True)
class _First:
    """The best records by a worth, earlier ones first if equal, and the total number of records."""

    most: int
    heap: list[tuple[Worth, int, str, Record]] = field(default_factory=list)
    total: int = 0

    def add(self, worth: Worth, stored_id: str, record: Record) -> None:
        self.total += 1
        item = (worth, -self.total, stored_id, record)
        if len(self.heap) < self.most:
            heapq.heappush(self.heap, item)
        else:
            heapq.heappushpop(self.heap, item)

    @property
    def best(self) -> list[tuple[str, Record]]:
        """The best records, each with its id in the collection."""
        return [
            (stored_id, record) for *_, stored_id, record in sorted(self.heap, reverse=True, key=lambda one: one[:2])
        ]

    @property
    def listed(self) -> RecordList:
        return RecordList([record for _, record in self.best], self.total)


@dataclass(slots=True)
class _Collected:
    """The records seen so far: those that each part of the page shows, and counts by reads and by kind."""

    shown: _First
    judged: _First = field(default_factory=lambda: _First(MOST_JUDGED))
    helpful: _First = field(default_factory=lambda: _First(MOST_LISTED))
    unhelpful: _First = field(default_factory=lambda: _First(MOST_LISTED))
    unread: _First = field(default_factory=lambda: _First(MOST_LISTED))
    reads: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, stored_id: str, record: Record) -> None:
        read = record.read
        helpful, unhelpful, written = read.helpful, read.unhelpful, record.created_at
        self.reads[reads_label(read.retrieval_count)] += 1
        self.kinds[record.kind or "no kind"] += 1
        worth = (read.pinned, read.remembered, read.retrieval_count, helpful, written or 0.0)
        self.shown.add(worth, stored_id, record)
        if helpful or unhelpful:
            self.judged.add((helpful + unhelpful,), stored_id, record)
        if helpful > unhelpful:
            self.helpful.add((helpful - unhelpful, helpful), stored_id, record)
        if unhelpful >= REPEATEDLY and unhelpful > helpful:
            self.unhelpful.add((unhelpful - helpful, unhelpful), stored_id, record)
        if not read.retrieval_count:
            self.unread.add((-math.inf if written is None else -written,), stored_id, record)


def gathered(ports: Ports, asked: ReportRequest) -> MemoryFacts:
    """Everything that the page shows, without counting a read."""
    scope, now = asked.scope, asked.now
    stats = stats_of(ports, scope, regime=asked.regime, at_least=AT_LEAST, now=now)
    collected = _collected(ports, asked)
    best = collected.shown.best
    records = [record for _, record in best]
    log = _log(ports, asked, records)
    found = themes(ports, scope.own, now=now, settle=False, progress=None)
    names = names_among(ports, scope, best)
    samples = prune.history(ports, scope)
    known = ports.ledger.states.known(scope, [])
    timeline = known.timeline.under(asked.regime)
    return MemoryFacts(
        whose=str(scope).removeprefix("user "),
        now=now,
        policy=asked.policy,
        stats=stats,
        records=records,
        total=collected.shown.total,
        reads={name: collected.reads[name] for name in NAMES_OF_READS},
        kinds=dict(collected.kinds.most_common(MOST_KINDS)),
        judged=collected.judged.listed.first,
        helpful=collected.helpful.listed,
        unhelpful=collected.unhelpful.listed,
        unread=collected.unread.listed,
        log=log,
        samples=samples,
        themes=found,
        fading=fading_curves(timeline, asked.regime.phases[-1].pace, records, now=now),
        names=names,
    )


def _log(ports: Ports, asked: ReportRequest, known: Sequence[Record]) -> LogFacts:
    """Logged recalls, verdicts and changes, with the texts of their records."""
    scope, since = asked.scope, asked.since
    logged = ports.ledger.log.recalls(scope, since=since, until=None, limit=MOST_LOGGED, containing=None)
    changes = prune.changes(ports, scope, None, limit=MOST_VERDICTS)
    recalls, trail, verdicts = logged[: asked.recalls], changes[:MOST_CHANGES], verdicts_of(changes)
    unit, over_time = recalls_over_time([one.at for one in logged], now=asked.now)
    return LogFacts(
        recalls=recalls,
        questions=asked_questions(logged, verdicts),
        over_time=over_time,
        unit=unit,
        counted=len(logged),
        texts=_texts(ports, scope, [*_shown(recalls), *(one.id for one in trail)], known),
        verdicts=verdicts,
        changes=trail,
    )


def _collected(ports: Ports, asked: ReportRequest) -> _Collected:
    """Go through all records of the scope, with their present states, a page at a time."""
    collected = _Collected(_First(asked.records))
    pages: Iterator[list[Found]] = ports.records.pages(asked.scope)
    while (page := next(pages, None)) is not None:
        known = known_states(ports, asked.scope, page, now=None)
        timeline = known.timeline.under(asked.regime)
        for hit in hits_of(asked.scope, page, known.states, ports.fields):
            record = hit.record
            if hit._stored_id in known.states:
                record = replace(record, read=as_of(record.read, record.kind, timeline, now=asked.now))
            collected.add(hit._stored_id, record)
    return collected


def _texts(ports: Ports, scope: Scope, wanted: Iterable[str], known: Sequence[Record]) -> Mapping[str, str]:
    """The texts of the shown records by id; deleted records are left out."""
    texts = {one.id: one.text for one in known}
    missing = [one for one in dict.fromkeys(wanted) if one not in texts]
    found = look_up(ports, scope, missing, now=None)
    return texts | {name: one.record.text for name, one in found.items()}


def _shown(recalls: Sequence[LoggedRecall]) -> Iterator[str]:
    for recall in recalls:
        dropped = [one for one in recall.candidates if one.reason is not None]
        dropped.sort(key=lambda one: -(one.score or 0.0))
        yield from (one.id for one in (*recall.kept[:HITS_SHOWN], *dropped[:DROPPED_SHOWN]))


def recalls_over_time(times: Sequence[float], *, now: float) -> tuple[str, list[tuple[str, int]]]:
    """Recalls per hour, or per day if they go back further than a day, up to now. At most the last 30 days are
    included; hours and days without recalls count 0.

    >>> recalls_over_time([0.0, 7_000.0, 7_300.0], now=8_000.0)
    ('hour', [('00:00', 1), ('01:00', 1), ('02:00', 1)])
    >>> recalls_over_time([0.0, 7_000.0], now=2 * DAY)
    ('day', [('01-01', 2), ('01-02', 0), ('01-03', 0)])
    """
    unit, size = ("hour", HOUR) if now - min(times, default=now) < DAY else ("day", DAY)
    counted = Counter(int(at // size) for at in times)
    last = int(now // size)
    first = max(min(counted, default=last), last - MOST_DAYS + 1)
    begins = [place * size for place in range(first, last + 1)]
    names = [f"{int(at % DAY // HOUR):02}:00" if unit == "hour" else date_of(at)[5:] for at in begins]
    return unit, [(name, counted[int(at // size)]) for name, at in zip(names, begins, strict=True)]


def reads_label(reads: int) -> str:
    """
    >>> reads_label(0), reads_label(3), reads_label(400)
    ('0', '2–3', '32+')
    """
    return next((name for most, name in READS if reads <= most), MORE_READS)


POINTS, LEAST_UNITS, MOST_UNITS, GONE = 40, 20, 400, 0.05


def fading_curves(timeline: Timeline, pace: DecayPace, records: Sequence[Record], *, now: float) -> FadingFacts:
    """The decay curves of the pace in force; none if nothing decays."""
    if pace.still:
        return FadingFacts(pace.unit)
    last = _units(pace)
    steps = sorted({round(last * place / POINTS) for place in range(POINTS + 1)})
    curves = {
        kind or ("all others" if pace.by_kind else "all records"): [Point(at, _left(pace, kind, at)) for at in steps]
        for kind in pace.kinds()
    }
    stand = [_place(one, timeline, pace, now=now) for one in records if not (one.read.remembered or one.read.pinned)]
    return FadingFacts(pace.unit, curves, [one for one in stand if one is not None and one.x <= last])


def _left(pace: DecayPace, kind: str | None, units: float) -> float:
    """The strength that is left after this number of units without a read."""
    fresh = ReadState(settled_at=0.0, fresh_at=0.0)
    steps = int(units) if pace.unit == "recalls" else 0
    return strength(fresh, kind, Timeline(steps, (PacedSpan(0, -math.inf, pace),)), now=units * DAY)


def _units(pace: DecayPace) -> int:
    """The number of units after which all kinds have nearly faded, within bounds."""
    units = LEAST_UNITS
    while units < MOST_UNITS and any(_left(pace, kind, units) > GONE for kind in pace.kinds()):
        units = min(MOST_UNITS, 2 * units)
    return units


def _place(record: Record, timeline: Timeline, pace: DecayPace, *, now: float) -> Point | None:
    read = record.read
    if pace.unit == "recalls":
        return Point(max(0, timeline.step - read.fresh_step), read.strength)
    return None if read.fresh_at is None else Point(max(0.0, (now - read.fresh_at) / DAY), read.strength)


MOST_NAMES, MOST_OF_A_RECORD, MOST_EXAMPLES = 100, 12, 3
NO_NAMES = NameFacts()


def names_among(ports: Ports, scope: Scope, records: Sequence[tuple[str, Record]]) -> NameFacts:
    """The names that these records mention; empty if there is no graph."""
    return _look(ports, scope, dict(records))


def _look(ports: Ports, scope: Scope, records: dict[str, Record]) -> NameFacts:
    with ports.ledger.graph.view(scope) as graph:
        if not graph.passages or not records:
            return NO_NAMES
        keys = graph.keys_of(list(records))
        ids = {key: stored_id for stored_id, key in keys.items()}
        sentences = graph.sentences_of(np.array(sorted(ids), dtype=np.int64))
        mentioned: dict[str, dict[str, None]] = {}
        for sentence, found in graph.names_in(sentences).items():
            mentioned.setdefault(ids[passage_of(int(sentence))], {}).update(dict.fromkeys(found))
        among = Counter(name for found in mentioned.values() for name in found)
        counts = graph.frequencies([name for name, _ in among.most_common(4 * MOST_NAMES)])
        passages = graph.passages
    order = sorted(counts, key=lambda name: (-among[name], -counts[name], name))[:MOST_NAMES]
    return NameFacts(
        records={name: _examples(name, mentioned, records) for name in order},
        counts={name: counts[name] for name in order},
        links=_links(mentioned, set(order)),
        looked_at=len(keys),
        passages=passages,
    )


def _examples(name: str, mentioned: dict[str, dict[str, None]], records: dict[str, Record]) -> tuple[str, ...]:
    found = (records[stored_id].id for stored_id, names in mentioned.items() if name in names)
    return tuple(one for one, _ in zip(found, range(MOST_EXAMPLES), strict=False))


def _links(mentioned: dict[str, dict[str, None]], drawn: set[str]) -> dict[tuple[str, str], int]:
    pairs: Counter[tuple[str, str]] = Counter()
    for names in mentioned.values():
        own = sorted(name for name in names if name in drawn)[:MOST_OF_A_RECORD]
        pairs.update(combinations(own, 2))
    return dict(pairs.most_common())


MOST_COUNTED = 2_000  # scopes whose recalls are counted, to find the ones with the most


def user_names(ports: Ports) -> list[str | int]:
    """All users who have records or an entry in the ledger, by name."""
    scopes = set(ports.ledger.removal.scopes())
    stored_ids = ports.records.ids()
    for start in range(0, len(stored_ids), RECORDS_OF_A_PAGE):
        for metadata in ports.records.metadata(stored_ids[start : start + RECORDS_OF_A_PAGE]).values():
            scopes.add(owner_of(metadata, ports.fields) or SHARED)
    found = [scope.name for scope in scopes if scope.name is not None]
    users = [one for one in found if isinstance(one, int) or not is_namespaced(one)]
    return sorted(users, key=lambda one: (isinstance(one, str), one))


def users(ports: Ports, *, most: int, regime: Regime, now: float) -> UsersFacts:
    """Statistics of the users with the most recalls, without their records."""
    scopes = ports.ledger.removal.scopes()
    recalls: list[tuple[int, str, Scope]] = []
    for scope in scopes[:MOST_COUNTED]:
        tally = ports.ledger.statistics.tally(scope)
        recalls.append((-tally.recalls, str(scope), scope))
    found: list[tuple[str, Stats]] = []
    for _, name, scope in sorted(recalls, key=lambda one: one[:2])[:most]:
        stats = stats_of(ports, scope, regime=regime, at_least=AT_LEAST, now=now)
        found.append((name.removeprefix("user "), stats))
    return UsersFacts(now, found, len(scopes), ports.write_back.progress(), ports.background.stats())
