"""Which other collections stand beside one? Those of the same client, tenant and database, by their names.

A collection knows the server's part of its client only, which gives no collections but descriptions of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.store.chroma.calls import told

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI


class Beside:
    """The place that a collection stands in, or that a client asks."""

    def __init__(self, one: Collection | ClientAPI) -> None:
        self._server: Any = getattr(one, "_server", None) or one._client  # type: ignore[union-attr] # a client has the first
        self._place = {"tenant": one.tenant, "database": one.database}

    def get(self, name: str) -> Collection | None:
        """The collection of that name; None where there is none."""
        from chromadb.errors import NotFoundError

        def get() -> Any:
            with suppress(NotFoundError):
                return self._server.get_collection(name=name, **self._place)

        model = told(get)
        return None if model is None else self._collection(model, None)

    def create(
        self, name: str, *, configuration: Mapping[str, Any], metadata: Mapping[str, Any], function: Any
    ) -> Collection:
        """A new one; `function` is an embedding function of Chroma's, to be noted in its configuration."""
        given = {**configuration, **({} if function is None else {"embedding_function": function})}
        model = told(
            lambda: self._server.create_collection(
                name=name, configuration=given, metadata=dict(metadata), **self._place
            )
        )
        return self._collection(model, function)

    def delete(self, name: str) -> None:
        """Delete it, if it is there."""
        from chromadb.errors import NotFoundError

        def delete() -> None:
            with suppress(NotFoundError):
                self._server.delete_collection(name=name, **self._place)

        told(delete)

    def _collection(self, model: Any, function: Any) -> Collection:
        from chromadb import Collection

        return Collection(client=self._server, model=model, embedding_function=function)
