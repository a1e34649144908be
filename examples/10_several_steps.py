"""What if no single record answers a question? The graph goes on from one record to the next by the names in them.

python examples/10_several_steps.py
"""

from __future__ import annotations

import tempfile

from adaptive_memory_core import AdaptiveMemory, Policy

RECORDS = {
    "teutberga": ("Teutberga", "Teutberga was a queen by marriage to Lothair II."),
    "lothair-2": ("Lothair II", "Lothair II gave his name to Lotharingia. He was a son of Lothair I."),
    "lothair-1": ("Lothair I", "Lothair I became a monk in the abbey of Prüm."),
    "lothair-3": ("Lothair III", "Lothair III was emperor three centuries later."),
}
OTHERS = [f"Page {n} is about queens, and about deaths of kings." for n in range(40)]
CUE = "Where did the father of Teutberga's husband die?"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, AdaptiveMemory.open(folder) as memory:
        ana = memory.for_user("ana")
        ana.remember_many(
            [{"id": one, "text": text, "metadata": {"title": title}} for one, (title, text) in RECORDS.items()]
        )
        ana.remember_many(OTHERS)
        without = ana.recall(CUE, k=3, reinforce=False)
        print("vectors and words: ", sorted(set(without.ids) & set(RECORDS)))
        policy = Policy(channels=("dense", "lexical", "graph"))
        found = ana.recall(CUE, k=3, policy=policy)
        print("and the graph:     ", sorted(set(found.ids) & set(RECORDS)))
        for one, reasons in found.because.items():
            print(f"{one} {'; '.join(reasons)}")


if __name__ == "__main__":
    main()
