"""Adaptive memory for LlamaIndex. Nothing is here yet: use `adaptive_memory_core` directly meanwhile."""

__all__: list[str] = []
