"""Which question is a verdict about? The recall's cue with its vector, which is made anew where only the log has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.flow.calls.foreign_calls import tried
from adaptive_memory_core.flow.past_recall import Candidate, PastRecall
from adaptive_memory_core.flow.ports import JudgedQuestion, Ports, Vector
from adaptive_memory_core.flow.ports.judged_questions import Activated
from adaptive_memory_core.flow.ports.judges import JudgePort
from adaptive_memory_core.learn.asked_before import MOST_QUESTIONS
from adaptive_memory_core.policy.channels_and_kinds import ACTIVATED, GRAPH
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Verdict
from adaptive_memory_core.score.asked_before import ahead_of_others, from_baseline
from adaptive_memory_core.sources.graph_and_hierarchy import time_in
from adaptive_memory_core.sources.request import embedded, embedded_texts

MOST_OF_GAM_RAG = 1_000  # questions of a record whose sentences have memories, which joined questions would change


def judged_question(ports: Ports, past: PastRecall, stored: Mapping[str, str], policy: Policy) -> JudgedQuestion | None:
    """The question; None where the policy does not want it, or its vector cannot be had: the verdict counts without.
    `stored` are the ids in the collection of what is judged, by its own."""
    if not _wanted(policy):
        return None
    vector, text = past.cue.vector, past.cue.text
    if vector is None and text.strip():
        try:
            vector = embedded(ports, text, policy)
        except AdaptiveMemoryError:  # of the embedder: a verdict is not lost for that
            return None
    if vector is None:
        return None
    ahead = {stored[one]: by for one, by in stood_ahead(past.candidates).items() if one in stored}
    most = MOST_OF_GAM_RAG if _is_published(policy) else MOST_QUESTIONS
    return JudgedQuestion(past.id, vector, most, ahead)


def _wanted(policy: Policy) -> bool:
    """Whether something learns of questions: recalls like this one, or the paper's form of the graph."""
    return _is_published(policy) or (policy.learning.similar_questions > 0.0 and policy.blending == "bounded")


def _is_published(policy: Policy) -> bool:
    return GRAPH in policy.ways and policy.advanced.graph.form == "paper"


def activated(past: PastRecall, verdicts: Mapping[str, Verdict], supports: Mapping[str, int]) -> dict[str, Activated]:
    """The sentences of what is judged that the graph activated, and which of them support the answer: those that are
    said to, else all of a helpful record's."""
    found: dict[str, Activated] = {}
    for one in past.candidates:
        own = round(one.signals.get(ACTIVATED, 0.0))
        if own and one.id in verdicts:
            usual = own if verdicts[one.id] is Verdict.HELPFUL else 0
            found[one.id] = Activated(own, supports.get(one.id, usual) & own)
    return found


def time_asked(ports: Ports, past: PastRecall, judge: JudgePort | None) -> Vector | None:
    """The vector of the time that the question asks about, where the graph has sentences that learn of it."""
    if not any(one.signals.get(ACTIVATED) for one in past.candidates):
        return None
    words = time_in(past.cue.own_words, judge, ports.languages)
    found = None if words is None else tried(AdaptiveMemoryError, embedded_texts, ports.embedder, [words]).value
    return None if found is None else found[0]


def stood_ahead(candidates: Sequence[Candidate]) -> dict[str, float]:
    """By how much each candidate was more similar than the best of the others, measured from the baseline; below 0 if
    another was more similar.

    >>> near, far = Candidate("a", {"similarity": 0.75}, False), Candidate("b", {"similarity": 0.5}, True)
    >>> other = Candidate("c", {"similarity": 0.5}, True)
    >>> stood_ahead([near, far, other]), stood_ahead([near])
    ({'a': 0.5, 'b': -0.5, 'c': -0.5}, {})
    """
    near = {one.id: one.signals["similarity"] for one in candidates if "similarity" in one.signals}
    if len(near) < 2:
        return {}
    return dict(zip(near, ahead_of_others(from_baseline(list(near.values()))), strict=True))
