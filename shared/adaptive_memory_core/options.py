"""The options of a memory: one list of arguments, for a collection and for a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from typing_extensions import TypedDict

from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.error_messages import shown, told
from adaptive_memory_core.errors import InvalidInputError, PolicyError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.models import Roles, Telemetry
from adaptive_memory_core.graph.names import Extract
from adaptive_memory_core.models.callbacks import ChannelFunction, Reader, Reranker, SameFact
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

NEVER_NONE = frozenset({"clock", "write", "shared"})


class Options(TypedDict, total=False):
    """The keyword arguments of `AdaptiveMemory` and of `AdaptiveMemory.open`.

    - `embedder`: a callable from a list of texts to a list of vectors, an embedder of this package, an embedding model
      of LangChain or LlamaIndex, or None for the collection's own embedding function (in `open`: the bundled one).
    - `ledger`: a path, ":memory:", "postgresql://user@host/database" or a `psycopg_pool.ConnectionPool` (extra
      `postgres`, docs/guides/deployment.md), or a Ledger. Omitted, it is a file in the directory of a persistent
      client, and RAM for an ephemeral one; for a server it must be given.
    - `policy`: how recalls rank (docs/reference/policy.md). `fields`: the keys to use (docs/reference/stored.md).
    - `keeping`: how ledger, log and write-back are kept. `write="through"` writes read state into the collection before
      `recall` returns, instead of a few seconds later.
    - `durability`: "normal" (what counts outlives the process, also one that is killed; a power cut may take the last
      moments), or "full" (a power cut takes nothing: each write waits for the disk, those at one moment together).
    - `clock`: a function that returns POSIX seconds.
    - `languages`: rules for words about time in questions; omitted, all of `adaptive_memory_core.languages`, with days
      of UTC; `all_languages(zone)` for others.
    - `channels`: further ways to find records, by name: functions of a cue, a user and a limit that return ids with a
      number in [0, 1] each; blocking or async. A policy says which ones are asked.
    - `reranker`: a function of a cue and a list of texts to one number each, blocking or async, or an object with
      `predict(pairs)`, such as a sentence-transformers CrossEncoder.
    - `same_fact`: a function of the cue and a list of texts to one label each, blocking or async. Texts with one label
      say the same about the same subject, so the newest of them comes first; None for all others. It replaces ours.
    - `reader`: a function of a question and a list of texts to how uncertain an answer from them is, in nats a token,
      blocking or async, such as `judges.OpenAIReader`. Recalls of the shape "top_down" ask it which episodes help.
    - `judge`: a chat model, or `judges.Judge(...)` with your own functions. It says whether GAM-RAG needs another
      round (`Policy.preset("gam_rag")`), when a text holds, and what an answer rests on (`feedback_on_answer`).
    - `entities`: a function of a sentence to the names in it, for the channel "graph"; omitted, they are found by rule.
      `SpacyEntities("en_core_web_sm")` asks a spaCy pipeline (docs/guides/graph.md).
    - `roles`: the models that help to make episodes, semantics and themes (docs/guides/conversations.md);
      omitted, it is done by rule.
    - `telemetry`: True for spans and metrics of OpenTelemetry (extra `otel`) with the providers that the program has
      set, or `telemetry.OpenTelemetry(...)` with others; off otherwise, at no cost (docs/guides/operations.md).
    - `shared`: the users whose records any user may fall back to (`for_user(..., fallback=...)`).
    """

    embedder: Any
    ledger: str | Path | Ledger | None
    policy: Policy | None
    fields: Fields | None
    clock: Callable[[], float]
    write: Literal["behind", "through"]
    keeping: Keeping | None
    durability: Literal["normal", "full"] | None
    languages: Iterable[Language] | None
    channels: Mapping[str, ChannelFunction] | None
    reranker: Reranker | None
    same_fact: SameFact | None
    reader: Reader | None
    judge: Any
    shared: Iterable[str]
    roles: Roles | None
    entities: Extract | None
    telemetry: bool | Telemetry | None


def checked(given: Options, *, usual_clock: Callable[[], float]) -> Options:
    """The options with their defaults; an unknown name is a TypeError, as for any function."""
    if unknown := sorted(set(given) - set(Options.__annotations__)):
        raise TypeError(told("AdaptiveMemory", unknown[0], list(Options.__annotations__), None))
    usual: Options = {
        "policy": Policy(),
        "fields": Fields(),
        "clock": usual_clock,
        "write": "behind",
        "keeping": Keeping(),
        "shared": (),
    }
    said = {name: value for name, value in given.items() if value is not None or name in NEVER_NONE}
    options = cast("Options", {**usual, **said})
    if options["write"] not in ("behind", "through"):
        raise PolicyError(f"write is {shown(options['write'])}. It must be 'behind' or 'through'.")
    if not callable(options["clock"]):
        raise InvalidInputError(f"clock is {shown(options['clock'])}. Give a function that returns POSIX seconds.")
    if not isinstance(options["fields"], Fields):
        raise InvalidInputError(f"fields is {shown(options['fields'])}. Give Fields(...), or leave it out.")
    if not isinstance(options["keeping"], Keeping):
        raise InvalidInputError(f"keeping is {shown(options['keeping'])}. Give Keeping(...), or leave it out.")
    _check_languages(options)
    if isinstance(ledger := options.get("ledger"), str | Path):
        options["ledger"] = os.path.expanduser(ledger)
    if (durability := options.get("durability")) is not None:
        options["keeping"] = replace(options["keeping"] or Keeping(), durability=durability)
    return options


def _check_languages(options: Options) -> None:
    """Refuse values that are not rules; an iterator, which can be read only once, is kept as a tuple."""
    given = options.get("languages")
    if given is None:
        return
    languages = tuple(given) if isinstance(given, Iterable) else (given,)
    if not isinstance(given, Iterable) or not all(map(callable, languages)):
        raise InvalidInputError(
            f"languages is {shown(given)}. Give a list of rules, such as "
            "adaptive_memory_core.languages.all_languages()."
        )
    options["languages"] = languages
