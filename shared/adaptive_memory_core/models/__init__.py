"""Embedders, rerankers, chat models and judges. `embedder` wraps any embedder; the others are imported on use."""
