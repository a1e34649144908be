"""GAM-RAG written down from its paper (arXiv 2603.01783) alone, equation by equation, to compare ours with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ALPHA, ROUNDS, SENTENCES, ENTITIES = 0.01, 3, 3, 5  # appendix C
R_POS, R_NEG, Q = 0.5, 1.0, 0.001  # appendix C; it gives no number for Q
NO_TIME = "[NO_TIME]"


def unit(vector: Any) -> Any:
    return np.asarray(vector, dtype=float) / np.linalg.norm(vector)


def cos(one: Any, other: Any) -> float:
    return float(unit(one) @ unit(other))


@dataclass
class Memory:
    """Equation 2."""

    m_task: Any
    m_time: Any
    pi_task: float = 1.0
    pi_time: float = 1.0


@dataclass
class Episode:
    """A question that was answered: the passages, best first, and the sentences that each round activated."""

    ranking: list[str]
    rounds: list[list[int]] = field(default_factory=list)

    @property
    def activated(self) -> list[int]:
        return sorted({one for some in self.rounds for one in some})


class GamRag:
    def __init__(
        self,
        passages: Mapping[str, Sequence[str]],
        encode: Callable[[str], Any],
        ner: Callable[[str], Sequence[str]],
        time_of: Callable[[str], str | None],
        *,
        k_sentences: int = SENTENCES,
        k_entities: int = ENTITIES,
    ) -> None:
        self.encode, self.ner, self.time_of = encode, ner, time_of
        self.k_sentences, self.k_entities = k_sentences, k_entities
        self.ids = list(passages)
        self.sentences = [one for some in passages.values() for one in some]
        self.entities = sorted({name for one in self.sentences for name in ner(one)})
        self.es = np.array([[float(e in ner(s)) for s in self.sentences] for e in self.entities])  # eq. 1
        self.sp = np.array([[float(p == q) for q in self.ids] for p, some in passages.items() for _ in some])
        self.s = [encode(one) for one in self.sentences]
        self.p = [encode(" ".join(some)) for some in passages.values()]
        self.memory = [Memory(unit(encode(one)), unit(encode(time_of(one) or NO_TIME))) for one in self.sentences]

    def ask(self, question: str, suffices: Callable[[str, list[str]], bool] = lambda *_: False) -> Episode:
        q, q_time = self.encode(question), self.encode_time(question)
        a = self.linked(question)
        bonuses: list[Any] = []
        episode = Episode([])
        for t in range(1, ROUNDS + 1):
            w = np.array([self.weight(i, q, q_time) for i in range(len(self.sentences))])
            u = self.es.T @ a if a.any() else np.ones(len(self.sentences))  # eq. 5; without entities: the weights alone
            x = w * u
            score = x / np.abs(x).sum()  # eq. 6
            best = [int(i) for i in np.lexsort((np.arange(len(x)), -score)) if u[i] != 0.0][: self.k_sentences]
            activated = np.zeros(len(score))
            activated[best] = score[best]
            episode.rounds.append(best)
            bonuses.append(self.sp.T @ activated)  # eq. 7
            if t == ROUNDS or suffices(question, [self.sentences[i] for i in best]):
                break
            neighbours = self.es[:, best].sum(axis=1)
            a = np.divide(self.es @ activated, neighbours, out=np.zeros(len(self.entities)), where=neighbours > 0)  # 9
            kept = sorted(np.flatnonzero(neighbours), key=lambda e: (-a[e], self.entities[e]))[: self.k_entities]
            a = np.where(np.isin(np.arange(len(a)), kept), a, 0.0)
            if not len(kept):
                break
        scores = [
            ALPHA * cos(self.p[p], q) + sum(math.log(1 + max(0, b[p])) / t for t, b in enumerate(bonuses, 1))  # eq. 8
            for p in range(len(self.ids))
        ]
        episode.ranking = [self.ids[p] for p in np.argsort(-np.array(scores), kind="stable")]
        return episode

    def linked(self, question: str) -> Any:
        """Equation 3."""
        a = np.zeros(len(self.entities))
        for name in self.ner(question):
            similarity = [cos(self.encode(name), self.encode(e)) for e in self.entities]
            best = int(np.argmax(similarity))
            a[best] = max(a[best], similarity[best])
        return a

    def encode_time(self, text: str) -> Any:
        tau = self.time_of(text)
        return None if tau is None else self.encode(tau)

    def weight(self, i: int, q: Any, q_time: Any) -> float:
        """Equation 4."""
        mem = self.memory[i]
        g_task = 1 + (1 - mem.pi_task) * cos(mem.m_task, q)
        g_time = 1.0 if q_time is None else 1 + (1 - mem.pi_time) * cos(mem.m_time, q_time)
        return cos(self.s[i], q) * g_task * g_time

    def learn(self, question: str, verdicts: Mapping[int, bool]) -> None:
        """Equations 10 to 13, with the normalisation of appendix A."""
        q, q_time = unit(self.encode(question)), self.encode_time(question)
        for i, supports in verdicts.items():
            mem, y, r = self.memory[i], float(supports), R_POS if supports else R_NEG
            k = mem.pi_task / (mem.pi_task + r)
            mem.m_task = unit(mem.m_task + k * (y - cos(q, mem.m_task)) * q)
            mem.pi_task = min(1.0, max(0.0, (1 - k) * mem.pi_task + Q))
            if q_time is not None:
                q_t = unit(q_time)
                k = mem.pi_time / (mem.pi_time + r)
                mem.m_time = unit(mem.m_time + k * (y - cos(q_t, mem.m_time)) * q_t)
                mem.pi_time = min(1.0, max(0.0, (1 - k) * mem.pi_time + Q))
