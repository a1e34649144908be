"""What was each user's newest recall? Kept as long as `explain_last` may be asked."""

from __future__ import annotations

import threading
from collections import OrderedDict

from adaptive_memory_core import Recall, Scope

MOST_USERS = 100  # whose newest recall is held
NOTHING_YET = "Nothing was recalled here yet."


class LastRecalls:
    """The newest recall of each user; retrievers that are made from another one's fields share it.

    >>> LastRecalls().explain(Scope("ana"))
    'Nothing was recalled here yet.'
    """

    def __init__(self) -> None:
        self._recalls: OrderedDict[Scope, Recall] = OrderedDict()
        self._changing = threading.Lock()

    def __deepcopy__(self, memo: object) -> LastRecalls:
        return self

    def note(self, recall: Recall) -> None:
        with self._changing:
            self._recalls[recall.scope.own] = recall
            self._recalls.move_to_end(recall.scope.own)
            while len(self._recalls) > MOST_USERS:
                self._recalls.popitem(last=False)

    def explain(self, scope: Scope) -> str:
        recall = self._recalls.get(scope.own)
        return NOTHING_YET if recall is None else recall.explain()
