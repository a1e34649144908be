"""The errors of this package. Each message contains what was given, what is allowed and what to do.

AdaptiveMemoryError
├── InvalidInputError (ValueError)        an argument is wrong; nothing was read or written
│   ├── PolicyError                       a policy, weight or setting outside its range
│   ├── ScopeError                        no user, or another user's recall
│   └── FilterError                       a metadata filter that the collection cannot answer
├── NotFoundError (LookupError)           the id does not exist in this scope
├── ClosedError                           the memory was closed
├── EmbedderError                         the embedder failed or returned something that is not a vector
│   └── EmbedderMismatchError             it is not the embedder that this collection was written with
├── RerankerError                         the reranker failed; a recall continues without it
├── JudgeError                            a chat model that judges failed
├── MissingExtraError (ImportError)       an optional package is needed; the message names the extra
├── StoreError                            the Chroma collection failed
│   ├── PartialWriteError                 only some batches were written; `written_ids` lists them
│   ├── StoreInUseError                   another process has this embedded directory open
│   └── DamagedStoreError                 files of embedded Chroma are damaged; the message explains the repair
└── LedgerError                           the ledger could not be read or written
    ├── LedgerVersionError                the ledger was written by a newer version of this package
    └── DamagedLedgerError                the ledger's file is damaged or not a ledger

None is a RuntimeError or an OSError, because other libraries catch these and raise their own errors instead. LlamaIndex
treats every RuntimeError as a missing event loop, and Starlette every OSError in a streamed answer as a closed client.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "AdaptiveMemoryError",
    "ClosedError",
    "DamagedLedgerError",
    "DamagedStoreError",
    "EmbedderError",
    "EmbedderMismatchError",
    "FilterError",
    "InvalidInputError",
    "JudgeError",
    "LedgerError",
    "LedgerVersionError",
    "MissingExtraError",
    "NotFoundError",
    "PartialWriteError",
    "PolicyError",
    "RerankerError",
    "ScopeError",
    "StoreError",
    "StoreInUseError",
]


class AdaptiveMemoryError(Exception):
    """The root of all errors of this package."""


class InvalidInputError(AdaptiveMemoryError, ValueError):
    """An argument is wrong. Nothing was read or written."""


class PolicyError(InvalidInputError):
    """A policy, a weight or a setting is outside its range. The previous policy stays in force."""


class ScopeError(InvalidInputError):
    """No user was named, or the named recall or record belongs to another user."""


class FilterError(InvalidInputError):
    """The metadata filter cannot be answered by the collection."""


class NotFoundError(AdaptiveMemoryError, LookupError):
    """The id does not exist in this scope."""


class ClosedError(AdaptiveMemoryError):
    """The memory was closed."""


class EmbedderError(AdaptiveMemoryError):
    """The embedder failed, or did not return one finite vector for each text."""


class EmbedderMismatchError(EmbedderError):
    """The collection was written with another embedder."""


class RerankerError(AdaptiveMemoryError):
    """The reranker failed, or did not return one number for each text. A recall continues without it."""


class JudgeError(AdaptiveMemoryError):
    """A chat model that judges failed. Nothing is learned from it."""


class MissingExtraError(AdaptiveMemoryError, ImportError):
    """An optional package is missing.

    >>> str(MissingExtraError.of("openai", "openai"))
    'openai is not installed. Install it with: pip install "adaptive-memory-retrieval[openai]"'
    """

    @classmethod
    def of(cls, package: str, extra: str) -> MissingExtraError:
        return cls(f'{package} is not installed. Install it with: pip install "adaptive-memory-retrieval[{extra}]"')


class StoreError(AdaptiveMemoryError):
    """The Chroma collection failed."""


class PartialWriteError(StoreError):
    """Only some batches of a large write were stored; `written_ids` are the stored records."""

    def __init__(self, message: str, written_ids: Sequence[str]) -> None:
        super().__init__(message)
        self.written_ids = tuple(written_ids)


class StoreInUseError(StoreError):
    """Another process has this embedded directory open."""


class DamagedStoreError(StoreError):
    """Files of embedded Chroma are damaged, foreign or missing. `AdaptiveMemory.repair` rebuilds an index."""


class LedgerError(AdaptiveMemoryError):
    """The ledger could not be read or written."""


class LedgerVersionError(LedgerError):
    """The ledger was written by a newer version of this package."""


class DamagedLedgerError(LedgerError):
    """The ledger's file is damaged or not a ledger."""
