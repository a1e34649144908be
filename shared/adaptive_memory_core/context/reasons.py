"""Reasons in words: one sentence per result, and an explanation for an empty answer from a memory with records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from adaptive_memory_core.channels.language_of_text import language_of
from adaptive_memory_core.channels.languages import ENGLISH, language_given
from adaptive_memory_core.channels.words_of_text import Forms, form, pieces, text_chunks, words, words_of_cue
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.policy.advanced import ANSWERS, AROUND, BASELINE, GRAPH, RERANKER, SPREAD, WORDS
from adaptive_memory_core.policy.learning import PART as ASKED_BEFORE
from adaptive_memory_core.records import Record, Scored
from adaptive_memory_core.score.newest_first import NEWEST
from adaptive_memory_core.score.surprise import Baseline

CLOSE, SOMEWHAT_CLOSE = 3.0, 1.0  # standard deviations above unrelated texts
MOST_RARE = 3  # words shown as rare
RARE = 0.5  # the largest share of the candidates that contain a rare word
MOST_ENTRIES = 60  # characters shown of a word or a channel's name
OF_A_TURN = {
    "speaker": "said by the person named in the query",
    "dated": "mentions a time",
    "named": "mentions a name",
    AROUND: "nearby turns match",
    ANSWERS: "follows a matching question",
}
OTHERS = {
    GRAPH: "linked to names in the query",
    RERANKER: "chosen by the reranker",
    NEWEST: "newest statement about its subject",
}
KNOWN = {WORDS, "similarity", "stated", "recency", "importance", "recency*importance", "useful", *OF_A_TURN}


def reasons(hits: Sequence[Scored], others: Sequence[Record], query: str, fields: Fields) -> list[str]:
    """A sentence per hit. `others` are the remaining candidates, which determine whether a word is rare.

    >>> from adaptive_memory_core.records import Hit
    >>> leads = {"words": 4.6, "baseline": 0.1, "spread": 0.1}
    >>> hit = Hit(Record("a", "Turing wrote about machines"), 0.6, "a", leads)
    >>> scored = Scored(hit, 0.5, {"words": 0.2, "similarity": 0.3}, {"similarity": 0.6, **leads})
    >>> reasons([scored], [Record("b", "washing machines")], "When did Turing build machines?", Fields())
    ['Matches 2 of 3 words (rare: turing); vectors are close (0.56 above unrelated text).']
    """
    matched = _Matched([*(one.record for one in hits), *others], query, fields) if _asks_words(hits) else None
    return [_sentence(place, one, matched) for place, one in enumerate(hits)]


def _asks_words(hits: Sequence[Scored]) -> bool:
    return any(WORDS in one.signals for one in hits)


def _sentence(place: int, hit: Scored, matched: _Matched | None) -> str:
    clauses = [*([] if matched is None else matched.clause(place)), _closeness(hit), *_turn(hit), *_channels(hit)]
    clauses += [*_reads(hit.record), *_feedback(hit.parts)]
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


class _Matched:
    """The query words in each candidate, matched in the language of its text."""

    def __init__(self, candidates: Sequence[Record], query: str, fields: Fields) -> None:
        languages = [_language(one, fields) for one in candidates]
        known = sorted({one for one in languages if one is not None})
        speakers = {word for one in candidates for word in words(str(one.metadata.get(fields.speaker) or ""))}
        asked = {one: times for one, times in words_of_cue(query, known).items() if speakers.isdisjoint(_forms(one))}
        self._counts = {one: min(1.0, times) for one, times in asked.items()}
        self._shown = _as_written(query, known)
        self._of = [
            self._in(set(words(one.text, language))) for one, language in zip(candidates, languages, strict=True)
        ]

    def _in(self, text: Set[str]) -> list[Forms]:
        return [one for one in self._counts if not text.isdisjoint(_forms(one))]

    def clause(self, place: int) -> Iterator[str]:
        """A clause about the words that the candidate at this place matches."""
        asked, found = round(sum(self._counts.values())), self._of[place]
        if not asked:
            return
        if not found:
            yield "matches none of the words" if asked > 1 else "does not match the word"
            return
        matched = max(1, round(sum(self._counts[one] for one in found)))
        rare = ", ".join(self._rare(found))
        yield f"matches {matched} of {asked} word{'s' * (asked > 1)}" + (f" (rare: {rare})" if rare else "")

    def _rare(self, found: Sequence[Forms]) -> list[str]:
        """The rarest of the matched words, if few candidates contain them."""
        have = {one: sum(one in other for other in self._of) for one in found}
        fewest = min(have.values())
        if fewest > RARE * len(self._of):
            return []
        shown = dict.fromkeys(self._shown.get(_forms(one)[0], _forms(one)[0]) for one in found if have[one] == fewest)
        return [one[:MOST_ENTRIES] for one in shown][:MOST_RARE]


def _forms(word: Forms) -> tuple[str, ...]:
    return (word,) if isinstance(word, str) else word


def _language(record: Record, fields: Fields) -> str | None:
    found = language_given(record.metadata.get(fields.language)) or language_of(record.text)
    return None if found == ENGLISH else found


def _as_written(query: str, languages: Sequence[str]) -> Mapping[str, str]:
    """The words of the query in lower case, by their lookup form.

    >>> _as_written("Which machines?", [])
    {'machin': 'machines'}
    """
    found: dict[str, str] = {}
    for piece in (piece for chunk in text_chunks(query) for piece in pieces(chunk)):
        for language in (None, *languages):
            if (looked_up := form(piece, language)) is not None:
                found.setdefault(looked_up, piece.text.lower())
    return found


def _closeness(hit: Scored) -> str:
    """How close the vectors are, compared with unrelated texts if a baseline was measured.

    >>> from adaptive_memory_core.records import Hit
    >>> _closeness(Scored(Hit(Record("a", "tea"), 0.25, "a"), 0.25, {}, {}))
    'similarity is 0.25'
    """
    if SPREAD not in hit.signals:
        return f"similarity is {hit.similarity:.2f}"
    baseline = Baseline(hit.signals[BASELINE], hit.signals[SPREAD])
    deviations = (hit.similarity - baseline.mean) / max(1e-6, baseline.spread)
    if deviations < SOMEWHAT_CLOSE:
        return "vectors are no closer than unrelated text"
    close = "close" if deviations >= CLOSE else "somewhat close"
    return f"vectors are {close} ({baseline.above(hit.similarity):.2f} above unrelated text)"


def _turn(hit: Scored) -> list[str]:
    """Clauses about the hit as a turn of a conversation."""
    return [clause for name, clause in OF_A_TURN.items() if hit.parts.get(name, 0.0) > 0.0]


def _channels(hit: Scored) -> Iterator[str]:
    """Clauses about hits from other channels."""
    for name, part in hit.parts.items():
        if name not in KNOWN and name != ASKED_BEFORE and part > 0.0:
            yield OTHERS.get(name, f"found by {name[:MOST_ENTRIES]}")


def _reads(record: Record) -> list[str]:
    """A clause about the number of reads.

    >>> _reads(Record("a", "tea"))
    []
    """
    times = record.read.retrieval_count
    if not times:
        return []
    return ["read once" if times == 1 else "read twice" if times == 2 else f"read {times:,} times"]


def _feedback(parts: Mapping[str, float]) -> list[str]:
    """A clause about earlier feedback.

    >>> _feedback({"asked_before": 0.1}), _feedback({"useful": 0.1})
    (['helpful for a similar question'], ['helpful before'])
    """
    asked = parts.get(ASKED_BEFORE, 0.0)
    if asked < 0.0:
        return ["not helpful for a similar question"]
    if asked > 0.0:
        return ["helpful for a similar question"]
    return ["helpful before"] if parts.get("useful", 0.0) > 0.0 else []


def looked_past(user: str | int | None, owners: Sequence[Any]) -> str | None:
    """A reason why a scope may seem empty although the collection has records; None if nothing is odd.

    `owners` are the users named by the first records of the collection, None for a record without a user. It is not odd
    if one user has no records yet while others have some.

    >>> looked_past("ana", [None, None])
    "no record of user 'ana' is there: the 2 records that were looked at name no user, and belong to everyone"
    >>> looked_past(None, ["ana", "ben"])
    'no record that belongs to nobody is there: the 2 records that were looked at all name a user'
    >>> looked_past("ana", ["ben"]) is None, looked_past("ana", []) is None
    (True, True)
    >>> looked_past("7", [7]).partition(":")[0]
    'records name their user as int, such as 7, and users are texts'
    >>> looked_past(7, ["7"]).partition(":")[0]
    "no record of user 7 is there, but some of user '7'"
    """
    if not owners:
        return None
    odd = next((one for one in owners if one is not None and not isinstance(one, (str, type(user)))), None)
    if odd is not None:
        return _of_another_kind(odd)
    if isinstance(user, int) and str(user) in owners:
        return f"no record of user {user!r} is there, but some of user {str(user)!r}: a text and a number are two users"
    named = [one for one in owners if one is not None]
    if user is not None and not named:
        number = f"{len(owners)} records that were looked at name no user, and belong to everyone"
        return f"no record of user {user!r} is there: the {number}"
    if user is None and len(named) == len(owners):
        return (
            f"no record that belongs to nobody is there: the {len(owners)} records that were looked at all name a user"
        )
    return None


def _of_another_kind(odd: Any) -> str:
    if type(odd) is int:
        return (
            f"records name their user as int, such as {odd!r}, and users are texts: ask for a number as one, "
            f"for_user({odd!r}), who is another than for_user({str(odd)!r})"
        )
    return (
        f"records name their user as {type(odd).__name__}, such as {odd!r}, and users are texts or whole numbers here: "
        "such records are nobody's that can be asked for. Write the name as a text into their metadata"
    )
