"""How do two people read one team's handbook? The pages are everyone's, and what each learns of them is their own."""

from __future__ import annotations

import tempfile

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, ScopeError

PAGES = {
    "travel": "Travel: book trains through the portal and keep the receipts.",
    "leave": "Leave: ask your lead two weeks before, and note it in the calendar.",
    "remote": "Remote work: three days a week, and tell your team on Mondays.",
    "costs": "Costs: receipts for travel and meals go into the portal by the fifth.",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, AdaptiveMemory.open(directory, embedder=LocalEmbedder()) as memory:
        everyone = memory.for_everyone()
        everyone.remember_many([{"text": text, "id": one, "kind": "fact"} for one, text in PAGES.items()])
        ana, ben = (memory.for_user(name, over="everyone") for name in ("ana", "ben"))
        ana.remember("I lost a receipt for the train to Bonn.", id="bonn")

        question = "what about receipts for travel?"
        first = ana.recall(question, k=3)
        print("ana finds", [(hit.id, hit.shared) for hit in first])
        print("before:", ana.recall(question, k=3, reinforce=False).ids, ben.recall(question, k=3, reinforce=False).ids)
        ana.feedback(first, helpful=["costs"])
        print("after: ", ana.recall(question, k=3, reinforce=False).ids, ben.recall(question, k=3, reinforce=False).ids)

        reads = [scope.get("costs").read.retrieval_count for scope in (ana, ben, everyone)]
        print("reads of 'costs' by ana, by ben, by everyone's own scope:", reads)
        try:
            ana.forget("costs")
        except ScopeError as refused:
            print("refused:", refused)
        print("let go of:", ana.forget_learned(), "pages;", everyone.stats().records, "pages are left")


if __name__ == "__main__":
    main()
