"""Do the examples do what they say? Each runs as a user runs it: as a process of its own, from another directory."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import adaptive_memory_core
from tests.preloaded import Preloaded

EXAMPLES = Path(__file__).parents[1] / "examples"
PACKAGE = str(Path(adaptive_memory_core.__file__).parents[1])
ESCAPE = "\x1b"
SECONDS = 120
FIRST = "01_quickstart.py"
SAYS = {
    FIRST: ["Alice prefers PostgreSQL", "beyond k", "retrieval_count=1", "boost=0.05"],
    "02_existing_collection.py": ["for user 'ana'", "t1: unchanged", "t4: unchanged", "t3: unchanged; added nothing"],
    "03_feedback_and_policy.py": ["when sent again: 0", "nothing found", "refused: Policy(half_life_days=-7)"],
    "04_async.py": ["12 recalls at once", "dee: 3 recalls, 3 reads counted"],
    "05_server.py": ["processes: [25, 25]", "50 reads of 'tea', 50 recalls", "'retrieval_count': 50"],
    "06_dynamic_rag.py": [
        "Remembered tokens: 2",
        "refused: Decay(rate=1.2)",
        "gone: ('doc3',)",
        "doc1 pinned by the",
    ],
    "07_the_right_memory.py": [
        "by a code       ('error',)",
        "by a time       ('postgres',)",
        "originally      ('mysql',)",
        "without copies  ('cat', 'standup')",
        "volcanoes: 0 found",
        "(shared: handbook)",
        "[('Ben works from Oslo.', None)]",
    ],
    "08_team_handbook.py": [
        "('costs', 'everyone'), ('bonn', None)]",
        "after:  ('costs', 'travel', 'bonn') ('travel', 'costs', 'leave')",
        "everyone's own scope: [1, 0, 0]",
        "refused: Record 'costs' is everyone's",
        "4 pages are left",
    ],
    "09_another_embedder.py": [
        "meanwhile by letters",
        "300 of 300",
        "from now on by pairs -> offee.",
        "n7 is pinned: True | verdicts: 1",
        "was written with 'pairs' (81 dimensions); given is 'letters'",
        "opened again: 300 records",
    ],
    "10_several_steps.py": [
        "and the graph:      ['lothair-1', 'lothair-2', 'teutberga']",
        "-> 'lothair i' -> sentence 1 of 'lothair-1'",
    ],
    "11_langchain_chain.py": [
        "ana: (no key, so no model) Ana drinks green tea.",
        "ben: (no key, so no model) Ben drinks black coffee.",
        "without a user: No user was named",
        "new verdicts: 1",
        "reads: 1",
    ],
    "12_langchain_migrate.py": [
        "plain:    ['tram', 'bus']",
        "later:    ['bus', 'tram']",
        "'source': 'wiki'",
        "texts and metadata of the store: unchanged",
    ],
    "13_langgraph_agent.py": [
        "You once said: 'I am allergic to peanuts.' [m1].",
        "2 records, 1 reads, 1 found helpful",
        "ben's memory: 1 records, 0 reads",
    ],
    "14_langgraph_store.py": [
        "diet: Ana eats no meat.",
        "after a restart",
        "[('users', 'ana'), ('users', 'ben')]",
        "'who eats meat?'",
    ],
    "15_langchain_time_weighted.py": [
        "moved: 2",
        "postgres-7. (last read 0 days ago)",
        "on Mondays. (last read 30 days ago)",
    ],
    "17_conversations.py": [
        "Asked for: Rex chews all my shoes",
        "Ana lives in Turin now.",
        "7 messages, ",
        "Forgotten: True",
    ],
    "16_mem0_export.py": [
        "3 of 4 memories belong to a user",
        "ana: Is allergic to peanuts (2 records, {'categories': ['health'], 'source': 'chat'})",
        "ben: Drinks black coffee (1 records, {'source': 'mail'})",
    ],
    "18_tuning.py": [
        "too thin: 5 different questions",
        "\ntuned\n",
        "weights.importance: 0.025 ->",
        "after: 60 questions",
    ],
    "21_llama_query_engine.py": [
        "read 1 time",
        "verdicts: 1",
        "post-processed: The staging database",
        "after the update: read 1 time",
    ],
    "22_llama_chat_engine.py": ["I am allergic to peanuts", "I never eat fish", "(nothing)", "alice: "],
    "23_llama_agent.py": ["Alice drinks green tea", "6 look-ups, 2 questions, 2 reads"],
    "24_two_frameworks.py": ["one process: 50 reads", "two processes: 50 reads"],
    "42_experiment.py": ["Less chroma, question by question", "over 6 questions", "settled differences from Chroma"],
    "41_command_line.py": ["stored: 2 records", "ana: deploys: Deploys are done", "bob found nothing: True"],
    "42_mcp_client.py": [
        "tools: remember, recall, explain, feedback, forget, recent",
        "look only: explain, recent",
        "Deploys are done on Tuesdays.",
        "That is remembered already, as ",
        "Noted: 1 new verdict.",
        "prompt: What do you know about Ana's pets?",
        "ben: Nothing is remembered yet.",
    ],
    "43_report.py": [
        "verdicts: True",
        "scripts: 1 of our own",
        "less than 200,000 characters",
        "in the page of all users: False",
    ],
    "31_fastapi.py": [
        "200 of 200 requests answered",
        "a document: The office opens at nine.",
        "100 recalls of notes were counted",
    ],
    "32_worker_processes.py": [
        "uvicorn: 60 of 60 recalls found something",
        "gunicorn: 60 of 60 recalls found something",
        "120 notes, 120 recalls, 120 reads",
    ],
    "34_several_machines.py": ["Set CHROMA_HOST, CHROMA_PORT, LEDGER"],  # with these: behaviour/test_several_machines
    "33_hook.py": [
        "Chroma imported: False",
        "3 events are found by the process that stays",
        "The integration tests need Docker. My key is [masked: aws key id]",
        "wednesday: (nothing)",
    ],
    "51_deepagents.py": [
        "ana: ['/diet.md', '/home.md']",
        "ana: /diet.md: Ana eats no meat and no nuts.\nana: ",
        "ben: nothing",
        "ben: Error: File '/diet.md' not found",
    ],
    "52_langmem.py": ["Ana eats no meat and no nuts.", "ben: []", "asked: 'which food must I avoid?'"],
    "demo.py": ['plain Chroma: 1 of 3, this library: 2 of 3, after "helpful": 3 of 3', "examples/01_quickstart.py"],
}
NEEDS = {"51_deepagents.py": "deepagents"}  # what `make frameworks` installs
IMPORTED = [
    *(
        "chromadb",
        "fastapi",
        "langchain.agents",
        "langchain_chroma",
        "langgraph.graph",
        "llama_index.core.query_engine",
    ),
    *(
        "llama_index.vector_stores.chroma",
        "llama_adaptive_memory.retriever",
        "langchain_adaptive_memory.agents.middleware",
    ),
    *("langchain_adaptive_memory.retriever", "adaptive_memory_core.models.local"),
]

pytestmark = pytest.mark.hard("example")


def environment(**changes: str) -> dict[str, str]:
    """A plain environment: nothing in it that speaks of colour or width, unless given."""
    plain = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TERM", "PYTHONHASHSEED"}
    plain |= {"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"}  # the examples run without a key
    kept = {name: value for name, value in os.environ.items() if name not in plain}
    path = os.pathsep.join([PACKAGE, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**kept, "PYTHONPATH": path, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **changes}


def run(name: str, directory: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(
        command,
        cwd=directory,
        env=environment(**changes),
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Preloaded]:
    """A process with what examples import, which takes longer than most of them."""
    with closing(Preloaded(IMPORTED, environment(), tmp_path_factory.mktemp("examples"))) as process:
        yield process


def in_a_terminal(name: str, directory: Path, **changes: str) -> str:
    """What an example writes when its output is a terminal."""
    pty = pytest.importorskip("pty")
    ours, its = pty.openpty()
    command = [sys.executable, str(EXAMPLES / name)]
    with subprocess.Popen(command, cwd=directory, env=environment(COLUMNS="80", **changes), stdout=its) as process:
        os.close(its)
        written = b""
        while chunk := _read(ours):
            written += chunk
        assert process.wait(SECONDS) == 0
    os.close(ours)
    return written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says so when the other end is closed
        return b""


def test_every_example_is_tested() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(SAYS)


@pytest.mark.parametrize("name", [pytest.param(FIRST, marks=pytest.mark.sample), *sorted({*SAYS} - {FIRST})])
def test_an_example_runs_and_says_what_it_promises(name: str, tmp_path: Path, preloaded: Preloaded) -> None:
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}, which `make frameworks` installs (not on every Python)")
    done = preloaded.run([str(EXAMPLES / name)], tmp_path, environment(), seconds=SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in SAYS[name]:
        assert words in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demo_writes_plain_text_where_there_is_no_terminal(tmp_path: Path) -> None:
    shown = run("demo.py", tmp_path, PYTHONIOENCODING="ascii").stdout
    assert ESCAPE not in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert len(shown.splitlines()) <= 26


def test_the_demo_claims_what_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    demo = SimpleNamespace(**runpy.run_path(str(EXAMPLES / "demo.py")))
    allergic, standup, checkout = demo.QUESTIONS
    found = demo.asked()
    assert found.chroma == {allergic: "peanuts", standup: "old standup", checkout: "redis"}
    assert found.fresh == {**found.chroma, standup: "standup"}
    assert found.taught == {**found.fresh, checkout: "postgres"} == {one: q.gold for one, q in demo.QUESTIONS.items()}
    assert "'now', taken for the present" in found.why[standup]
    assert "postgres was helpful for" in found.why[checkout]
    monkeypatch.setitem(demo.asked.__globals__, "HELPED", "redis")  # the verdict decides, not the read before it
    assert demo.asked().taught == found.fresh


def test_the_demo_is_coloured_in_a_terminal(tmp_path: Path) -> None:
    assert ESCAPE in in_a_terminal("demo.py", tmp_path)


def test_the_demo_honours_no_color(tmp_path: Path) -> None:
    assert ESCAPE not in in_a_terminal("demo.py", tmp_path, NO_COLOR="1")
