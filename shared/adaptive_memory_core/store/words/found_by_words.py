"""Which records have the most of the cue's words, and what do its words say of any other?"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from adaptive_memory_core.channels.conversation.says_a_time import dated
from adaptive_memory_core.channels.conversation.sessions import named, without
from adaptive_memory_core.channels.words.bm25 import Coverage, coverage, most_telling, telling_of
from adaptive_memory_core.channels.words.nats_said import says_exact_number
from adaptive_memory_core.cue.asks_for_name import asks_for_name
from adaptive_memory_core.cue.time.asks_when import how_much_a_time_counts_alone
from adaptive_memory_core.flow.ports.words import WordsFound
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.score.facts.names import names_in
from adaptive_memory_core.store.could_be_highest import could_be_highest
from adaptive_memory_core.store.words.joined_lists import Lists

MANY = 2_000  # records with words of the cue, of which most are left out at a glance


def found_by_words(
    cue: str, lists: Lists, fusion: Fusion, limit: int, within: Set[str] | None, when: float
) -> WordsFound:
    """The best so many of the records, of those `within` if that is given. `when` is how much a time counts."""
    talk, names = lists.talk, bool(names_in(cue)) or says_exact_number(cue)
    telling_words = most_telling(lists.postings, talk.layout.live)
    covered = coverage(telling_words, talk.layout, in_sessions=talk.in_sessions, names=names)
    speakers = named(cue, talk.speakers)
    known = {name: values for name, values in _leads(cue, lists, covered, speakers, when).items() if values is not None}
    return WordsFound(
        best=_best(known, fusion, covered, limit, lists, within),
        columns=known,
        chance=covered.chance,
        numbers=lists.numbers,
        cue=without(cue, speakers) if talk.unnamed else cue,
        talk=talk if talk.in_sessions else None,
        chance_alone=covered.chance_alone,
        telling=telling_of(covered.most),
        chance_any=covered.chance_any,
        asks_for_name=talk.people is not None and asks_for_name(cue),
        names=names,
    )


def _leads(cue: str, lists: Lists, covered: Coverage, speakers: list[str], when: float) -> dict[str, Any]:
    """What is said of each record; None where nothing is said of any."""
    talk, said, times = lists.talk, None, lists.times
    if times is not None:
        times = dated(times, when, how_much_a_time_counts_alone(cue), talk.layout.alone, talk.in_sessions)
    if len(speakers) == 1:
        said = np.zeros(len(covered.words))
        said[talk.speakers[speakers[0]]] = 1.0
    leads = {"words": covered.words, "near": covered.near, "around": covered.around, "session": covered.session}
    return {**leads, "speaker": said, "dated": times}


def _best(
    known: Mapping[str, Any],
    fusion: Fusion,
    covered: Coverage,
    limit: int,
    lists: Lists,
    within: Set[str] | None,
) -> list[str]:
    """The ids of those with the most, best first; none that has nothing of the cue at all."""
    ids, numbers = lists.ids, lists.numbers
    (eligible,) = ((covered.words if covered.around is None else covered.around) > 0.0).nonzero()
    if within is not None:
        allowed = np.zeros(len(covered.words), dtype=bool)
        allowed[[numbers[one] for one in within if one in numbers]] = True
        eligible = eligible[allowed[eligible]]
    lack = sum(-fusion.leads[name] * values[eligible] for name, values in known.items())
    if len(eligible) > limit:
        most = _least(lack, limit)
        eligible, lack = eligible[most], lack[most]
    ranked = eligible[lack.argsort(kind="stable")]
    return [ids[number] for number in ranked.tolist() if numbers.get(ids[number], -1) == number]


def _least(lack: Any, limit: int) -> Any:
    """The places of so many with the least, in no order. Of several with just as much at the edge, those are taken that
    a look at all would take."""
    some = could_be_highest(-lack, limit) if len(lack) > MANY else ()
    if len(some) > limit:
        found = lack[some]
        order = found.argpartition(limit)
        if found[order[:limit]].max() < found[order[limit]]:
            return some[order[:limit]]
    return lack.argpartition(limit)[:limit]
