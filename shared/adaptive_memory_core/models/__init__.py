"""Embedders, rerankers, chat models and judges: `embedder` wraps any; the others are imported when asked for."""
