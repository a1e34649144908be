"""Does the comparison in bytes find the nearest of all? `python -m benchmarks.int8_recall --data DIR`.

All texts of some data sets are one user's, embedded by a real model, and the sets' questions are asked: of the nearest
twenty in full precision, how many the search finds that compares bytes first and then the best of these in full.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.store.mirror import vector_matrix
from adaptive_memory_core.store.mirror.vector_matrix import Matrix
from benchmarks.data import add_data_argument, load
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.report import print_table

SETS = ("locomo", "clinc150", "banking77", "assistant_chats", "hotpotqa_200", "madial_en")
NEAREST, PAGE = 20, 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--embedders", nargs="+", choices=sorted(EMBEDDERS), default=["local"])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--most", type=int, default=1_000, help="questions")
    given = parser.parse_args()
    print_table([measured(name, given) for name in given.embedders], title=f"Of the nearest {NEAREST}, found in bytes")


def measured(embedder: str, given: Any) -> dict[str, Any]:
    sets = [load(given.data, name) for name in given.sets]
    texts = list(dict.fromkeys(item.text for each in sets for item in each.items))
    asked = [question.query for each in sets for question in each.questions]
    cues = asked[:: max(1, len(asked) // given.most)][: given.most]
    rows, vectors = embedded(embedder, texts), embedded(embedder, cues)
    matrix = Matrix("cosine", rows.shape[1])
    matrix.extend(rows)
    if matrix.arrays().get("bytes") is None:
        raise SystemExit(f"{len(rows)} texts, or no simsimd: nothing is compared in bytes.")
    shares, own = [], matrix.vectors(np.arange(len(rows)))
    for vector in vectors:
        query = matrix.asked(vector)
        wanted = np.sort(own @ query.vector)[-NEAREST:]
        found = np.sort(own[matrix.nearest(query, NEAREST)[0]] @ query.vector)
        shares.append(float((found >= wanted[0] - 1e-6).mean()))
    return {
        "embedder": embedder,
        "texts": len(texts),
        "numbers": rows.shape[1],
        "questions": len(cues),
        "compared again": vector_matrix.RESCORED,
        "found": round(float(np.mean(shares)), 5),
        "least": round(min(shares), 3),
    }


def embedded(name: str, texts: Sequence[str]) -> Any:
    embed = embedder_of(name).embed_documents
    return np.concatenate([np.asarray(embed(texts[at : at + PAGE]), "f4") for at in range(0, len(texts), PAGE)])


if __name__ == "__main__":
    main()
