"""Is a policy enough to give a LlamaIndex retriever's answers another shape?"""

from __future__ import annotations

from adaptive_memory_core import AdaptiveMemory, Policy
from llama_adaptive_memory import AdaptiveMemoryRetriever
from tests.behaviour.test_observe import CONVERSATIONS
from tests.llama_adaptive_memory.conftest import ids


def test_top_down_gives_a_node_for_each_episode_and_episodes_the_hits(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    known = user.observe(CONVERSATIONS)
    user.themes()

    def found(policy: Policy | None) -> list[str]:
        retriever = AdaptiveMemoryRetriever(user, similarity_top_k=4, reinforce=False, policy=policy)
        return ids(retriever.retrieve("beagle puppy shoes"))

    assert found(Policy(shape="episodes")) == found(None)
    down = found(Policy(shape="top_down"))
    assert down[0] in known[:3]
    assert len(set(down) & set(known[:3])) == 1
