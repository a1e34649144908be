"""Who turns text into vectors? `embedder` is what the rest of the core uses; the others are imported when asked for."""
