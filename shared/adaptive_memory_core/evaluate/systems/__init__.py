"""Which systems can be compared? Ours by any policy, plain Chroma, BM25, two frameworks' retrievers, and your own."""
