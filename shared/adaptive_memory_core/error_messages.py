"""Values, unknown names and errors as shown in messages and in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar

from adaptive_memory_core.errors import ClosedError, DamagedStoreError, LedgerError, StoreInUseError

MOST_SHOWN = 200  # characters of a value
MOST_OF_A_REASON = 1_000  # characters of another library's error
MOST_LISTED = 10  # values of a list


def shown(value: object, most: int = MOST_SHOWN) -> str:
    """The value as Python writes it; a long value is cut, with its length added.

    >>> shown("tea"), shown("z" * 100_000, most=10)
    ("'tea'", "'zzzzzzzzz... (100,000 characters)")
    >>> shown(10**5000)
    'a number of 16,610 bits'
    """
    try:
        text = repr(value)
    except ValueError:  # Python cannot write a number of more than 4,300 digits
        length = f"number of {value.bit_length():,} bits" if isinstance(value, int) else type(value).__name__
        return f"a {length}"
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({len(value if isinstance(value, str) else text):,} characters)"


def listed(values: Iterable[object]) -> str:
    """The first of the values, and the number of the rest.

    >>> listed(["a", "b"]), listed(range(12))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    rest = iter(values)
    first = ", ".join(shown(one) for one in islice(rest, MOST_LISTED))
    more = sum(1 for _ in rest)
    return f"{first} and {more:,} more" if more else first


def reason(error: BaseException) -> str:
    """The message of another library's error, without a final full stop, for use within our own sentence.

    >>> reason(ValueError("Collection [x] does not exist."))
    'Collection [x] does not exist'
    """
    return shortened_text(str(error).strip().rstrip("."), MOST_OF_A_REASON)


def shortened_text(text: str, most: int) -> str:
    """The text; a long text is cut, with its length added."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


C = TypeVar("C", bound=type)
R = TypeVar("R")
LIKE = 0.75  # the least similarity of a suggested name, by difflib's ratio
_OTHER_WORDS = {  # our names, and the names that other libraries use
    "min_score min_similarity": "threshold score_threshold similarity_threshold similarity_cutoff cutoff min_relevance",
    "k similarity_top_k top_n": "k top_k similarity_top_k n_results num_results top limit n",
    "filter filters": "where filter filters metadata_filter",
    "cue query": "query question prompt text input search_query",
    "text": "content document page_content memory data message",
    "metadata": "meta metadatas tags attributes",
    "created_at": "timestamp time date at when datetime created happened_at",
    "recency": "recency_weight",
    "kind": "type category memory_type",
    "ids": "id memory_id record_id memory_ids",
    "id": "ids memory_id record_id key",
    "embedder": "embedding embeddings embed embedding_function embedding_model embed_model",
    "forget": "delete remove erase drop discard delete_many delete_documents",
    "recall invoke retrieve": "search query find ask lookup retrieve invoke recall get_relevant_documents "
    "similarity_search",
    "remember add_documents": "add store save insert write put create upsert remember add_text append",
    "remember_many add_documents": "add_many add_all add_texts add_documents extend remember_many",
    "records": "list list_all get_all all items entries recent browse list_memories",
    "update": "edit modify patch change replace",
    "forget_user": "delete_user remove_user erase_user delete_all reset clear forget_all wipe",
    "users": "list_users get_users user_ids",
    "for_user": "user get_user as_user with_user",
    "stats": "count size length info",
    "flush": "commit persist sync_now write_back",
    "feedback": "rate like upvote thumbs_up judge",
}
_MEANT: dict[str, list[str]] = {}
for _ours, _others in _OTHER_WORDS.items():
    for _other in _others.split():
        _MEANT.setdefault(_other, []).extend(_ours.split())


def tells_unknown_names(where: Callable[[str], str | None] = lambda _: None) -> Callable[[C], C]:
    """Decorate a frozen dataclass so that an unknown argument raises an error with a suggestion. `where` returns the
    other setting that has a field of that name, as Python code."""

    def telling(kind: C) -> C:
        plain: Any = kind
        made = plain.__init__

        @wraps(made)
        def init(self: Any, *args: Any, **given: Any) -> None:
            try:
                made(self, *args, **given)
            except TypeError as error:
                names = [one.name for one in fields(plain) if one.init]
                unknown = [name for name in given if name not in names]
                if not unknown:
                    raise
                raise TypeError(
                    unknown_argument_message(kind.__name__, unknown[0], names, where(unknown[0]), places_within(plain))
                ) from error

        plain.__init__ = init
        return kind

    return telling


def unknown_argument_message(
    kind: str, name: str, names: Sequence[str], where: str | None, places: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The message about an unknown argument. `where` is the setting it belongs to; `places` are those of grouped names.

    >>> unknown_argument_message("Keeping", "lag", ["lag_seconds", "batch"], None)
    "Keeping() got an unexpected keyword argument 'lag'. Allowed are lag_seconds, batch."
    >>> unknown_argument_message("Keeping", "lag_second", ["lag_seconds", "batch"], None)
    "Keeping() got an unexpected keyword argument 'lag_second'. Did you mean 'lag_seconds'?"
    >>> unknown_argument_message("Policy", "grase", ["recall_k"], None, {"grace": "Policy(decay=Decay(grace=...))"})
    "Policy() got an unexpected keyword argument 'grase'. Did you mean Policy(decay=Decay(grace=...))?"
    """
    message = f"{kind}() got an unexpected keyword argument {shown(name)}."
    if at := places.get(name) or where:
        return f"{message} It belongs in {at}."
    if words := meant(name, names):
        return f"{message} Did you mean {' or '.join(map(shown, words))}?"
    if words := meant(name, places):
        return f"{message} Did you mean {places[words[0]]}?"
    return f"{message} Allowed are {', '.join(names)}."


def meant(name: str, names: Collection[str]) -> list[str]:
    """The names that an unknown name may mean: another library's word for them, or a typo.

    >>> meant("threshold", ["k", "min_score", "min_similarity"]), meant("fliter", ["k", "filter"]), meant("x", ["k"])
    (['min_score', 'min_similarity'], ['filter'], [])
    """
    return _other_words(name, names) or get_close_matches(name, names, n=1, cutoff=LIKE)


def _other_words(name: str, names: Collection[str]) -> list[str]:
    """The names that mean the same as this name; for `asearch`, the async twins of the names for `search`."""
    plain = [one for one in dict.fromkeys(_MEANT.get(name, ())) if one in names]
    twins = [f"a{one}" for one in _MEANT.get(name[1:], ()) if f"a{one}" in names] if name.startswith("a") else []
    return plain or twins


def no_attribute(kind: type, name: str, elsewhere: str = "", within: type | None = None) -> AttributeError:
    """The error for a missing attribute, with a suggested method: of the class itself, or of the class `within`, which
    is reached by the code `elsewhere`.

    >>> class Retriever:
    ...     def retrieve(self): ...
    >>> print(no_attribute(Retriever, "search"))
    'Retriever' object has no attribute 'search'. Did you mean retrieve()?
    """
    message = f"{kind.__name__!r} object has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(f"{message}.")
    places = [
        (place, [one for one in dir(owner) if not one.startswith("_")])
        for place, owner in (("", kind), (elsewhere, within))
    ]
    found = [place + one for place, names in places for one in ([name] if name in names else _other_words(name, names))]
    found += [place + one for place, names in places for one in get_close_matches(name, names, n=1, cutoff=LIKE)]
    return AttributeError(f"{message}. Did you mean {found[0]}()?" if found else f"{message}.")


def unknown_argument(call: Callable[..., Any], named: Iterable[str], policy: type) -> TypeError | None:
    """The error for an unknown argument of a call, with a suggested name or the place in the `policy` that it belongs
    to, if the call takes a policy; None if all arguments are known."""
    names = list(signature(call).parameters)[1:]  # without `self` or the memory
    unknown = [name for name in named if name not in names]
    if not unknown:
        return None
    places = {one.name: f"{policy.__name__}({one.name}=...)" for one in fields(policy)} | places_within(policy)
    written = {name: f"policy={place}" for name, place in places.items()} if "policy" in names else {}
    return TypeError(unknown_argument_message(getattr(call, "__name__", "call"), unknown[0], names, None, written))


def places_within(kind: Any) -> dict[str, str]:
    """The fields of a setting's groups, at any depth, each with the Python code to set it.

    >>> from adaptive_memory_core.policy.policy import Policy
    >>> places = places_within(Policy)
    >>> places["importance"], places["rounds"]
    ('Policy(weights=Weights(importance=...))', 'Policy(advanced=Advanced(graph=Graphs(rounds=...)))')
    """
    found: dict[str, str] = {}
    for one in fields(kind):
        if is_dataclass(one.default):
            group: Any = type(one.default)
            inner = {each.name: f"{group.__name__}({each.name}=...)" for each in fields(group)}
            for name, written in (inner | places_within(group)).items():
                found.setdefault(name, f"{kind.__name__}({one.name}={written})")
    return found


ABOUT_FILES = (ClosedError, DamagedStoreError, LedgerError, StoreInUseError)
IN_FULL = "In full, which may quote a user's text:"


def without_texts(error: BaseException) -> str:
    """The error's class, with its message only for errors about files. Other messages may quote a text, a query or an
    id: errors of a model's or Chroma's client often contain the arguments of the call.

    >>> without_texts(ValueError("cannot embed 'The diary of Ana'"))
    'ValueError'
    >>> without_texts(LedgerError("The ledger 'x.sqlite3' failed: the disk is full."))
    "LedgerError: The ledger 'x.sqlite3' failed: the disk is full."
    >>> without_texts(PermissionError(13, "Permission denied", "/home/ana/memory"))
    'PermissionError: Permission denied'
    """
    name = type(error).__name__
    if isinstance(error, ABOUT_FILES):
        return f"{name}: {error}"
    words = error.strerror if isinstance(error, OSError) else None
    return f"{name}: {words}" if words else name


def log_warning(log: logging.Logger, what: str, error: BaseException, *, stack: bool = False) -> None:
    """Log a WARNING without any user text, and the complete error only at DEBUG, with its traceback if `stack`."""
    log.warning("%s: %s", what, without_texts(error))
    debug(log, error, stack=stack)


def debug(log: logging.Logger, error: BaseException, *, stack: bool = False) -> None:
    """Log the complete error at DEBUG, with its traceback if `stack`."""
    log.debug("%s %s", IN_FULL, error, exc_info=error if stack else None)
