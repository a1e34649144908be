"""What does OpenTelemetry hear of a memory? Spans that belong together, metrics to alert on, nothing of a user's."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, SQLiteLedger, UserMemory
from adaptive_memory_core.errors import InvalidInputError, LedgerError
from adaptive_memory_core.store.ledger.sql_ledger import PARTS
from adaptive_memory_core.telemetry import OpenTelemetry
from tests.behaviour.conftest import eventually
from tests.conftest import word_vectors

CANARY = "canary"
Labels = dict[str, Any]


class Backend:
    """Where spans and metrics go: the exporters in memory of OpenTelemetry's own SDK."""

    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.traces, self.meters = TracerProvider(), MeterProvider([self.reader])
        self.traces.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.telemetry = OpenTelemetry(
            tracer_provider=self.traces, meter_provider=self.meters, attributes={"memory": "test"}
        )

    def spans(self) -> dict[str, ReadableSpan]:
        """Those of the verbs since the last look, by name."""
        found = {span.name: span for span in self.exporter.get_finished_spans()}
        self.exporter.clear()
        return found

    def points(self) -> dict[str, list[tuple[Labels, float]]]:
        """By metric: the labels and the value of each point, or how many were recorded."""
        read: Any = self.reader.get_metrics_data()
        groups = [] if read is None else [scope for one in read.resource_metrics for scope in one.scope_metrics]
        return {one.name: list(map(number, one.data.data_points)) for group in groups for one in group.metrics}

    def value(self, name: str, **labels: str) -> float:
        """The number that is exported under this name and these labels; 0 where there is none."""
        wanted = {"memory": "test", **labels}
        return next((value for own, value in self.points().get(name, []) if own == wanted), 0.0)


def number(point: Any) -> tuple[Labels, float]:
    """The labels of a point and its value; of a histogram, how many were recorded."""
    return dict(point.attributes), float(point.count if hasattr(point, "count") else point.value)


@pytest.fixture
def backend() -> Iterator[Backend]:
    made = Backend()
    yield made
    made.traces.shutdown()
    made.meters.shutdown()


@pytest.fixture
def alice(tmp_path: Path, backend: Backend) -> Iterator[UserMemory]:
    policy = Policy(channels=("dense", "lexical", "own"))
    options: dict[str, Any] = {"policy": policy, "channels": {"own": lambda *_: []}, "telemetry": backend.telemetry}
    with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors, **options) as memory:
        user = memory.for_user(f"{CANARY}-user")
        user.remember_many([f"the {CANARY} sings", "the dog barks"])
        yield user


def parent(span: ReadableSpan, of: dict[str, ReadableSpan]) -> str | None:
    """The name of the span that this one is a part of."""
    names = {one.context.span_id: name for name, one in of.items() if one.context is not None}
    return None if span.parent is None else names[span.parent.span_id]


@pytest.mark.parametrize("later", [False, True])
def test_a_recall_is_a_span_with_its_sources_and_what_they_ask_of_the_ledger(
    alice: UserMemory, backend: Backend, later: bool
) -> None:
    before = alice.recall(f"what sings, {CANARY}?")
    alice.feedback(before, helpful=before.ids[:1])
    backend.spans()
    question = f"what sings? {CANARY}"
    recall = asyncio.run(alice.arecall(question)) if later else alice.recall(question)
    spans = backend.spans()
    root = spans["adaptive_memory.recall"]
    assert root.parent is None
    assert root.attributes is not None
    assert (root.attributes["hits"], root.attributes["k"]) == (len(recall), 5)
    for source in ("dense", "lexical", "own", "asked before"):
        assert parent(spans[f"adaptive_memory.source {source}"], spans) == root.name
    assert parent(spans["adaptive_memory.ledger recalls.count"], spans) == root.name
    asked = spans["adaptive_memory.ledger judged_questions.of"]
    assert parent(asked, spans) == "adaptive_memory.source asked before"


def test_the_span_of_a_recall_is_a_part_of_the_callers(alice: UserMemory, backend: Backend) -> None:
    tracer = backend.traces.get_tracer("a program")

    async def turn() -> None:
        with tracer.start_as_current_span("turn"):
            await asyncio.gather(alice.arecall("dog"), alice.arecall("bird"))

    asyncio.run(turn())
    with tracer.start_as_current_span("again"):
        alice.recall("dog")
    found = [one for one in backend.exporter.get_finished_spans() if one.name == "adaptive_memory.recall"]
    names = {one.context.span_id: one.name for one in backend.exporter.get_finished_spans() if one.context is not None}
    assert [names[one.parent.span_id] for one in found if one.parent is not None] == ["turn", "turn", "again"]


def test_every_call_is_counted_with_what_came_of_it(alice: UserMemory, backend: Backend) -> None:
    for _ in range(3):
        alice.recall("dog")
    alice.recall("dog", filter={"colour": "none"})
    with pytest.raises(LookupError):
        alice.get("no such id")
    assert backend.value("adaptive_memory.verb.duration", verb="recall") == 4
    assert backend.value("adaptive_memory.verb.duration", **{"verb": "get", "error.type": "NotFoundError"}) == 1
    assert backend.value("adaptive_memory.recall.hits") == 4
    assert backend.value("adaptive_memory.source.duration", source="own") == 4
    assert backend.value("adaptive_memory.ledger.duration", operation="recalls.count") == 4


def test_a_source_and_a_ledger_that_fail_can_be_told(tmp_path: Path, backend: Backend) -> None:
    class Full(SQLiteLedger):
        def __init__(self, path: str) -> None:
            super().__init__(path)
            self.recalls.count = self.refuse  # type: ignore[assignment, method-assign]

        def refuse(self, *_: Any) -> Any:
            raise LedgerError(f"no room for {CANARY}")

    def fails(*_: Any) -> Any:
        raise ValueError(CANARY)

    options: dict[str, Any] = {"policy": Policy(channels=("dense", "own")), "channels": {"own": fails}}
    options |= {"telemetry": backend.telemetry, "ledger": Full(str(tmp_path / "ledger.sqlite3"))}
    with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors, **options) as memory:
        user = memory.for_user(CANARY)
        user.remember(CANARY)
        assert len(user.recall(CANARY)) == 1
        failed = {"source": "own", "error.type": "ValueError"}
        assert backend.value("adaptive_memory.source.duration", **failed) == 1
        failed = {"operation": "recalls.count", "error.type": "LedgerError"}
        assert backend.value("adaptive_memory.ledger.duration", **failed) == 1
        span = backend.spans()["adaptive_memory.ledger recalls.count"]
        assert not span.status.is_ok
        assert span.events == ()
    assert CANARY not in str(backend.points())


def test_what_waits_to_be_written_back_is_exported(tmp_path: Path, backend: Backend) -> None:
    late = Keeping(lag_seconds=3_600)
    options: dict[str, Any] = {"telemetry": backend.telemetry, "keeping": late, "embedder": word_vectors}
    with (
        AdaptiveMemory.open(tmp_path / "one", **options) as one,
        AdaptiveMemory.open(tmp_path / "other", **options) as other,
    ):
        for memory in (one, other):
            memory.for_user("ana").remember("tea", id="tea")
            memory.for_user("ana").recall("tea")
        assert eventually(lambda: backend.value("adaptive_memory.write_back.lag") > 0.0)
        assert backend.value("adaptive_memory.write_back.waiting") == 2
        one.flush()
        assert backend.value("adaptive_memory.write_back.waiting") == 1
        assert backend.value("adaptive_memory.write_back.records", result="written") == 1
        other.flush()
        assert backend.value("adaptive_memory.write_back.lag") == 0.0
        assert backend.value("adaptive_memory.background.failures", chore="write-back") == 0
    assert "adaptive_memory.write_back.waiting" not in backend.points()


def test_nothing_of_a_users_is_in_any_of_it(alice: UserMemory, backend: Backend) -> None:
    alice.observe([{"text": f"{CANARY} {number}", "speaker": CANARY, "session": CANARY} for number in range(3)])
    alice.themes()
    found = alice.recall(CANARY, filter={"kind": CANARY}, turn=CANARY)
    alice.feedback(alice.recall(CANARY), helpful=found.ids)
    with pytest.raises(LookupError):
        alice.forget(CANARY)
    with pytest.raises(InvalidInputError):
        alice.remember_many([{"text": CANARY, "importance": CANARY}])
    said = [span.to_json() for span in backend.exporter.get_finished_spans()]
    assert len(said) > 10
    assert CANARY not in str(said)
    assert CANARY not in str(backend.points())


def test_a_ledger_is_watched_in_all_its_parts_and_stays_what_it_is(alice: UserMemory) -> None:
    ledger: Any = alice.memory.ports().ledger
    assert isinstance(ledger, SQLiteLedger)
    assert {"recalls", "states", "outbox", "log"} <= set(PARTS)
    assert ledger.file.place is not None
    assert not ledger.read_only
    assert ledger.recalls.count is ledger.recalls.count


def test_a_watched_memory_does_all_that_others_do(alice: UserMemory, tmp_path: Path) -> None:
    memory: Any = alice.memory
    memory.backup(tmp_path / "copy")
    assert not memory.check(repair=True).findings
    alice.prune(max_records=1, dry_run=True)
    assert alice.replay(Policy(half_life_days=1.0)) is not None


def test_a_memory_that_is_dropped_is_not_kept_by_who_watches_it(tmp_path: Path, backend: Backend) -> None:
    memory: Any = AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors, telemetry=backend.telemetry)
    opened = weakref.ref(memory.opened)
    del memory
    assert eventually(lambda: gc.collect() >= 0 and opened() is None)


def test_what_was_counted_stays_counted_when_a_memory_is_closed(tmp_path: Path, backend: Backend) -> None:
    for number in range(2):
        options: dict[str, Any] = {"telemetry": backend.telemetry, "embedder": word_vectors}
        with AdaptiveMemory.open(tmp_path / f"memory-{number}", **options) as memory:
            memory.for_user("ana").remember("tea")
            memory.for_user("ana").recall("tea")
            memory.flush()
            assert backend.value("adaptive_memory.write_back.records", result="written") == number + 1
    assert backend.value("adaptive_memory.write_back.records", result="written") == 2


def test_by_default_nothing_is_wrapped(tmp_path: Path) -> None:
    """So a recall pays nothing: its sources, and its ledger are the ones they would be."""
    with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors) as memory:
        ports = memory.ports()
        assert memory.opened.telemetry is None
        assert type(ports.ledger) is SQLiteLedger
        assert all(type(one).__module__.startswith("adaptive_memory_core.sources") for one in ports.sources)


@pytest.mark.parametrize("given", ["on", 1.5, OpenTelemetry])
def test_what_cannot_watch_is_refused(tmp_path: Path, given: Any) -> None:
    with pytest.raises(InvalidInputError, match="telemetry is"):
        AdaptiveMemory.open(tmp_path / "memory", telemetry=given)
    assert not (tmp_path / "memory").exists()


def test_true_means_what_the_process_has_set_up(tmp_path: Path) -> None:
    """Here it has set up nothing, and nothing is kept."""
    with AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors, telemetry=True) as memory:
        memory.for_user("ana").remember("tea")
        assert len(memory.for_user("ana").recall("tea")) == 1


@pytest.mark.parametrize("name", ["tracer_provider", "meter_provider"])
def test_what_is_no_provider_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match=name):
        OpenTelemetry(**{name: "yes"})  # type: ignore[arg-type] # the mistake
