"""Detection of texts that make the same statement, and their reordering, so that the newest comes first.

Two sentences do if they differ in one span only, and the question asks about the part that they share: "Ilse lives in
Oslo" and "Ilse lives in Turin" for "where does Ilse live?". This works for any relation and in most languages.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from adaptive_memory_core.channels.languages import STOP_WORDS
from adaptive_memory_core.channels.words_of_text import UNSPACED, script_runs, text_chunks, words
from adaptive_memory_core.cue.question_kinds import EDGES, asks_for_many, asks_history, in_past_tense, names_in
from adaptive_memory_core.cue.time.intent import Intent
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.score.ranking import Ranking
from adaptive_memory_core.score.reworded_facts import asked_for, reworded_versions

BEST = 3  # best results for which newer and older versions are searched; guess
COMPARED = 40  # best candidates that are searched for such versions; guess
NEWEST = "newest"  # the name of the part that lifts a score
Facts = Mapping[str, Hashable]  # a label for each record's fact, by its id in the collection


class NewestFirstQuery(NamedTuple):
    """The cue, the metadata key of speakers, and the labels of the caller's rule, if there is one."""

    cue: str
    speaker: str
    facts: Facts | None = None


Statement = tuple[Sequence[int], bool]  # the candidates that make it, by their places, and whether this is certain


def newest_first(ranking: Ranking, query: NewestFirstQuery, intent: Intent, *, reworded: bool = True) -> Ranking:
    """The candidates, best first, with the newest version of each statement at the place of the best one.

    The older versions follow at the remaining places, newest first, and refer to the newest (`hit.older_than`). Nothing
    changes if the cue asks about the past, or if all records have the same time or none. `query.facts` from the caller
    replace the built-in rule.

    >>> from adaptive_memory_core.cue.time.intent import NO_INTENT
    >>> from adaptive_memory_core.records import Hit, Record
    >>> from adaptive_memory_core.score.ranking import as_candidates
    >>> texts, scores = ("Ilse lives in Oslo.", "Colm lives in Rome.", "Ilse lives in Turin."), (0.9, 0.5, 0.4)
    >>> hits = [Hit(Record(text, text, created_at=float(day)), 0.5, text) for day, text in enumerate(texts)]
    >>> ranking = Ranking(as_candidates(hits), range(3), scores, {"similarity": scores}, {})
    >>> found = newest_first(ranking, NewestFirstQuery("Where does Ilse live?", "speaker"), NO_INTENT)
    >>> [(one.id, one.score, one.older_than) for one in found[:2]]
    [('Ilse lives in Turin.', 0.9, None), ('Ilse lives in Oslo.', 0.9, 'Ilse lives in Turin.')]
    """
    columns, order = ranking._candidates.columns, ranking.order
    times = [columns.began[number] for number in order[:COMPARED]]
    asks_past = intent.windows or intent.lean in ("past", "earliest")  # the same statement then is another memory
    if (
        len(set(times)) < 2
        or asks_past
        or (query.facts is None and asks_for_many(query.cue))
        or asks_history(query.cue)
    ):
        return ranking
    if query.facts is None:
        groups = _groups(ranking, times, query, reworded=reworded)
    else:
        groups = _labelled([columns.stored_ids[number] for number in order[: len(times)]], times, query.facts)
    moved = _Moved(list(range(len(order))), [ranking.scores[number] for number in order], {})
    for places, sure in groups:
        if len(places) > 1:
            _put_newest_first(times, places, moved, sure=sure)
    return _reordered(ranking, moved) if moved.older else ranking


class _Moved(NamedTuple):
    """The former place of the candidate at each place, the scores, and for older versions the place of the newest and
    whether the match is certain. The newest refers to itself."""

    order: list[int]
    scores: list[float]
    older: dict[int, tuple[int, bool]]


def _put_newest_first(times: Sequence[float | None], group: Sequence[int], moved: _Moved, *, sure: bool) -> None:
    """Move the newest of a group to the place of its best, and the others to the remaining places, newest first."""
    order, scores, older = moved
    newest, *others = sorted(group, key=lambda one: (-(times[one] or 0.0), one))
    if times[newest] == times[others[-1]]:
        return
    first = min(order.index(one) for one in group)
    places = sorted(order.index(one) for one in group if one != newest)
    taken = [scores[order[first]], *(scores[order[place]] for place in places)]
    before = order.index(newest)
    for one, place in zip(others, places, strict=True):
        order[place] = one
    order.insert(first, order.pop(before))
    for one, score in zip((newest, *others), taken, strict=True):
        scores[one] = score
        older[one] = (newest if times[one] != times[newest] else one, sure)


def _reordered(ranking: Ranking, moved: _Moved) -> Ranking:
    """The ranking in the new order, with parts that add up to the new scores."""
    numbers, ids = ranking.order, ranking._candidates.columns.ids
    scores, lifted = list(ranking.scores), [0.0] * len(ranking.scores)
    parts = {name: list(values) for name, values in ranking.parts.items()}
    older: dict[int, tuple[str, bool]] = {}
    for place, (newest, sure) in moved.older.items():
        number, score = numbers[place], moved.scores[place]
        own, scores[number] = scores[number], score
        lifted[number] = max(0.0, score - own)
        if score < own:
            for values in parts.values():
                values[number] = values[number] * score / own
        if newest != place:
            older[number] = ids[numbers[newest]], sure
    if any(lifted):
        parts[NEWEST] = lifted
    order = [numbers[place] for place in moved.order]
    return Ranking(ranking._candidates, order, scores, parts, ranking.signals, older)


def _groups(
    ranking: Ranking, times: Sequence[float | None], query: NewestFirstQuery, *, reworded: bool
) -> list[Statement]:
    """Groups of candidates that make the same statement as one of the best; no candidate is in two groups."""
    columns, numbers = ranking._candidates.columns, ranking.order
    texts = ["" if time is None else columns.texts[one] for one, time in zip(numbers, times, strict=False)]
    found = statement_versions(texts, query.cue, best=BEST)
    if reworded and asked_for(query.cue):
        same = found.get(0, [])
        group = [0, *(one.number for one in same)]
        reworded_ones = reworded_versions(texts, times, query.cue, group, best=BEST)
        found[0] = [*same, *(Version(one, sure=False) for one in reworded_ones)]
    if not found:
        return []
    past, one_voice = in_past_tense(query.cue), bool(names_in(query.cue))
    groups: list[Statement] = []
    taken: set[int] = set()
    for best, others in sorted(found.items()):
        if best not in taken and (not past or in_past_tense(texts[best])):
            mine = columns.stored[numbers[best]].get(query.speaker)  # "I" depends on the speaker
            same = [
                one
                for one in others
                if one.number not in taken
                and (one_voice or columns.stored[numbers[one.number]].get(query.speaker) == mine)
            ]
            group = [best, *(one.number for one in same)]
            taken.update(group if same else ())
            groups.append((group, not past and all(one.sure for one in same)))
    return groups


def _labelled(ids: Sequence[str], times: Sequence[float | None], facts: Facts) -> list[Statement]:
    """Groups of candidates with the same label from the caller's rule."""
    groups: dict[Hashable, list[int]] = {}
    for number, one in enumerate(ids):
        if facts.get(one) is not None and times[number] is not None:
            groups.setdefault(facts[one], []).append(number)
    return [(places, True) for places in groups.values()]


SHARED = 0.4  # both sentences must share more than this part of the longer one's words; guess
SHARED_UNASKED = 0.6  # the least shared part if there is no question; guess
MOST_INSERTED = 2  # words that one sentence may add to all of the other, as in "lives in Oslo now"; guess
FEWEST_WORDS = 4  # fewest words of a text without a full stop; a shorter text is a label; guess
LONGEST_SENTENCE = 400  # characters of a sentence that is compared; guess
MOST_LOOKED_FOR = 3  # longest words of a question, around which the sentence that answers is looked for; guess
_CHUNK = late_pattern(r"\S+")
_END = late_pattern(  # of a sentence, but not of "Dr."
    r"[.!?](?<!\b[A-Z]\.)(?<!\b[A-Z][a-z]\.)(?<!\b[A-Z][a-z]{2}\.)(?=\s)|[\n\u3002\uff01\uff1f]"
)
_MARKS = (". ", "! ", "? ", "\n", "\u3002", "\uff01", "\uff1f")  # between sentences
_ENDS = (".", "!", "\u3002", "\uff01")
_ASKS = ("?", "\uff1f")
_BEFORE_A_SENTENCE = frozenset(".!?:\n\u3002\uff01\uff1f")
_HANGUL = late_pattern("[\uac00-\ud7af]")
_VERB_LAST = late_pattern("[\u3040-\u30ff\uac00-\ud7af]")  # Japanese and Korean
_ARTICLES = frozenset(("a", "an", "the"))
_OWNER = ("'s", "\u2019s")


class SentenceWords(NamedTuple):
    """A sentence's words in order: as they are compared, and the stems of each, without function words."""

    keys: tuple[str, ...]
    stems: tuple[tuple[str, ...], ...]


class QueryWords(NamedTuple):
    """A question's words, the stems without function words, and the stems of its names."""

    keys: frozenset[str]
    stems: frozenset[str]
    names: frozenset[str]


class Version(NamedTuple):
    """The number of a text that makes the same statement as another, and whether both texts contain nothing else."""

    number: int
    sure: bool


def statement_versions(texts: Sequence[str], cue: str, *, best: int) -> dict[int, list[Version]]:
    """For each of the best texts, by number, the other texts that make the same statement.

    >>> texts = ("Ilse lives in Oslo.", "Colm lives in Rome.", "Ilse has a cat.", "Ilse lives in Turin.")
    >>> statement_versions(texts, "where does Ilse live?", best=2)
    {0: [Version(number=3, sure=True)]}
    """
    question = _question(cue)
    versions: dict[int, list[Version]] = {}
    for one in range(min(best, len(texts)) if question.stems else 0):
        mine = _that_answers(texts[one], question)
        begins = _beginning(mine, question) if mine else ""
        others = [other for other, text in enumerate(texts) if begins in text and other != one] if begins else []
        if others and one:  # has it more than half as many of the question's words as the first hit?
            own, of_first = (question.stems.intersection(words(text)) for text in (mine, texts[0]))
            others = others if 2 * len(own) > len(of_first) else []
        for other in others:
            theirs = _that_begins(texts[other], begins)
            if theirs and same_statement(_said(mine), _said(theirs), question):
                sure = len(mine) + len(theirs) >= len(texts[one]) + len(texts[other]) - 2
                versions.setdefault(one, []).append(Version(other, sure))
    return versions


def same_sentence(one: str, other: str) -> bool:
    """Whether two sentences make the same statement, with their shared part as the question.

    >>> same_sentence("Ana lives in Oslo.", "Ana lives in Turin now."), same_sentence("Ana is here.", "Ben is here.")
    (True, False)
    """
    if max(len(one), len(other)) > LONGEST_SENTENCE or one[:1] != other[:1] or not _states(one) or not _states(other):
        return False
    mine, theirs = _said(one), _said(other)
    shared = frozenset(mine.keys) & frozenset(theirs.keys)
    if len(shared) < SHARED_UNASKED * max(len(mine.keys), len(theirs.keys)):
        return False
    stems = [stem for key, stems in zip(*mine, strict=True) if key in shared for stem in stems]
    return same_statement(mine, theirs, QueryWords(shared, frozenset(stems), frozenset()))


def same_statement(one: SentenceWords, other: SentenceWords, question: QueryWords) -> bool:
    """Whether two sentences differ in one span only, after the words that the question names.

    >>> def same(one, other, cue="Where does Ilse live?"):
    ...     return same_statement(_said(one), _said(other), _question(cue))
    >>> same("Ilse lives in Oslo.", "Ilse lives in Turin."), same("Ilse lives in Oslo.", "Colm lives in Oslo.")
    (True, False)
    >>> same("Ilse lives in Oslo.", "Ilse may live in Rome."), same("Ilse lives in Oslo.", "Ilse lives with two cats.")
    (False, False)
    >>> same("Falcon uses the MySQL database.", "Falcon uses the SQLite database.", "which database does Falcon use?")
    True
    >>> same("Ticket A-4 is closed.", "Ticket A-10 is closed.", "is a ticket closed?")
    False
    >>> same("My dog Rex is 3 years old.", "My dog Bello is 4 years old.", "how old is my dog?")
    False
    """
    before = _alike(one.keys, other.keys)
    behind = _alike(one.keys[before:][::-1], other.keys[before:][::-1])
    mine, theirs = slice(before, len(one.keys) - behind), slice(before, len(other.keys) - behind)
    gone, come = one.keys[mine], other.keys[theirs]
    within = frozenset(gone) & frozenset(come)
    both, longer = before + behind + len(within), max(len(one.keys), len(other.keys))
    if before + behind < 2 or both <= SHARED * longer or not (gone or come):
        return False
    if not (gone and come) and len(gone) + len(come) > MOST_INSERTED:
        return False
    leading = frozenset().union(*one.stems[:before])
    named = leading & question.stems
    if not named or (named <= question.names and not question.names.isdisjoint(one.stems[before - 1])):
        return False  # the name is only addressed: "Hey Ana, ..."
    shared = leading.union(*one.stems[mine.stop :])
    differ = frozenset().union(*one.stems[mine]) ^ frozenset().union(*other.stems[theirs])
    if not (question.stems - shared).isdisjoint(differ) or _are_of_two_kinds(gone, come):
        return False
    trailing = one.keys[mine.stop :]
    if any(map(_VERB_LAST.search, trailing)):
        return True
    leads = frozenset(one.keys[:before]) & question.keys
    after = (question.keys - leads) & within.union(trailing)
    return not after or (not within and len(after) == 1 and len(leads) > 1)  # "uses the MySQL database"


def _are_of_two_kinds(gone: Sequence[str], come: Sequence[str]) -> bool:
    """Whether two spans begin with different function words: "in Oslo", "with two cats"."""
    small = [span[0] for span in (gone, come) if len(span) > 1 and span[0] in STOP_WORDS and span[0] not in _ARTICLES]
    return len(small) > 1 and small[0] != small[1]


@lru_cache(maxsize=512)
def _question(cue: str) -> QueryWords:
    return QueryWords(frozenset(_said(cue).keys), frozenset(words(cue)), names_in(cue))


@lru_cache(maxsize=10_000)  # one word each
def _stems(part: str) -> tuple[str, ...]:
    return tuple(words(part))


@lru_cache(maxsize=1_000)  # a few kB each
def _said(sentence: str) -> SentenceWords:
    """
    >>> _said("Ilse's dentist is Dr. Weber.").keys, _said("小明住在北京。").keys
    (("ils's", 'dentist', 'is', 'dr', 'weber'), ('小', '明', '住', '在', '北', '京'))
    """
    keys, stems = [], []
    for part in _parts(sentence):
        plain = part.strip(EDGES).casefold()
        if plain:
            found = _stems(part)
            keys.append((" ".join(found) or plain) + ("'s" if plain.endswith(_OWNER) and found else ""))
            stems.append(found)
    return SentenceWords(tuple(keys), tuple(stems))


def _parts(sentence: str) -> Iterator[str]:
    """The words as written; in scripts without spaces, the characters."""
    for chunk in text_chunks(sentence):
        if chunk.isascii() or not UNSPACED.search(chunk):
            yield chunk
        else:
            for part, unspaced in script_runs(chunk):
                yield from part if unspaced and not _HANGUL.search(part) else (part,)


def _that_answers(text: str, question: QueryWords) -> str:
    """The sentence with most of the question's words; "" if it is long, a label or a question itself."""
    found = text
    if len(text) > LONGEST_SENTENCE or _END.search(text, 0, len(text) - 1):
        lower, begin, end, most = text.lower(), 0, 0, 0
        for stem in sorted(question.stems, key=len)[-MOST_LOOKED_FOR:]:
            place = lower.find(stem)
            if place >= 0 and not begin <= place < end:
                begin = max([lower.rfind(mark, 0, place) + len(mark) for mark in _MARKS])
                end = _end(text, place)
                held = len([one for one in question.stems if one in lower[begin:end]])
                if held > most or (held == most and begin < text.find(found)):
                    found, most = text[begin:end].strip(), held
    return found if len(found) <= LONGEST_SENTENCE and _states(found) else ""


def _states(sentence: str) -> bool:
    """Whether a sentence may be a statement, and not a question or a label.

    >>> [_states(text) for text in ("Ilse eats meat.", "Ilse lives in Oslo", "top up failed", "Is it you?")]
    [True, True, False, False]
    """
    if sentence.endswith(_ASKS):
        return False
    if sentence.endswith(_ENDS) or (not sentence.isascii() and UNSPACED.search(sentence)):
        return True
    parts = sentence.split()
    return len(parts) >= FEWEST_WORDS and len([one for one in parts if one.strip(EDGES)]) >= FEWEST_WORDS


def _end(text: str, place: int) -> int:
    """The end of the sentence at this place."""
    found = _END.search(text, place)
    return found.end() if found else len(text)


def _beginning(sentence: str, question: QueryWords) -> str:
    """A sentence up to the first word that is also in the question, or up to the word after the question's names.

    >>> _beginning("The author of Emma is Jane Austen.", _question("Who is the author of Emma?"))
    'The author of Emma'
    >>> _beginning("I live in Oslo.", _question("Where do I live?")), _beginning("It rains.", _question("Who is Ana?"))
    ('I live', '')
    """
    missing = question.names.intersection(words(sentence)) if question.names else question.names
    met: set[str] = set()
    for match in _CHUNK.finditer(sentence):
        chunk = match[0]
        if not chunk.isascii() and UNSPACED.search(chunk) and not _HANGUL.search(chunk):
            place = next((place for place, one in enumerate(chunk) if one in question.stems), None)
            if place is not None:
                return sentence[: match.start() + place + 1]
            continue
        found = _stems(chunk)
        said = met and question.names.isdisjoint(found)  # a word about the name
        met |= question.stems.intersection(found)
        if met and not missing.difference(met) and (said or not met <= question.names):
            return sentence[: match.start()] + chunk.rstrip(EDGES)
    return ""


def _that_begins(text: str, begins: str) -> str:
    """The first sentence of a text that begins with `begins`; "" if there is none."""
    place = text.find(begins)
    while place > 0 and text[:place].rstrip(" ")[-1:] not in _BEFORE_A_SENTENCE:
        place = text.find(begins, place + 1)
    found = text[place : _end(text, place + len(begins))].rstrip() if place >= 0 else ""
    return found if len(found) <= LONGEST_SENTENCE and _states(found) else ""


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of equal words at the beginning of both."""
    differ = (place for place, both in enumerate(zip(one, other, strict=False)) if both[0] != both[1])
    return next(differ, min(len(one), len(other)))
