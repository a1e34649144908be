"""A process of its own that embeds in workers, as a large ingestion does."""

from __future__ import annotations

from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline

from llama_adaptive_memory import LocalEmbedding


def main() -> None:
    pipeline = IngestionPipeline(transformations=[LocalEmbedding(embed_batch_size=7)])
    nodes = pipeline.run(documents=[Document(text=f"tea {number}") for number in range(4)], num_workers=2)
    for node in sorted(nodes, key=lambda one: one.get_content()):
        print(node.get_content(), len(node.embedding or []))


if __name__ == "__main__":
    main()
