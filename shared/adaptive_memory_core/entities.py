"""Entity finders for the graph that replace the built-in rules: a spaCy pipeline."""

from adaptive_memory_core.models.callbacks import SpacyEntities

__all__ = ["SpacyEntities"]
