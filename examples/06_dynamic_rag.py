"""ARM as the paper has it: what is read is remembered, what is not fades, and what has faded may be let go.

python examples/06_dynamic_rag.py
"""

from adaptive_memory_core import DynamicRAG, PolicyError

rag = DynamicRAG()
rag.add_document("doc1", "Machine learning is a method of data analysis that learns from examples.")
rag.add_document("doc2", "Deep learning uses neural networks with many layers.")
rag.add_document("doc3", "The canteen serves lentil soup on Thursdays.")

results = rag.query("What is machine learning?", top_k=2)
for hit in results:
    print(f"{hit.score:.3f}  {hit.id}  {hit.text}")

for question in ["How do machines learn?", "Which method analyses data?", "What are neural networks?"] * 4:
    rag.query(question, top_k=1)

stats = rag.embedder.get_memory_statistics()
print(f"Remembered tokens: {stats['remembered_tokens']}")
print(f"mean strength {stats['mean_strength']:.3f}, norm of the stale ones {stats['stale_norm']:.3f}")

# The weights and the paper's numbers can be changed while it runs; what is invalid changes nothing.
rag.embedder.embedding_weights = {"static": 0.3, "dynamic": 0.7}
rag.embedder.configure(decay_rate=0.8, decay_grace_period=2)
try:
    rag.embedder.configure(decay_rate=1.2)
except PolicyError as error:
    print(f"refused: {error}")

# `memory` is the same memory with everything else: pins, the audit trail, pruning.
rag.memory.pin("doc1", by="the operator")
for _ in range(20):
    rag.query("neural networks", top_k=1)
print(f"would go: {rag.prune(below=0.1, dry_run=True).ids}")
print(f"gone: {rag.prune(below=0.1).ids}")
for change in rag.memory.changes():
    print(f"recall {change.step:2}: {change.id} {change.what} by {change.by.split()[0]}")
rag.close()
