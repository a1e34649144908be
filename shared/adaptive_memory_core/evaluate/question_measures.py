"""Which measures are taken of what one system found for one question? Those of rankings, sessions, tokens and pages."""

from __future__ import annotations

from collections.abc import Mapping

from adaptive_memory_core.evaluate.answers import best_of, bleu_1, contains, exact_match, f1, key_terms, rouge_l
from adaptive_memory_core.evaluate.answers import term_coverage as coverage_of
from adaptive_memory_core.evaluate.comparison import MeasureAbout
from adaptive_memory_core.evaluate.labelled import Question
from adaptive_memory_core.evaluate.metrics import hit_rate_at, ndcg_at, precision_at, recall_at, reciprocal_rank
from adaptive_memory_core.evaluate.sessions import session_measures
from adaptive_memory_core.evaluate.systems.port import Found
from adaptive_memory_core.evaluate.tokens_shown import Texts, each_alone, measured

Row = dict[str, float]
OF_TOKENS = {  # how `tokens_shown` calls them, and what they are called here
    "r500": "evidence in 500 tokens",
    "r1000": "evidence in 1000 tokens",
    "covered": "answer covered",
    "tokens to cover": "tokens to cover",
    "blocks to cover": "blocks to cover",
    "redundancy": "redundancy",
}
ABOUT: Mapping[str, MeasureAbout] = {
    one.name: one
    for one in (
        MeasureAbout("session NDCG@10 (LME)", about="as LongMemEval's own script has it"),
        MeasureAbout("evidence in 500 tokens", about="the share of the gold among the first 500 tokens"),
        MeasureAbout("evidence in 1000 tokens", about="the share of the gold among the first 1,000 tokens"),
        MeasureAbout("answer covered", about="whether all words of the answer were read within 4,000 tokens"),
        MeasureAbout("tokens to cover", "tokens", "lower", "until all words of the answer were read, where they were"),
        MeasureAbout("blocks to cover", "blocks", "lower", "until all words of the answer were read, where they were"),
        MeasureAbout("redundancy", "ratio", "lower", "how alike a block is to the most similar one before it"),
        MeasureAbout("contained in page", about="whether the page holds the answer word for word"),
        MeasureAbout("terms in page", about="the share of the answer's key terms that the page holds"),
        MeasureAbout("page tokens", "tokens", "lower", "characters / 4 of the page"),
        MeasureAbout("recall ms", "ms", "lower", "from the question to the ids, its embedding included"),
        MeasureAbout("exact match", about="the reply is the answer, but for case, punctuation and articles"),
        MeasureAbout("contain-accuracy", about="the reply holds the answer word for word"),
        MeasureAbout("key-term coverage", about="the share of the answer's key terms that the reply holds"),
        MeasureAbout("response s", "s", "lower", "of the reply, as it was first given"),
        MeasureAbout("response words", "words", None, "in the reply"),
        MeasureAbout("input tokens", "tokens", "lower", "of the request, as the server counts them"),
        MeasureAbout("remembered", "share", None, "records that are exempt from decay at the end, per user"),
        MeasureAbout(
            "memory size", "share", None, "records that are not all but faded at the end (nonzero embeddings), per user"
        ),
        MeasureAbout("stale norm", "ratio", None, "the norm of the strengths of what is not remembered, per user"),
        MeasureAbout("reads per recall", "ratio", None, "hits that were counted as read, per user"),
        MeasureAbout("update ms", "ms", "lower", "to write down what a recall changed, per user"),
        MeasureAbout("parameters (millions)", "ratio", "lower", "of the embedder"),
        MeasureAbout("NDCG per million parameters", "ratio", "higher", "the paper's words for its efficiency"),
    )
}


def about(name: str) -> MeasureAbout:
    """What is known of a measure; a share of which more is better, unless it is told otherwise."""
    return ABOUT.get(name, MeasureAbout(name))


def of_recall(question: Question, found: Found, texts: Texts, *, k: int, page: str) -> Row:
    """What can be said without a chat model. A measure that needs the answer is left out where it is not known."""
    ranking, gold = list(found.ids), question.gold_ids
    row = {
        f"NDCG@{k}": ndcg_at(ranking, gold, k=k),
        f"recall@{k}": recall_at(ranking, gold, k=k),
        f"precision@{k}": precision_at(ranking, gold, k=k),
        "hit@1": hit_rate_at(ranking, gold, k=1),
        f"MRR@{k}": reciprocal_rank(ranking, gold, k=k),
    }
    row |= session_measures(question, ranking, texts.items)
    shown = measured(texts, question, found.units() if found.units is not None else each_alone(ranking))
    row |= {name: shown[one] for one, name in OF_TOKENS.items() if one in shown}
    if right := right_answers(question):
        row["contained in page"] = best_of(contains, page, right)
        row |= _terms(question, page, "terms in page") | {"page tokens": len(page) / 4}
    return row


def of_reply(question: Question, reply: str, *, seconds: float, input_tokens: int) -> Row:
    """What can be said of a chat model's reply."""
    right = right_answers(question)
    measures = {
        "exact match": exact_match,
        "F1": f1,
        "BLEU-1": bleu_1,
        "ROUGE-L": rouge_l,
        "contain-accuracy": contains,
    }
    row = {name: best_of(measure, reply, right) for name, measure in measures.items()} if right else {}
    row |= _terms(question, reply, "key-term coverage")
    return row | {"response s": seconds, "response words": len(reply.split()), "input tokens": input_tokens}


def right_answers(question: Question) -> list[str]:
    """All answers that are right: the one, and those of a list `answers` beside it."""
    others = question.more.get("answers")
    own = [] if question.answer is None else [question.answer]
    return [str(one) for one in (*own, *(others if isinstance(others, list) else ())) if str(one).strip()]


def _terms(question: Question, text: str, name: str) -> Row:
    """Of the key terms that the question lists, or those of its answer."""
    given = question.more.get("key_terms")
    right = right_answers(question)
    terms = tuple(map(str, given)) if isinstance(given, list) and given else key_terms(right[0]) if right else ()
    return {name: coverage_of(text, terms)} if terms else {}
