"""How does a memory get another embedder? Its records are embedded anew while it is in use; all else stays."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

from adaptive_memory_core import AdaptiveMemory, as_embedder
from adaptive_memory_core.errors import EmbedderError, EmbedderMismatchError

TOPICS = ("tea", "coffee", "trains", "rain", "music")
NOTES = [{"id": f"n{one}", "text": f"Note {one} is about {TOPICS[one % 5]}."} for one in range(300)]


def letters(texts: Sequence[str]) -> list[list[float]]:  # in place of the model that you have
    return [[1.0 + text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


def pairs(texts: Sequence[str]) -> list[list[float]]:  # in place of the one that you want
    return [[0.1 + text.count(one + other) for one in "aeiounrst" for other in "acefinrst"] for text in texts]


def fails_at_first(texts: Sequence[str]) -> list[list[float]]:
    if "Note 250 is about tea." in texts:
        raise ConnectionError("the model is not reachable")
    return pairs(texts)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        with AdaptiveMemory.open(directory, embedder=letters) as memory:
            ana = memory.for_user("ana")
            ana.remember_many(NOTES)
            ana.feedback(ana.recall("tea", k=1), helpful=ana.recall("tea", k=1, reinforce=False).ids)
            ana.pin("n7")
            try:
                memory.reembed(as_embedder(fails_at_first, name="pairs"))
            except EmbedderError as error:
                print("interrupted:", error.__cause__)
            print("meanwhile by", memory.embedder_name, "->", ana.recall("coffee", k=1, reinforce=False)[0].text[-6:])
            wanted = as_embedder(pairs, name="pairs")
            memory.reembed(wanted, progress=lambda done, total: print(f"{done} of {total}"))
            print("from now on by", memory.embedder_name, "->", ana.recall("coffee", k=1, reinforce=False)[0].text[-6:])
            print("n7 is pinned:", ana.get("n7").read.pinned, "| verdicts:", ana.stats().verdicts)
        try:
            AdaptiveMemory.open(directory, embedder=letters)
        except EmbedderMismatchError as error:
            print("refused:", str(error).split(". ")[0])
        with AdaptiveMemory.open(directory, embedder=wanted) as memory:
            print("opened again:", memory.for_user("ana").stats().records, "records")


if __name__ == "__main__":
    main()
