"""Who finds the names in a sentence for the graph, if not our rules? A spaCy pipeline."""

from adaptive_memory_core.models.callbacks import SpacyEntities

__all__ = ["SpacyEntities"]
