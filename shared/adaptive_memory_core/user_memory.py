"""One user's memory: all reads and writes, blocking and async, bound to one scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, overload

from adaptive_memory_core.arguments import over as check_over
from adaptive_memory_core.error_messages import no_attribute, shown
from adaptive_memory_core.errors import ScopeError
from adaptive_memory_core.flow.calls.running_calls import blocking
from adaptive_memory_core.flow.calls.workers import awaited
from adaptive_memory_core.flow.fallback import Fallback
from adaptive_memory_core.in_force import OwnPolicy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Receipt
from adaptive_memory_core.verbs import explaining, forgetting, inspection, recalling, remembering, tuning, verdicts

Several = list[Any] | tuple[Any, ...] | None
Where = Mapping[str, Any] | None

if TYPE_CHECKING:
    from adaptive_memory_core.memory import AdaptiveMemory


class UserMemory:
    """One user's memory; or, from `for_everyone()`, the records that belong to no user.

    Every method has an async twin with the prefix `a`, with all I/O off the event loop.

    >>> import chromadb
    >>> from adaptive_memory_core import AdaptiveMemory
    >>> letters = lambda texts: [[float(text.count(letter)) for letter in "aeiou"] for text in texts]
    >>> collection = chromadb.EphemeralClient().create_collection("doctest-one-user", embedding_function=None)
    >>> memory = AdaptiveMemory(collection, embedder=letters)
    >>> alice = memory.for_user("alice")
    >>> alice.remember("green tea", id="tea"), alice.remember("black coffee", id="coffee")
    ('tea', 'coffee')
    >>> recall = alice.recall("green tea", k=1)
    >>> recall.ids, recall.dropped[0].reason
    (('tea',), 'beyond k')
    >>> alice.feedback(recall, helpful=["tea"]), alice.get("tea").read.retrieval_count
    (1, 1)
    >>> alice.forget("tea").collection
    True
    >>> memory.close()
    """

    def __init__(
        self,
        memory: AdaptiveMemory,
        scope: Scope,
        fallback: Fallback | None = None,
        own_policy: OwnPolicy | None = None,
    ) -> None:
        self.memory = memory  # the memory of this scope
        self.scope = scope
        self.fallback = fallback
        self.own_policy = OwnPolicy() if own_policy is None else own_policy

    remember, aremember = blocking(remembering.remember), awaited(remembering.remember)
    remember_many, aremember_many = blocking(remembering.remember_many), awaited(remembering.remember_many)
    update, aupdate = blocking(remembering.update), awaited(remembering.update)
    observe, aobserve = blocking(remembering.observe), awaited(remembering.observe)
    themes, athemes = blocking(remembering.themes), awaited(remembering.themes)
    hierarchy, ahierarchy = blocking(remembering.hierarchy), awaited(remembering.hierarchy)
    recall, arecall = blocking(recalling.recall), awaited(recalling.recall)
    rerank, arerank = blocking(recalling.rerank), awaited(recalling.rerank)
    get, aget = blocking(recalling.get), awaited(recalling.get)
    why, awhy = blocking(explaining.why), awaited(explaining.why)

    feedback, afeedback = blocking(verdicts.feedback), awaited(verdicts.feedback)
    feedback_on_answer = blocking(verdicts.feedback_on_answer)
    afeedback_on_answer = awaited(verdicts.feedback_on_answer)
    pin, apin = blocking(verdicts.pin), awaited(verdicts.pin)
    unpin, aunpin = blocking(verdicts.unpin), awaited(verdicts.unpin)
    demote, ademote = blocking(verdicts.demote), awaited(verdicts.demote)
    reset_balance, areset_balance = blocking(verdicts.reset_balance), awaited(verdicts.reset_balance)

    reset_policy, areset_policy = blocking(inspection.reset_policy), awaited(inspection.reset_policy)

    if TYPE_CHECKING:

        @overload
        def forget(self, ids: str, replaced: bool = ...) -> Receipt: ...
        @overload
        def forget(self, ids: Several = ..., replaced: bool = ..., *, filter: Where = ...) -> list[Receipt]: ...
        def forget(self, ids: Any = None, replaced: bool = False, *, filter: Where = None) -> Any: ...  # noqa: A002
        @overload
        async def aforget(self, ids: str, replaced: bool = ...) -> Receipt: ...
        @overload
        async def aforget(self, ids: Several = ..., replaced: bool = ..., *, filter: Where = ...) -> list[Receipt]: ...
        async def aforget(self, ids: Any = None, replaced: bool = False, *, filter: Where = None) -> Any: ...  # noqa: A002
    else:
        forget, aforget = blocking(forgetting.forget), awaited(forgetting.forget)
    forget_learned, aforget_learned = blocking(forgetting.forget_learned), awaited(forgetting.forget_learned)
    prune, aprune = blocking(forgetting.prune), awaited(forgetting.prune)
    export_state, aexport_state = blocking(explaining.export_state), awaited(explaining.export_state)
    restore_state, arestore_state = blocking(explaining.restore_state), awaited(explaining.restore_state)

    records, arecords = blocking(inspection.records), awaited(inspection.records)
    recalls, arecalls = blocking(inspection.recalls), awaited(inspection.recalls)
    remembered, aremembered = blocking(inspection.remembered), awaited(inspection.remembered)
    pinned, apinned = blocking(inspection.pinned), awaited(inspection.pinned)
    changes, achanges = blocking(inspection.changes), awaited(inspection.changes)
    history, ahistory = blocking(inspection.history), awaited(inspection.history)
    stats, astats = blocking(inspection.stats), awaited(inspection.stats)
    replay, areplay = blocking(explaining.replay), awaited(explaining.replay)
    report, areport = blocking(explaining.report), awaited(explaining.report)
    tune, atune = blocking(tuning.tune), awaited(tuning.tune)
    evaluate, aevaluate = blocking(tuning.evaluate), awaited(tuning.evaluate)
    calibrate, acalibrate = blocking(inspection.calibrate), awaited(inspection.calibrate)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(UserMemory, name, "memory.", type(self.__dict__.get("memory")))

    def __repr__(self) -> str:
        return f"<memory of {self.scope}>"

    @property
    def user(self) -> str | int | None:
        return self.scope.name

    def over(self, others: object) -> UserMemory:
        """This user's memory, also reading others' records ("everyone", or None for nobody's), as with
        `for_user(over=)`. The memory from `for_everyone()` is returned unchanged."""
        scope = check_over(self.scope.own, others, self.fallback)
        if scope == self.scope or self.user is None:
            return self
        return UserMemory(self.memory, scope, self.fallback, self.own_policy)

    def scope_in(self, memory: AdaptiveMemory) -> Scope:
        """The scope. Raises ScopeError if it belongs to another memory."""
        if self.memory is not memory:
            raise ScopeError(f"The fallback {shown(self)} is of another memory. Give one of this memory's scopes.")
        return self.scope
