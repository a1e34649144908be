"""Is a piece of work in another thread a call, in the context of whoever asked for it?"""

from __future__ import annotations

from contextvars import ContextVar

from adaptive_memory_core.flow.calls.call_state import one_call
from adaptive_memory_core.flow.calls.drive import arun, ask
from adaptive_memory_core.flow.calls.looks import known_already, looked_at
from adaptive_memory_core.flow.calls.patience import have_waited, left
from adaptive_memory_core.flow.calls.under_way import CountingExecutor

asker: ContextVar[str] = ContextVar("asker", default="nobody")


async def test_an_async_call_waits_no_longer_than_it_may_in_all_whatever_its_caller_has_waited() -> None:
    with CountingExecutor(1, lambda: one_call(5.0)) as executor, one_call(1.0):
        have_waited(1.0)
        assert await arun(ask(left, 7.0), executor) == 5.0


async def test_what_an_async_call_has_looked_at_it_knows() -> None:
    def twice() -> object:
        looked_at("tea", lambda: "hot")
        return known_already("tea")

    with CountingExecutor(1, one_call) as executor:
        assert await arun(ask(twice), executor) == "hot"
        assert await arun(ask(known_already, "tea"), executor) is None


async def test_the_context_of_the_asker_is_there_and_stays_his() -> None:
    with CountingExecutor(1, one_call) as executor:
        for name in ("ana", "bob"):
            asker.set(name)
            assert await arun(ask(asker.get), executor) == name
