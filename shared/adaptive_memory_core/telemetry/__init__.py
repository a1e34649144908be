"""Telemetry: `OpenTelemetry` with its spans and metrics, and `Telemetry`, the interface for other implementations.

>>> from adaptive_memory_core.telemetry import OpenTelemetry
>>> watched = OpenTelemetry(attributes={"memory": "support"})      # AdaptiveMemory.open(path, telemetry=watched)
"""

from adaptive_memory_core.errors import MissingExtraError
from adaptive_memory_core.flow.ports.models import OpenMemory, Telemetry

try:
    from adaptive_memory_core.telemetry.open_telemetry import OpenTelemetry
except ModuleNotFoundError as missing:
    raise MissingExtraError.of("opentelemetry-api", "otel") from missing

__all__ = ["OpenMemory", "OpenTelemetry", "Telemetry"]
