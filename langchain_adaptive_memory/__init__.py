"""Adaptive memory for LangChain and LangGraph. Nothing is here yet: use `adaptive_memory_core` directly meanwhile."""

__all__: list[str] = []
