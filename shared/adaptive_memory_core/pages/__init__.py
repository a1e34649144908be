"""Self-contained HTML pages about a memory and about a comparison."""
