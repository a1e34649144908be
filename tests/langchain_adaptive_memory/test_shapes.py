"""Is a policy enough to give a LangChain retriever's answers another shape?"""

from __future__ import annotations

from adaptive_memory_core import AdaptiveMemory, Policy
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from tests.behaviour.test_observe import CONVERSATIONS


async def test_top_down_gives_a_document_for_each_episode_and_episodes_the_hits(memory: AdaptiveMemory) -> None:
    user = memory.for_user("alice")
    ids = user.observe(CONVERSATIONS)
    user.themes()
    retriever = AdaptiveMemoryRetriever(memory=user, k=4, reinforce=False)
    flat = [one.id for one in retriever.invoke("beagle puppy shoes")]
    assert [one.id for one in retriever.invoke("beagle puppy shoes", policy=Policy(shape="episodes"))] == flat
    down = retriever.invoke("beagle puppy shoes", policy=Policy(shape="top_down"))
    assert down[0].id in ids[:3]
    assert len([one for one in down if one.id in ids[:3]]) == 1
    own = AdaptiveMemoryRetriever(memory=user, k=4, reinforce=False, policy=Policy(shape="top_down"))
    assert [one.id for one in await own.ainvoke("beagle puppy shoes")] == [one.id for one in down]
