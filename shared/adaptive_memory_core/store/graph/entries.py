"""What do records add to the graph? Their passages, with the titles that are known found again in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.graph import GraphEntry, GraphRows
from adaptive_memory_core.graph.build import passage, split_title
from adaptive_memory_core.graph.names import Extract, handle, names
from adaptive_memory_core.graph.titles import title_of
from adaptive_memory_core.records import Metadata, Scope


class Written(NamedTuple):
    """A record as it stands in the collection."""

    stored_id: str
    text: str
    metadata: Metadata | None
    vector: Any
    word_row: int | None = None


def entries(
    rows: GraphRows, scope: Scope, records: Sequence[Written], fields: Fields, extract: Extract | None
) -> list[GraphEntry]:
    """The records' parts of the graph. A title among them is found again in the others, too."""
    titles = {one.stored_id: title_of(one.metadata, fields) for one in records}
    new = {handle(named) for one in records if (named := split_title(one.text, titles[one.stored_id])[0])}

    def known(possible: Collection[str]) -> set[str]:
        return rows.titles(scope, possible) | (new & set(possible))

    return [
        GraphEntry(
            one.stored_id,
            passage(one.text, titles[one.stored_id], known, extract or names),
            b"" if one.vector is None else np.asarray(one.vector, dtype="<f2").tobytes(),
            one.word_row,
        )
        for one in records
    ]
