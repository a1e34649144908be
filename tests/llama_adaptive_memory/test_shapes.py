"""The node of an episode shows a model the episode's name, and none of its messages' ids."""

from __future__ import annotations

from llama_index.core.schema import MetadataMode

from adaptive_memory_core import AdaptiveMemory, Policy
from llama_adaptive_memory import AdaptiveMemoryRetriever
from tests.behaviour.test_observe import CONVERSATIONS


def test_a_model_is_shown_the_name_of_an_episode_and_no_ids(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    known = user.observe(CONVERSATIONS)
    user.themes()
    first = AdaptiveMemoryRetriever(user, policy=Policy(shape="top_down")).retrieve("beagle puppy shoes")[0].node
    shown = first.get_content(MetadataMode.LLM)
    assert first.metadata["episode"] in shown
    assert known[0] not in shown
