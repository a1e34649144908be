"""Which names of the graph do these records mention, and which stand together?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.graph.ports import passage_of
from adaptive_memory_core.pages.memory.facts import Names
from adaptive_memory_core.records import Record, Scope

MOST_NAMES, MOST_OF_A_RECORD, MOST_EXAMPLES = 100, 12, 3
NO_NAMES = Names()


def names_among(ports: Ports, scope: Scope, records: Sequence[tuple[str, Record]]) -> Flow[Names]:
    """Nothing where no graph was grown."""
    return (yield from ask(_look, ports, scope, dict(records)))


def _look(ports: Ports, scope: Scope, records: dict[str, Record]) -> Names:
    with ports.ledger.graph.view(scope) as graph:
        if not graph.passages or not records:
            return NO_NAMES
        keys = graph.keys_of(list(records))
        ids = {key: stored_id for stored_id, key in keys.items()}
        sentences = graph.sentences_of(np.array(sorted(ids), dtype=np.int64))
        mentioned: dict[str, dict[str, None]] = {}
        for sentence, found in graph.names_in(sentences).items():
            mentioned.setdefault(ids[passage_of(int(sentence))], {}).update(dict.fromkeys(found))
        among = Counter(name for found in mentioned.values() for name in found)
        counts = graph.frequencies([name for name, _ in among.most_common(4 * MOST_NAMES)])
        passages = graph.passages
    order = sorted(counts, key=lambda name: (-among[name], -counts[name], name))[:MOST_NAMES]
    return Names(
        records={name: _examples(name, mentioned, records) for name in order},
        counts={name: counts[name] for name in order},
        links=_links(mentioned, set(order)),
        looked_at=len(keys),
        passages=passages,
    )


def _examples(name: str, mentioned: dict[str, dict[str, None]], records: dict[str, Record]) -> tuple[str, ...]:
    found = (records[stored_id].id for stored_id, names in mentioned.items() if name in names)
    return tuple(one for one, _ in zip(found, range(MOST_EXAMPLES), strict=False))


def _links(mentioned: dict[str, dict[str, None]], drawn: set[str]) -> dict[tuple[str, str], int]:
    pairs: Counter[tuple[str, str]] = Counter()
    for names in mentioned.values():
        own = sorted(name for name in names if name in drawn)[:MOST_OF_A_RECORD]
        pairs.update(combinations(own, 2))
    return dict(pairs.most_common())
