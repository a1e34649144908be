"""Similar names, by spelling and by vectors.

Names are never merged: each stays, and leads to the sentences that mention the other in proportion to the similarity.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

from adaptive_memory_core.channels.languages import STOP_WORDS
from adaptive_memory_core.graph.names import INSIDE, names_in_sentence, words_in_name
from adaptive_memory_core.graph.ports import SENTENCE_BITS, Alike, Array, GraphPort, GraphQuery, Rows
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.score.surprise import Baseline, baseline_of_vectors, for_query, sample_of

TERM_SATURATION, LENGTH_NORMALISATION = 0.9, 0.3  # BM25's k1 and b, for short texts
USUAL_LENGTH = 16.0  # words of a sentence with those of its title, without function words


def sentence_weights(
    graph: GraphPort, question: GraphQuery, frequencies: Mapping[int, int], keys: Array, *, least: float
) -> Array:
    """The weight of each sentence: its relevance to the question, times what was learned about it. An unrelated
    sentence may lead to a relevant one, so it still counts `least`.
    """
    rows = graph.rows(np.unique(keys >> SENTENCE_BITS))
    close = shares_of_best(rows.of(keys, question.baseline.above(cosines(question.vector, rows))))
    by_words = shares_of_best(rows.of(keys, word_scores(rows, frequencies, graph.sentences)))
    weights = np.maximum(np.sqrt(0.5 * close + 0.5 * by_words), least)
    if question.lifts:
        weights *= np.array([1.0 + question.lifts.get(key, 0.0) for key in keys.tolist()])
    return weights


def cosines(vector: Array | None, rows: Rows) -> Array:
    """The cosines of the question's vector and the vector of each sentence's passage. A missing vector, or one of
    another embedder, gives 0.

    >>> none = np.array([])
    >>> rows = Rows(none, np.float32([[3, 4], [0, 0]]), np.array([0, 0, 1]), none, np.array([0, 0, 0, 0]))
    >>> [round(one, 2) for one in cosines(np.float32([1, 0]), rows).tolist()]
    [0.6, 0.6, 0.0]
    """
    if vector is None or rows.vectors is None or rows.vectors.shape[1] != len(vector):
        return np.zeros(len(rows.bounds) - 1)
    vectors = rows.vectors.astype(np.float32)
    lengths = np.maximum(np.linalg.norm(vectors, axis=1) * float(np.linalg.norm(vector)), 1e-9)
    return (vectors @ np.asarray(vector, dtype=np.float32) / lengths).astype(np.float64)[rows.owners]


def word_scores(rows: Rows, frequencies: Mapping[int, int], sentences: int) -> Array:
    """BM25 of each sentence for the question's words, given with their frequencies.

    >>> none = np.array([])
    >>> rows = Rows(none, None, none, np.array([7, 8, 7, 9]), np.array([0, 2, 4]))
    >>> [round(one, 2) for one in word_scores(rows, {8: 1, 7: 2}, sentences=2).tolist()]
    [1.0, 0.21]
    """
    size = len(rows.bounds) - 1
    scores = np.zeros(size)
    lengths = np.diff(rows.bounds)
    held_back = TERM_SATURATION * (1.0 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * lengths / USUAL_LENGTH)
    owners = np.repeat(np.arange(size), lengths)
    for word, frequency in frequencies.items():
        counts = np.bincount(owners[rows.words == word], minlength=size)
        rarity = math.log(1.0 + (sentences - frequency + 0.5) / (frequency + 0.5))
        scores += rarity * counts * (TERM_SATURATION + 1.0) / (counts + held_back)
    return scores


def shares_of_best(values: Array) -> Array:
    """Each value as a share of the greatest; negative values become 0.

    >>> shares_of_best(np.array([-1.0, 2.0, 4.0])).tolist(), shares_of_best(np.array([-1.0])).tolist()
    ([0.0, 0.5, 1.0], [0.0])
    """
    positive = np.maximum(values, 0.0)
    best = positive.max(initial=0.0)
    return positive if best == 0.0 else positive / best


FEWEST_LETTERS = 5  # of a name that is compared: in a shorter name one letter makes too much difference; guess
ALIKE_SPELLING = 0.7  # share of letters in common from which two words may be the same; guess
ALIKE_ALONE = 0.8  # the same for two names of one word each, which nothing else distinguishes; guess
_ROMAN = late_pattern(r"m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_ORDINAL = late_pattern(  # in English, German and French; shorter English ones are in `_TELL_APART`
    r"\w+(?:teen|ie)th|(?:hundred|thousand)th|\w*zehn(?:te[mnrs]?)?|\w+(?:zig|[sß]ig)ste[mnrs]?"
    r"|(?:ers|zwei|drit|vier|fünf|sechs|siebt?|ach|neun)te[mnrs]?|\w+i[eè]mes?"
)
_COMPASS = late_pattern(r"north|nord|south|s[uü]d|east|ost|west")
_TELL_APART = frozenset(
    """
    north south east west northern southern eastern western upper lower inner outer greater lesser old new
    king queen prince princess duke duchess count countess baron baroness emperor empress lord lady sir dame
    mr mrs ms miss man woman men women male female boy girl boys girls father mother son daughter brother sister
    junior senior jr sr elder younger first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter morning evening
    """.split()  # noqa: SIM905 - a list of them would be longer than this file
)


def may_be_one(one: str, other: str) -> bool:
    """Whether the spelling allows two names to be the same. Numbers, numerals, single letters, dates and such words as
    "north" must be equal, and each other word needs a word in the other name that is spelled similarly.

    >>> may_be_one("jon smith", "john smith"), may_be_one("universidad de salamanca", "university of salamanca")
    (True, True)
    >>> may_be_one("louis xiv", "louis xv"), may_be_one("j smith", "john smith"), may_be_one("apollo 11", "apollo 12")
    (False, False, False)
    >>> may_be_one("thirteenth amendment", "fourteenth amendment"), may_be_one("northampton", "southampton")
    (False, False)
    >>> may_be_one("melbourne", "university of melbourne"), may_be_one("prince albert", "princess albert")
    (False, False)
    """
    if min(len(one), len(other)) < FEWEST_LETTERS or one == other:
        return False
    own, its = (_words(name) for name in sorted((one, other)))  # the similarity of words is not symmetric
    if Counter(filter(_tells, own)) != Counter(filter(_tells, its)):
        return False
    left, right = _without(own, its), _without(its, own)
    least = ALIKE_ALONE if len(own) == len(its) == 1 else ALIKE_SPELLING
    return bool(left) and len(left) == len(right) and _paired(left, right, least)


def _words(name: str) -> list[str]:
    return [word.plain for word in words_in_name(name) if word.plain not in STOP_WORDS | INSIDE or len(word.plain) == 1]


def _tells(word: str) -> bool:
    """Whether replacing the word would always give a different name.

    >>> _tells("1914"), _tells("xiv"), _tells("b"), _tells("east"), _tells("smith")
    (True, True, True, True, False)
    """
    if any(one.isdigit() for one in word) or _ORDINAL.fullmatch(word):
        return True
    return word.isascii() and (len(word) == 1 or word in _TELL_APART or _ROMAN.fullmatch(word) is not None)


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """The words that are not among the others."""
    return list((Counter(words) - Counter(others)).elements())


def _paired(left: Sequence[str], right: Sequence[str], least: float) -> bool:
    """Whether each word on the left can be paired with a different, similarly spelled word on the right."""
    free = list(right)
    for word in left:
        best = max(free, key=lambda other: _spelled_alike(word, other))
        if _spelled_alike(word, best) < least:
            return False
        free.remove(best)
    return True


def _spelled_alike(one: str, other: str) -> float:
    """The share of letters in common.

    >>> round(_spelled_alike("jon", "john"), 2), round(_spelled_alike("new", "nueva"), 2)
    (0.86, 0.5)
    >>> _spelled_alike("westbahnhof", "ostbahnhof")     # other ends of a town
    0.0
    """
    ends = _COMPASS.match(one), _COMPASS.match(other)
    if ends[0] and ends[1] and ends[0][0] != ends[1][0]:
        return 0.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


MOST_ALIKE = 5  # similar names used per name; guess
MOST_SPELLED = 50  # nearest names whose spelling is compared; guess
MOST_UNKNOWN = 8  # names in a query that are not in the graph and are compared with the names that are; guess


def unknown_names(cue: str, linked: Collection[str]) -> list[str]:
    """The names in a query with a word that is not in any of its known names.

    >>> unknown_names("Did Jon Smith meet Ada and Bob?", ["ada", "bob"])
    ['jon smith']
    >>> unknown_names("Did Ada and Bob meet?", ["ada", "bob"])
    []
    """
    covered = {word for name in linked for word in name.split()} | INSIDE
    return [one for one in names_in_sentence(cue) if not set(one.split()) <= covered][:MOST_UNKNOWN]


def alike_of_untitled(graph: GraphPort, names: Collection[str], least: float) -> Mapping[str, Mapping[str, float]]:
    """The similar names of each of these names, except for the title of a passage, which leads to its passage."""
    titled = graph.titled(names)
    return graph.alike([name for name in names if not len(titled.get(name, ()))], least)


def with_alike(
    active: Mapping[str, float], alike: Mapping[str, Mapping[str, float]], *, without: Collection[str]
) -> tuple[dict[str, float], dict[str, Alike]]:
    """The active names and their similar names, each with its weight; and the similar names with their origins.

    >>> with_alike({"jon": 0.5}, {"jon": {"john": 0.8, "ada": 0.9}}, without=["ada"])
    ({'jon': 0.5, 'john': 0.4}, {'john': Alike(of='jon', likeness=0.8)})
    """
    together, taken = dict(active), dict[str, Alike]()
    for name, value in active.items():
        for other, likeness in alike.get(name, {}).items():
            worth = value * likeness
            if other not in active and other not in without and worth > together.get(other, 0.0):
                together[other], taken[other] = worth, Alike(name, likeness)
    return together, taken


def at_least(alike: Mapping[str, Mapping[str, float]], least: float) -> dict[str, dict[str, float]]:
    """The similar names with a similarity of `least` or more.

    >>> at_least({"jon": {"john": 0.8, "jan": 0.7}}, 0.75)
    {'jon': {'john': 0.8}}
    """
    return {name: {one: like for one, like in found.items() if like >= least} for name, found in alike.items()}


class KnownNames(NamedTuple):
    """The known names: pages of keys and unit vectors, and the entries by key."""

    pages: Iterable[tuple[Array, Array]]
    named: Callable[[Sequence[int]], Mapping[int, str]]


def alike_above(
    least: float, asked: Sequence[str], vectors: Array, known: KnownNames
) -> Iterator[tuple[int, int, str, float]]:
    """Yield the known names that may be the same as a name in `asked`: the position in `asked`, the known name's key,
    the known name and the similarity, best first. 0 is the similarity to known names in general, 1 to the name itself.

    >>> names = {7: "jon smith", 8: "john smith", 9: "john smyth"}
    >>> page = np.array([7, 8, 9]), np.float32([[1, 0], [0.8, 0.6], [0, 1]])
    >>> list(alike_above(0.7, ["jon smith"], np.float32([[1, 0]]), KnownNames([page], lambda keys: names)))
    [(0, 8, 'john smith', 0.7293)]
    """
    near: dict[int, list[tuple[float, int]]] = {}
    baselines: list[Baseline] = []
    for keys, rows in known.pages:
        baselines = baselines or _baselines(vectors, rows[sample_of(len(rows))])
        likeness = np.array([one.above(row) for one, row in zip(baselines, vectors @ rows.T, strict=True)])
        places, others = np.nonzero(likeness >= least)
        found = zip(places.tolist(), likeness[places, others].tolist(), keys[others].tolist(), strict=True)
        for place, like, key in found:
            near.setdefault(place, []).append((-like, key))
    for place, found_ in near.items():
        nearest = sorted(found_)[:MOST_SPELLED]
        names = known.named([key for _, key in nearest])
        same = [(key, like) for like, key in nearest if key in names and may_be_one(asked[place], names[key])]
        for key, like in same[:MOST_ALIKE]:
            yield place, key, names[key], round(min(1.0, -like), 4)


def _baselines(asked: Array, sample: Array) -> list[Baseline]:
    """The usual similarity of each name to different known names: to all but the nearest, which may be the same."""
    of_names = baseline_of_vectors(sample, "cosine")
    return [for_query(of_names, row[:-1]) for row in np.sort(asked @ sample.T, axis=1)]


def unit_rows(vectors: Array) -> Array:
    """The rows scaled to length 1; rows of zeros are unchanged.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(vectors, dtype=np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))
