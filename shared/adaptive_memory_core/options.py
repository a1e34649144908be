"""The options of a memory: one list of arguments, for a collection and for a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from typing_extensions import TypedDict

from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.error_messages import shown, unknown_argument_message
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
    - `keeping`: settings for ledger, log and write-back. `write="through"` writes read state into the collection before
      `recall` returns, instead of a few seconds later.
    - `durability`: "normal" (learned state survives the process, even if it is killed; a power cut may lose the last
      moments), or "full" (a power cut loses nothing: each write waits for the disk, together with simultaneous writes).
    - `clock`: a function that returns POSIX seconds.
    - `languages`: rules for words about time in questions; omitted, all of `adaptive_memory_core.languages`, with days
      of UTC; `all_languages(zone)` for other zones.
    - `channels`: further ways to find records, by name: functions of a cue, a user and a limit that return ids with a
      number in [0, 1] each; blocking or async. The policy selects which are used.
    - `reranker`: a function of a cue and a list of texts to one number each, blocking or async, or an object with
      `predict(pairs)`, such as a sentence-transformers CrossEncoder.
    - `same_fact`: a function of the cue and a list of texts to one label each, blocking or async. Texts with one label
      are about the same fact, so the newest comes first; None for all others. It replaces the built-in rule.
    - `reader`: a function of a question and a list of texts to the uncertainty of an answer from them, in nats per
      token, blocking or async, e.g. `judges.OpenAIReader`. Recalls of the shape "top_down" use it to choose episodes.
    - `judge`: a chat model, or `judges.Judge(...)` with your own functions. It decides whether GAM-RAG needs another
      round (`Policy.preset("gam_rag")`), when a text is true, and which records support an answer
      (`feedback_on_answer`).
    - `entities`: a function of a sentence to the names in it, for the channel "graph"; omitted, rules find them.
      `SpacyEntities("en_core_web_sm")` uses a spaCy pipeline (docs/guides/graph.md).
    - `roles`: the models that help to create episodes, semantics and themes (docs/guides/conversations.md); omitted,
      rules do.
    - `telemetry`: True for spans and metrics of OpenTelemetry (extra `otel`) with the program's providers, or
      `telemetry.OpenTelemetry(...)` with others; off otherwise, at no cost (docs/guides/operations.md).
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
    """The options with their defaults. An unknown name raises TypeError, as in any function."""
    if unknown := sorted(set(given) - set(Options.__annotations__)):
        raise TypeError(unknown_argument_message("AdaptiveMemory", unknown[0], list(Options.__annotations__), None))
    usual: Options = {
        "policy": Policy(),
        "fields": Fields(),
        "clock": usual_clock,
        "write": "behind",
        "keeping": Keeping(),
        "shared": (),
    }
    explicit = {name: value for name, value in given.items() if value is not None or name in NEVER_NONE}
    options = cast("Options", {**usual, **explicit})
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
    """Raise if a value is not a rule, and convert an iterator to a tuple, since it can be read only once."""
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
