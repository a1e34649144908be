"""Is a policy enough to give a LlamaIndex retriever's answers another shape?"""

from __future__ import annotations

from llama_index.core.schema import MetadataMode, NodeWithScore

from adaptive_memory_core import AdaptiveMemory, Policy
from llama_adaptive_memory import AdaptiveMemoryRetriever
from tests.behaviour.test_observe import CONVERSATIONS, PETS
from tests.llama_adaptive_memory.conftest import ids


def test_top_down_gives_a_node_for_each_episode_and_episodes_the_hits(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    known = user.observe(CONVERSATIONS)
    user.themes()

    def nodes(policy: Policy | None) -> list[NodeWithScore]:
        retriever = AdaptiveMemoryRetriever(user, similarity_top_k=4, reinforce=False, policy=policy)
        return retriever.retrieve("beagle puppy shoes")

    def found(policy: Policy | None) -> list[str]:
        return ids(nodes(policy))

    assert found(Policy(shape="episodes")) == found(None)
    down = found(Policy(shape="top_down"))
    assert down[0] in known[:3]
    assert len(set(down) & set(known[:3])) == 1
    first = nodes(Policy(shape="top_down"))[0].node
    assert first.get_content() == "\n".join(f"Ana: {text}" for text in PETS)
    assert first.metadata["message_ids"] == known[:3]
    shown = first.get_content(MetadataMode.LLM)
    assert first.metadata["episode"] in shown
    assert known[0] not in shown
    assert all("message_ids" not in one.node.metadata for one in nodes(None))


def test_feedback_on_the_node_of_an_episode_is_of_the_message_that_it_was_found_by(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    user.observe(CONVERSATIONS)
    user.themes()
    retriever = AdaptiveMemoryRetriever(user, similarity_top_k=1, policy=Policy(shape="top_down"))
    assert retriever.feedback(helpful=retriever.retrieve("beagle puppy shoes")) == 1
