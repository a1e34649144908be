"""Do the alerts that we show name what is exported? Held against what Prometheus would scrape of a memory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY, generate_latest

from adaptive_memory_core import AdaptiveMemory, NotFoundError
from adaptive_memory_core.telemetry import OpenTelemetry
from tests.conftest import word_vectors

ROOT = Path(__file__).parents[2]
RULES = (ROOT / "examples" / "alerts.yaml").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "guides" / "operations.md").read_text(encoding="utf-8")
METRIC = re.compile(r"\badaptive_memory_\w+")
LABEL = re.compile(r"(\w+)(?:!=|=~?)\"|by \((\w+)\)")


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What Prometheus would read of a memory in use, with one call that failed."""
    provider = MeterProvider([PrometheusMetricReader()])
    telemetry = OpenTelemetry(meter_provider=provider)
    try:
        place = tmp_path_factory.mktemp("watched")
        with AdaptiveMemory.open(place / "memory", embedder=word_vectors, telemetry=telemetry) as memory:
            user = memory.for_user("ana")
            user.remember("tea")
            user.recall("tea")
            with pytest.raises(NotFoundError):
                user.get("no such id")
            return generate_latest(REGISTRY).decode()
    finally:
        provider.shutdown()


def rules() -> list[dict[str, Any]]:
    groups: Any = yaml.safe_load(RULES)["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("text", [RULES, PAGE.split("### Alerts")[1]], ids=["rules", "page"])
def test_every_metric_of_an_alert_is_exported(text: str, scraped: str) -> None:
    named, exported = set(METRIC.findall(text)), set(re.findall(r"^(\w+)\{", scraped, re.MULTILINE))
    assert named
    assert named <= exported


def test_every_label_of_an_alert_is_one_of_its_metric(scraped: str) -> None:
    for rule in rules():
        labels = {one or other for one, other in LABEL.findall(rule["expr"])}
        for metric in METRIC.findall(rule["expr"]):
            lines = [line for line in scraped.splitlines() if line.startswith(f"{metric}{{")]
            ours = [line for line in lines if all(f'{label}="' in line for label in labels - {"error_type", "le"})]
            assert ours, f"{metric} has not all of {labels}"
    assert 'error_type="NotFoundError"' in scraped


def test_an_empty_recall_is_in_the_bucket_that_the_alert_reads(scraped: str) -> None:
    assert re.search(r'adaptive_memory_recall_hits_bucket\{le="0(\.0)?"', scraped)


def test_every_alert_says_what_to_look_at() -> None:
    assert len(rules()) > 8
    assert all(rule["annotations"]["summary"].endswith((".", "?")) for rule in rules())


def test_the_page_lists_every_metric(scraped: str) -> None:
    listed = {one.replace(".", "_") for one in re.findall(r"^\| `(adaptive_memory[\w.]+)`", PAGE, re.MULTILINE)}
    exported = set(re.findall(r"^# TYPE (adaptive_memory_\w+?)(?:_seconds|_total)? \w+$", scraped, re.MULTILINE))
    assert listed == exported
