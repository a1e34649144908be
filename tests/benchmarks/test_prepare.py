"""Do published files become the folders that benchmarks read? On files made up here, in the published forms."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data import Dataset, load
from benchmarks.prepare.__main__ import main
from benchmarks.prepare.sample_ids import FOLDER, sample
from benchmarks.prepare.sets import SETS

README = Path(__file__).parents[2] / "benchmarks" / "README.md"


@pytest.fixture
def published(tmp_path: Path) -> Path:
    folder = tmp_path / "published"
    folder.mkdir()
    return folder


def prepared(monkeypatch: pytest.MonkeyPatch, name: str, published: Path, *more: str) -> Dataset:
    """What a benchmark reads after the command was run."""
    to = published.parent / "data"
    given = ["prepare", name, "--from", str(published), "--to", str(to), *more]
    monkeypatch.setattr(sys, "argv", given)
    main()
    return load(to, name)


def put(path: Path, content: Any, *, lines: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, content)) if lines else json.dumps(content), "utf-8")


def paragraph(title: str, *sentences: str) -> list[Any]:
    return [title, list(sentences)]


def hotpot(name: str, *paragraphs: list[Any], facts: list[list[Any]], **more: Any) -> dict[str, Any]:
    row = {"_id": name, "question": f"{name}?", "answer": "yes", "type": "bridge", "level": "easy"}
    return {**row, "context": list(paragraphs), "supporting_facts": facts, **more}


LAKE, HILL, TOWN = (
    paragraph("Lake", "It is deep.", " It is cold."),
    paragraph("Hill", "Green. "),
    paragraph("Town", "Old."),
)


def test_banking77_has_an_item_for_each_intent(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    for split, rows in {
        "train": [("my card\nis late", "card_late"), ("how  old?", "age_limit?")],
        "test": [("late", "card_late")],
    }.items():
        with (published / f"{split}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "category"), *rows])
    data = prepared(monkeypatch, "banking77", published)
    assert [(item.id, item.text) for item in data.items] == [("age_limit?", "age limit"), ("card_late", "card late")]
    assert [(one.id, one.query, one.gold_ids, one.split) for one in data.questions] == [
        ("train0", "my card is late", ("card_late",), "train"),
        ("train1", "how old?", ("age_limit?",), "train"),
        ("test0", "late", ("card_late",), "test"),
    ]


def test_clinc150_has_questions_without_an_answer(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    put(published / "data_full.json", {"oos_val": [["who am i", "oos"]], "train": [["pay it", "pay_bill"]]})
    data = prepared(monkeypatch, "clinc150", published)
    assert [item.text for item in data.items] == ["pay bill"]
    assert [(one.id, one.answerable, one.gold_ids, one.type) for one in data.questions] == [
        ("oos_val0", False, (), "out-of-scope"),
        ("train0", True, ("pay_bill",), "recurring-intent"),
    ]


def test_locomo_has_the_turns_of_each_conversation_in_order(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    conversation = {
        "speaker_a": "Ann",
        "session_10_date_time": "12:05 am on 3 June, 2024",
        "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": " Look! ", "blip_caption": "a red kite"}],
        "session_2_date_time": "1:30 pm on 1 May, 2024",
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Hi."}],
    }
    asked = [
        {"question": "What flew?", "answer": 1, "evidence": ["D10:01; D2:1", "D7:7"], "category": 1},
        {"question": "Which dog?", "adversarial_answer": "Rex", "evidence": ["D2:1"], "category": 5},
    ]
    put(published / "locomo10.json", [{"sample_id": "conv-1", "conversation": conversation, "qa": asked}])
    data = prepared(monkeypatch, "locomo", published)
    assert [(item.id, item.seq, item.text) for item in data.items] == [
        ("conv-1:D2:1", 0, "Hi."),
        ("conv-1:D10:1", 1, "Look! [shared image: a red kite]"),
    ]
    assert data.items[1].ts == 1717373100.0  # 3 June 2024, 00:05
    first, second = data.questions
    assert (first.gold_ids, first.answer, first.type) == (("conv-1:D10:1", "conv-1:D2:1"), "1", "multi-hop")
    assert (second.answerable, second.answer, second.more["adversarial_answer"]) == (False, None, "Rex")
    assert first.ts == data.items[1].ts


def long_memory(name: str, sessions: list[tuple[str, str, list[dict[str, Any]]]]) -> dict[str, Any]:
    dates, names, turns = (list(column) for column in zip(*sessions, strict=True))
    row = {"question_id": name, "question_type": "multi-session", "question": "Which?", "answer": 3}
    history = {"haystack_session_ids": names, "haystack_dates": dates, "haystack_sessions": turns}
    return {**row, "question_date": "2023/06/01 (Thu) 09:00", **history, "answer_session_ids": names[:1]}


def test_longmemeval_has_a_history_for_each_question(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    evidence = [{"role": "user", "content": "I have three.", "has_answer": True}]
    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello you"}]
    first = long_memory("q1", [("2023/05/20 (Sat) 02:21", "s1", evidence), ("2023/05/10 (Wed) 10:00", "s2", chat)])
    second = long_memory("q2_abs", [("2023/05/10 (Wed) 10:00", "s2", chat), ("2023/05/11 (Thu) 10:00", "s2", chat)])
    put(published / "longmemeval_s_cleaned.json", [first, second])
    data = prepared(monkeypatch, "longmemeval", published)
    assert [item.id for item in data.items if item.tenant == "q1"] == ["q1:1:0", "q1:1:1", "q1:0:0"]
    assert len(data.items) == 7
    assert [(one.gold_ids, one.answerable, one.answer) for one in data.questions] == [
        (("q1:0:0",), True, "3"),
        ((), False, "3"),
    ]
    assert data.questions[0].more["answer_sessions"] == ["s1"]
    assert [one.id for one in prepared(monkeypatch, "longmemeval", published, "--questions", "1").questions] != []


def test_hotpotqa_pools_the_paragraphs(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    one = hotpot("one", LAKE, HILL, facts=[["Lake", 0], ["Lake", 1], ["Nowhere", 0]])
    two = hotpot("two", HILL, TOWN, facts=[["Town", 0]])
    columns = {"title": ["Hill", "Town"], "sentences": [["Green. "], ["Old."]]}
    put(published / "hotpot_dev_distractor_v1.json", [one, two])
    data = prepared(monkeypatch, "hotpotqa", published)
    assert [item.text for item in data.items] == ["Lake\nIt is deep. It is cold.", "Hill\nGreen.", "Town\nOld."]
    assert [question.gold_ids for question in data.questions] == [("p0",), ("p2",)]
    put(published / "hotpot_dev_distractor_v1.json", [one, {**two, "context": columns}])
    assert prepared(monkeypatch, "hotpotqa", published) == data


def test_our_sample_of_hotpotqa_is_taken_by_ids(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    parts = sample("hotpotqa_200")
    rows = [hotpot(name, LAKE, HILL, facts=[["Hill", 0]]) for name in parts]
    put(published / "hotpot_train_v1.1.json", [hotpot("more", TOWN, facts=[]), *reversed(rows[:150])])
    put(published / "hotpot_dev_distractor_v1.json", rows[150:])
    data = prepared(monkeypatch, "hotpotqa_200", published)
    assert [question.id for question in data.questions] == list(parts)
    assert [question.more["part"] for question in data.questions] == list(parts.values())
    assert [item.title for item in data.items] == ["Lake", "Hill"]


def hops(name: str, *paragraphs: tuple[str, str, bool]) -> dict[str, Any]:
    given = [{"title": title, "paragraph_text": text, "is_supporting": yes} for title, text, yes in paragraphs]
    steps = [{"id": 1, "question": "whose?", "answer": "hers", "paragraph_support_idx": 0}]
    row = {"id": name, "question": "who?", "answer": "she", "answer_aliases": [], "answerable": True}
    return {**row, "paragraphs": given, "question_decomposition": steps}


def test_musique_pools_the_paragraphs_and_keeps_the_steps(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    first = hops("2hop__1_2", ("Lake", "Deep.", False), ("Hill", "Green.", True))
    second = {**hops("3hop1__3", ("Hill", "Green.", True), ("Hill", "Brown.", True)), "answer_aliases": ["her"]}
    put(published / "musique_ans_v1.0_dev.jsonl", [first, second], lines=True)
    data = prepared(monkeypatch, "musique", published)
    assert [item.text for item in data.items] == ["Lake\nDeep.", "Hill\nGreen.", "Hill\nBrown."]
    assert [(one.type, one.gold_ids) for one in data.questions] == [("2hop", ("p1",)), ("3hop1", ("p1", "p2"))]
    assert data.questions[0].more == {"decomposition": [{"question": "whose?", "answer": "hers"}]}
    assert data.questions[1].more["answer_aliases"] == ["her"]


def test_our_sample_of_musique_is_taken_by_ids(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    put(
        published / "musique_train.json",
        [hops(name, ("Lake", "Deep.", True)) for name in reversed(sample("musique_100"))],
    )
    data = prepared(monkeypatch, "musique_100", published)
    assert [question.id for question in data.questions] == list(sample("musique_100"))


def test_twowiki_joins_sentences_with_spaces(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    row = hotpot("w1", paragraph("Lake", "Deep.", "Cold."), facts=[["Lake", 1]])
    put(published / "dev.json", [row])
    data = prepared(monkeypatch, "twowiki", published)
    assert ([item.text for item in data.items], data.questions[0].gold_ids) == (["Lake\nDeep. Cold."], ("p0",))


def test_our_sample_of_twowiki_comes_of_two_publishers(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    put(
        published / "a" / "2wikimultihopqa_corpus.json", [{"title": name, "text": "Old."} for name in ("Town", "Abbey")]
    )
    answered = [
        {"question": "Which?", "ground_truth": ["Town", "Abbey"]},
        {"question": "Are both?", "ground_truth": ["Town"]},
    ]
    put(published / "b" / "results" / "graph" / "2wikimultihopqa_101.json", answered)
    put(published / "b" / "results" / "graph" / "2wikimultihopqa_51.json", answered[:1])
    put(published / "b" / "questions" / "2wikimultihopqa_101.json", ["Are both?"])
    data = prepared(monkeypatch, "twowiki_101", published)
    assert [(one.query, one.gold_ids, one.type) for one in data.questions] == [
        ("Are both?", ("p0",), "1-doc"),
        ("Which?", ("p1", "p0"), "2-doc"),
    ]
    assert [one.more["in_51_subset"] for one in data.questions] == [False, True]
    assert [one.more["in_fastgraphrag_multihop_list"] for one in data.questions] == [True, False]


def test_timeqa_has_paragraphs_and_questions_without_an_answer(
    monkeypatch: pytest.MonkeyPatch, published: Path
) -> None:
    said = [{"para": 1, "from": 0, "end": 3, "answer": "Ulm"}, {"para": 1, "from": 4, "end": 6, "answer": "Ulm"}]
    asked = [["Where in 1900?", said], ["Where in 1800?", [{"para": 0, "from": 0, "end": 0, "answer": ""}]]]
    page = {"index": "/wiki/Ada_B#P1", "type": "P1", "link": "/wiki/Ada_B", "paras": ["Ada B", "In  Ulm."]}
    put(published / "human_annotated_test.json", [{**page, "questions": asked}])
    put(published / "human_annotated_train.json", [{**page, "index": "/wiki/Ada_B#P2", "questions": asked[:1]}])
    data = prepared(monkeypatch, "timeqa_human", published)
    assert [(item.id, item.title, item.text) for item in data.items] == [
        ("Ada_B#0", "Ada B", "Ada B"),
        ("Ada_B#1", "Ada B", "In Ulm."),
    ]
    assert [(one.id, one.gold_ids, one.answer, one.answerable) for one in data.questions] == [
        ("test:/wiki/Ada_B#P1:0", ("Ada_B#1",), "Ulm", True),
        ("test:/wiki/Ada_B#P1:1", (), None, False),
        ("train:/wiki/Ada_B#P2:0", ("Ada_B#1",), "Ulm", True),
    ]


def test_madial_asks_with_the_last_words_of_the_user(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    memory = {"7": {"time": "2024-01-02", "scene": "Trip", "emotion": "Happy", "event": "Lea swam."}}
    turns = ["<BOD>\n", '<Lea>: "I am hot."\n', '<Assistant>: "Drink!"\n', '<Assistant>: "Swim again?"\n']
    put(published / "MADial-Bench-en-memory.json", [memory, {"9": {**memory["7"], "event": "Lea ran."}}], lines=True)
    dialogue = {"dialogue": turns, "test-turn": [3], "relevant-id": [9, 7], "user-id": 1}
    put(published / "MADial-Bench-en-dialogue.json", [dialogue, dialogue], lines=True)
    data = prepared(monkeypatch, "madial_en", published)
    assert [(item.id, item.text) for item in data.items] == [("7", "Lea swam."), ("9", "Lea ran.")]
    asked = data.questions[0]
    assert (asked.id, asked.query, asked.gold_ids, asked.answer) == ("d0t3", "I am hot.", ("9", "7"), "Swim again?")
    assert asked.more["context"] == ['<Lea>: "I am hot."', '<Assistant>: "Drink!"']


def test_perltqa_has_a_memory_of_each_kind_and_questions_that_refer_to_it(
    monkeypatch: pytest.MonkeyPatch, published: Path
) -> None:
    event = {"content": "They saw\n the canyon.", "summary": "The canyon", "Creation Time": "May 12, 2022"}
    said = {"events": "1_0_0", "contents": {"2022-05-12 10:00": ["Wei: We are here!", "Lan: At last."]}}
    wei = {
        "profile": {"Age": 28, "Hobbies": ["tea", "go"]},
        "profile_description": "Wei is 28.",
        "social_relationship": {
            "1_0": {"Supporting Characters": "Lan", "Description": "A doctor.", "Relationship": "sister"}
        },
        "events": {"1_0_0": event, "1_0_1": {**event, "Creation Time": "during an election"}},
        "dialogues": {"1_0_0#0": said},
    }
    put(published / "perltmem_en_v2.json", {"Wei": wei})

    def asked(reference: str) -> dict[str, Any]:
        return {"Question": "What?", "Answer": "That.", "Reference Memory": reference, "Memory Anchors": []}

    kinds = {
        "profile": [asked("Age"), asked("Shoe Size")],
        "social_relationship": [{"1_0": [asked("['1_0']")]}],
        "events": [{"1_0_0": [asked("['1_0_0', '1_0_1']")]}],
        "dialogues": [{"1_0_0#0": [asked("['1_0_0#0']")]}],
    }
    put(published / "perltqa_en_v2.json", [{"Wei": kinds}])
    data = prepared(monkeypatch, "perltqa", published)
    assert [(one.id, one.text) for one in data.items] == [
        ("Wei:Age", "Age: 28"),
        ("Wei:Hobbies", "Hobbies: tea, go"),
        ("Wei:1_0", "Lan (sister): A doctor."),
        ("Wei:1_0_0", "They saw the canyon."),
        ("Wei:1_0_1", "They saw the canyon."),
        ("Wei:1_0_0#0", "Wei: We are here!\nLan: At last."),
    ]
    assert [one.ts for one in data.items[3:]] == [1652313600.0, None, 1652349600.0]
    assert {one.tenant for one in data.items} == {one.tenant for one in data.questions} == {"Wei"}
    gold = [("Wei:Age",), (), ("Wei:1_0",), ("Wei:1_0_0", "Wei:1_0_1"), ("Wei:1_0_0#0",)]
    assert [one.gold_ids for one in data.questions] == gold
    assert [one.type for one in data.questions] == ["profile", *kinds]


def span(start: int, end: int, **more: Any) -> dict[str, Any]:
    return {"start_token": start, "end_token": end, **more}


def marked(long: tuple[int, int], *short: tuple[int, int], yes_no: str = "NONE") -> dict[str, Any]:
    return {"long_answer": span(*long), "short_answers": [span(*one) for one in short], "yes_no_answer": yes_no}


def test_natural_questions_are_read_in_both_published_forms(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    page = "<P> Ada was born in Rome . </P> <Table> <Tr> <Td_colspan=2> Old town </Td> </Tr> </Table> <P> </P>"
    tokens = page.split(" ")
    spans = [(0, 8, True), (8, 15, True), (9, 14, False), (15, 17, True)]
    row = {
        "question_text": "where was ada born",
        "document_url": "https://en.wikipedia.org//w/index.php?title=Ada_of_Rome&amp;oldid=1",
        "long_answer_candidates": [span(start, end, top_level=top) for start, end, top in spans],
    }
    train = [
        {**row, "example_id": 1, "document_text": page, "annotations": [marked((0, 8), (5, 6))]},
        {**row, "example_id": 2, "document_text": page, "annotations": [marked((-1, -1))]},
    ]
    whole = [{"token": one, "html_token": one.startswith("<")} for one in tokens]
    seen = [marked((9, 14), yes_no="YES"), marked((0, 8), (1, 2), (5, 6)), marked((-1, -1)), marked((-1, -1))]
    once = [marked((0, 8)), *[marked((-1, -1))] * 4]
    dev = [
        {**row, "example_id": 3, "document_tokens": whole, "annotations": seen},
        {**row, "example_id": 4, "document_tokens": whole, "annotations": once},
    ]
    put(published / "v1.0-simplified_simplified-nq-train.jsonl", train, lines=True)
    with gzip.open(published / "nq-dev-00.jsonl.gz", "wt") as lines:
        lines.write("".join(json.dumps(one) + "\n" for one in dev))
    data = prepared(monkeypatch, "nq", published)
    assert [one.text for one in data.items] == ["Ada of Rome\nAda was born in Rome .", "Ada of Rome\nOld town"]
    found = [(one.id, one.gold_ids, one.answer, one.more["answers"]) for one in data.questions]
    assert sorted(found) == [("1", ("p0",), "Rome", ["Rome"]), ("3", ("p0", "p1"), "yes", ["yes", "Ada, Rome"])]
    assert len(prepared(monkeypatch, "nq", published, "--questions", "1").questions) == 1


def test_the_medical_text_is_cut_and_its_gold_is_found_by_words(
    monkeypatch: pytest.MonkeyPatch, published: Path
) -> None:
    text = " ".join([*["Skin is an organ."] * 70, "Basal cell cancer is common.", *["Bones heal."] * 110])
    put(published / "medical.json", [{"corpus_name": "Medical", "context": text}])
    row = {
        "source": "Medical",
        "question": "Which is common?",
        "answer": "That one.",
        "question_type": "Fact Retrieval",
    }
    first = {**row, "id": "Medical-1", "answer": "Basal cell cancer"}
    asked = [first, {**row, "id": "Medical-2", "evidence": "basal cells"}, {**row, "id": "Medical-3"}]
    put(published / "medical_questions.json", asked)
    data = prepared(monkeypatch, "graphrag_medical", published)
    assert [len(item.text) <= 1_200 for item in data.items] == [True] * 3
    (gold,) = [item.id for item in data.items if "Basal" in item.text]
    assert [one.gold_ids for one in data.questions] == [(gold,), (gold,), ()]
    assert [one.type for one in data.questions] == ["Fact Retrieval"] * 3


def intents(folder: Path, count: int) -> None:
    put(folder / "data_full.json", {"train": [[f"query {number}", "pay"] for number in range(count)]})


def test_a_seed_draws_the_same_questions_again(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    intents(published, 50)
    runs = [
        [one.id for one in prepared(monkeypatch, "clinc150", published, "--questions", "9", "--seed", seed).questions]
        for seed in ("1", "1", "2")
    ]
    assert runs[0] == runs[1] != runs[2]
    assert [len(run) for run in runs] == [9, 9, 9]


def test_the_same_files_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    intents(published, 5)
    written = published.parent / "data" / "clinc150"
    sums = set()
    for _ in range(2):
        prepared(monkeypatch, "clinc150", published)
        sums.add(tuple(hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(written.iterdir())))
    assert len(sums) == 1


def test_a_file_that_is_not_the_one_behind_our_figures_is_named(
    monkeypatch: pytest.MonkeyPatch, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    intents(published, 2)
    prepared(monkeypatch, "clinc150", published)
    said = capsys.readouterr()
    assert "data_full.json is not the file behind our figures" in said.err
    assert "our figures were measured on another one" in said.out


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("locomo", None, "locomo10.json is not among"),
        ("clinc150", "no json", "neither JSON nor one JSON object a line"),
        ("clinc150", "[]", "holds no splits"),
        ("hotpotqa", '[{"question": "?"}]', "not in the form that was published"),
        ("hotpotqa_200", "[]", "200 of the 200 questions of hotpotqa_200 are not in the files"),
    ],
)
def test_what_cannot_be_made_into_a_folder_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, published: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        for file in ("data_full.json", "hotpot_dev.json"):
            (published / file).write_text(content, "utf-8")
    with pytest.raises(SystemExit, match=said):
        prepared(monkeypatch, name, published)


@pytest.mark.parametrize(("name", "count"), [("twowiki_101", "5"), ("clinc150", "0")])
def test_a_draw_that_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, published: Path, name: str, count: str
) -> None:
    intents(published, 2)
    for file in ("results/graph/2wikimultihopqa_101.json", "results/graph/2wikimultihopqa_51.json"):
        put(published / file, [])
    put(published / "questions" / "2wikimultihopqa_101.json", [])
    put(published / "2wikimultihopqa_corpus.json", [])
    with pytest.raises(SystemExit, match="--questions"):
        prepared(monkeypatch, name, published, "--questions", count)


def test_two_files_of_one_name_are_not_guessed_between(monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    intents(published, 2)
    intents(published / "other", 3)
    with pytest.raises(SystemExit, match="2 times with other contents"):
        prepared(monkeypatch, "clinc150", published)


def test_the_page_on_the_benchmarks_names_every_set_and_every_checksum() -> None:
    page = README.read_text("utf-8")
    missing = [
        word
        for name, public in SETS.items()
        for word in (f"`{name}`", *public.made.values(), *filter(None, public.files.values()))
        if word not in page
    ]
    assert missing == []


def test_only_ids_are_kept_of_a_sample() -> None:
    for file in FOLDER.iterdir():
        for line in file.read_text("utf-8").splitlines():
            assert re.fullmatch(r"[0-9a-f]{24}\t(hipporag-train100|reflexion-100)|\dhop\d?_[\d_]+", line)
