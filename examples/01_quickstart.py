"""How does it begin? Write three memories, recall one, say that it helped."""

import tempfile

from adaptive_memory_core import AdaptiveMemory

with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory, AdaptiveMemory.open(directory) as memory:
    alice = memory.for_user("alice")
    alice.remember("Alice prefers PostgreSQL for new services.", importance=0.8)
    alice.remember("Her cat is called Turing.")
    alice.remember("The quarterly report is due on Friday.")

    recall = alice.recall("which database does Alice like?", k=1)
    print(recall[0].text)
    print(recall.explain())

    alice.feedback(recall, helpful=[recall[0].id])
    memory.flush()
    print(recall.render(max_tokens=100))
    print(alice.get(recall[0].id).read)
