"""The papers' experiments with a model, one command each, on any server with OpenAI's protocol.

    python -m benchmarks.with_model xmemory-1 --model qwen3-8b --base-url http://localhost:8000/v1
    python -m benchmarks.with_model gam-rag-turns --model llama3.3 --base-url URL --data DIR --sets twowiki

Without `--data` a set of our own is asked: 20 questions about two conversations (benchmarks/small_set). The tables:

- xmemory-1, xmemory-4: answers by kind of question, tokens per query (benchmarks/xmemory_tables.py); PerLTQA's table 2
  is `xmemory-1 --sets perltqa`
- gam-rag-2, gam-rag-turns, gam-rag-ablations: what a memory learns from a judge (benchmarks/gam_rag_tables.py)
- arm-2, arm-3x2, arm-ablations: ARM's table II, its combinations of two models (--model A B), and its three numbers, by
  way of `adaptive-memory compare`

"GPT-Acc" is the share of answers that the judge calls correct; the judge is `--judge-model`, or the model itself. It is
not counted in tokens and seconds. Replies are kept in the file of `--cache`; a second run asks for none of them again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from adaptive_memory_core.evaluate.compare import compare
from adaptive_memory_core.evaluate.comparison import Comparison
from adaptive_memory_core.evaluate.plan import experiment_of
from adaptive_memory_core.evaluate.run_systems import right_answers
from benchmarks import gam_rag_tables, xmemory_tables
from benchmarks.arguments import kept
from benchmarks.counted_chat import models_of
from benchmarks.data import Dataset, load
from benchmarks.embedders import EMBEDDERS
from benchmarks.recall_quality import asked
from benchmarks.report import print_table

Row = dict[str, Any]
PARAMETERS = {"local": 8.2, "minilm": 22.7}  # millions of each embedder
HERE, SMALL = Path(__file__).parent, "small_set"
PAGE_TOKENS = {SMALL: 200}  # for a page of 4,000 tokens would show all of it, whatever the method
LONGEST_PAGE = 4_000
GAM_RAG: Mapping[str, Callable[..., Iterator[Row]]] = {
    "gam-rag-2": gam_rag_tables.table_2,
    "gam-rag-turns": gam_rag_tables.turns,
    "gam-rag-ablations": gam_rag_tables.ablations,
}
OF_ANSWERS = {
    "exact match": "EM",
    "F1": "F1",
    "judged accuracy": "GPT-Acc",
    "key-term coverage": "coverage",
    "response s": "time (s)",
    "response words": "length",
    "input tokens": "tokens in",
    "output tokens": "tokens out",
}
OF_RANKINGS = {"NDCG@5": "N@5", "precision@5": "P@5", "recall@5": "R@5"}
ARM: Mapping[str, tuple[Any, Mapping[str, str]]] = {  # the experiments of `arm`, and the measures of the memory
    "arm-2": ("table 2", OF_RANKINGS | {"parameters (millions)": "Params", "NDCG per million parameters": "Eff."}),
    "arm-3x2": ("3 x 2", OF_RANKINGS),
    "arm-ablations": (
        ["theta", "gamma", "alpha"],
        OF_RANKINGS | {"reads per recall": "reads/query", "memory size": "size", "update ms": "update ms"},
    ),
}


def main() -> None:
    arguments = parsed()
    rows: list[Row] = []
    for name in arguments.sets:
        for model in [arguments.model] if arguments.table in ARM else [[one] for one in arguments.model]:
            found, note = rows_of(load(arguments.data, name), model, arguments)
            print_table(found, title=f"{arguments.table}: {name}, {', '.join(model)}")
            print(note)
            rows += found
    kept(rows, arguments)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=[*xmemory_tables.TABLES, *GAM_RAG, *ARM])
    parser.add_argument("--model", nargs="+", required=True, help="chat models; each is measured by itself")
    parser.add_argument("--base-url", help="of their server; OpenAI's, unless it is given")
    parser.add_argument("--reader-model", help="of xmemory-*: its uncertainty is read, if the model itself tells none")
    parser.add_argument("--judge-model", help="says which answers are correct; the model itself, unless it is given")
    parser.add_argument("--judge-url", help="of its server; --base-url, unless it is given")
    parser.add_argument("--judge-api-key-env", help="the variable with its key; --api-key-env, unless it is given")
    parser.add_argument("--api-key-env", default="OPENAI_API_KEY", help="the environment variable with the key")
    parser.add_argument("--requests-per-minute", type=float, default=600.0)
    parser.add_argument("--options", type=json.loads, default={"temperature": 0.0}, help="of each request, as JSON")
    parser.add_argument("--data", type=Path, default=HERE, metavar="DIR", help="folder of data folders")
    parser.add_argument("--sets", nargs="+", default=[SMALL])
    parser.add_argument("--every", type=int, default=1, help="ask every so-manieth question only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--turns", type=int, default=10, help="of gam-rag-turns and gam-rag-ablations")
    parser.add_argument("--page-tokens", type=int, help="of what the model is shown; 4,000, and 200 for the small set")
    parser.add_argument("--embedder", choices=list(PARAMETERS), default="local", help="of gam-rag-* and arm-2")
    parser.add_argument("--cache", type=Path, default=Path("with_model.replies.jsonl"), help="where replies are kept")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def rows_of(data: Dataset, names: list[str], arguments: argparse.Namespace) -> tuple[list[Row], str]:
    """The rows of one table on one set, and what was asked of the model."""
    table, tokens = arguments.table, arguments.page_tokens or PAGE_TOKENS.get(data.name, LONGEST_PAGE)
    if table in ARM:
        return list(arm_rows(data, names, tokens, arguments)), ""
    questions = [one for one in asked(data, len(data.questions), arguments.seed) if right_answers(one)]
    questions = questions[:: arguments.every]
    told, judge = model_of(names[0], arguments), judge_of(names[0], arguments)
    models = models_of(told, judge, arguments.cache, data.name, arguments.reader_model)
    if table in xmemory_tables.TABLES:
        rows = list(xmemory_tables.rows_of(table, data, questions, models, tokens))
    else:
        embedder = EMBEDDERS[arguments.embedder]()
        rows = list(GAM_RAG[table](data, questions, models, embedder, tokens, arguments.turns))
    spent = models.chat.spent
    unread = f"{spent.unread} replies are not the JSON that was asked for, so a rule took their place"
    return rows, f"{spent.requests:,} requests, {spent.tokens:,} tokens; {unread}."


def model_of(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """The fields of a model's plan."""
    told = {"model": name, "api_key_env": arguments.api_key_env, "options": arguments.options, "max_tokens": 1_024}
    told |= {} if arguments.base_url is None else {"base_url": arguments.base_url}
    return told | {"requests_per_minute": arguments.requests_per_minute}


def judge_of(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """The judge's: the same, where nothing else is said."""
    told = model_of(arguments.judge_model or name, arguments)
    told |= {} if arguments.judge_url is None else {"base_url": arguments.judge_url}
    return told | {"api_key_env": arguments.judge_api_key_env or arguments.api_key_env}


def arm_rows(data: Dataset, names: list[str], tokens: int, arguments: argparse.Namespace) -> Iterator[Row]:
    """A row for each system and model: the memory's measures, and those of the answers."""
    arm, measures = ARM[arguments.table]
    told: dict[str, Any] = {
        "data": [{"folder": str((arguments.data / data.name).resolve()), "every": arguments.every}],
        "arm": arm,
        "models": [model_of(one, arguments) for one in names],
        "judge": judge_of(names[0], arguments),
        "page_tokens": tokens,
        "seed": arguments.seed,
        "cache": str(arguments.cache.resolve()),
    }
    if arguments.table == "arm-2":
        embedder = {"name": arguments.embedder, "use": arguments.embedder}
        told["embedders"] = [embedder | {"parameters_millions": PARAMETERS[arguments.embedder]}]
    found = compare(experiment_of(told))
    means = {(one.system, one.measure): one.mean for one in found.results}
    for system in (one for one in found.systems if one.model is None):
        for model in names:
            yield _arm_row(data.name, system.name, model, means, measures, found)


def _arm_row(
    data: str,
    system: str,
    model: str,
    means: Mapping[tuple[str, str], float],
    measures: Mapping[str, str],
    found: Comparison,
) -> Row:
    replies = f"{system} + {model}"
    row: Row = {"set": data, "system": system, "model": model}
    row |= {column: round(means[system, name], 4) for name, column in measures.items() if (system, name) in means}
    row |= {column: round(means[replies, name], 4) for name, column in OF_ANSWERS.items() if (replies, name) in means}
    return row | {"time deviation": round(found.of(replies, "response s").deviation or 0.0, 4)}


if __name__ == "__main__":
    main()
