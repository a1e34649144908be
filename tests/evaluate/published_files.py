"""Which made-up files stand for what LongMemEval and LoCoMo publish? Small ones, in every oddity of their formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def turn(role: str, text: str, *, evidence: bool | None = None) -> dict[str, Any]:
    return {"role": role, "content": text} | ({} if evidence is None else {"has_answer": evidence})


LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which tea do I like?",
        "answer": "green tea",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["s_late", "answer_1", "s_tram"],
        "haystack_dates": ["2023/05/22 (Mon) 09:00", "2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 12:00"],
        "haystack_sessions": [
            [turn("user", "The tram was late."), turn("assistant", "That is a pity.")],
            [turn("user", "I like green tea best.", evidence=True), turn("assistant", "Noted, green tea.")],
            [turn("user", "Where is the tram stop?"), turn("assistant", "At the corner.")],
        ],
        "answer_session_ids": ["answer_1"],
    },
    {
        "question_id": "q2",
        "question_type": "multi-session",
        "question": "How many plants do I have?",
        "answer": 2,
        "question_date": "2023/06/01 (Thu) 08:00",
        "haystack_session_ids": ["answer_2a", "s_dog", "answer_2b"],
        "haystack_dates": ["2023/05/01 (Mon) 08:00", "2023/05/02 (Tue) 08:00", "2023/05/03 (Wed) 08:00"],
        "haystack_sessions": [
            [turn("user", "I bought a fern, a plant for the desk.")],
            [turn("user", "My dog sleeps all day.")],
            [turn("user", "I was given a cactus, one more plant.")],
        ],
        "answer_session_ids": ["answer_2a", "answer_2b"],
    },
    {
        "question_id": "q3_abs",
        "question_type": "single-session-user",
        "question": "What is my parrot called?",
        "answer": "You did not mention a parrot.",
        "question_date": "2023/06/01 (Thu) 08:00",
        "haystack_session_ids": ["answer_3_abs"],
        "haystack_dates": ["2023/05/01 (Mon) 08:00"],
        "haystack_sessions": [[turn("user", "My cat is called Turing.", evidence=False)]],
        "answer_session_ids": ["answer_3_abs"],
    },
]


def said(number: str, speaker: str, text: str, **more: str) -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": number, "text": text, **more}


LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                said("D1:1", "Ana", "I went to a pottery class."),
                said("D1:2", "Ben", "Look!", blip_caption="a photo of a blue bowl"),
            ],
            "session_2_date_time": "9:05 am on 10 May, 2023",
            "session_2": [said("D2:1", "Ben", "My sister moved to Oslo."), said("D2:2", "Ana", "Since when?")],
            "session_3_date_time": "9:05 am on 12 May, 2023",
        },
        "qa": [
            {"question": "What class did Ana take?", "answer": "pottery", "evidence": ["D1:1"], "category": 4},
            {"question": "Who moved, and what is blue?", "answer": "x", "evidence": ["D2:01; D1:2"], "category": 1},
            {"question": "How many?", "answer": 2022, "evidence": ["D", "D9:9"], "category": 3},
            {"question": "Why did Ben weave?", "adversarial_answer": "fun", "evidence": ["D2:1"], "category": 5},
        ],
    }
]


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
