"""Which embedders and rerankers are there? `embedder` wraps any; the others are imported when asked for."""
