"""docs/reference/policy.md, made of the dataclasses and their comments: python docs/generate_policy.py"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from adaptive_memory_core import policy
from adaptive_memory_core.policy.presets import PRESETS, preset_settings

PAGE = Path(__file__).with_name("reference") / "policy.md"
GROUPS = {  # by the place in the policy
    "weights": policy.Weights,
    "learning": policy.Learning,
    "decay": policy.Decay,
    "advanced": policy.Advanced,
    "advanced=Advanced(fusion": policy.Fusion,
    "advanced=Advanced(graph": policy.Graphs,
    "advanced=Advanced(hierarchy": policy.Hierarchies,
}
HEAD = """# The policy: the settings of a memory

Part of the documentation of [adaptive-memory-retrieval](../../README.md). This page is generated from the code by \
`docs/generate_policy.py`.

A `Policy` says how recalls rank and what reads and feedback change. Most users need none of it. The settings that \
many change are fields of `Policy` itself; the others are in `Policy.advanced`. A policy is frozen: `replace` \
returns a changed copy, and for a group a mapping changes only the fields it names. A value outside its range raises \
`PolicyError`, and the previous policy stays in force. A memory has one policy, which you can set at any time, and a \
single recall can use another one.

```python
from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.policy import Advanced, Decay

policy = Policy(half_life_days=7, time_words="filter", advanced=Advanced(duplicates="drop"))
policy = policy.replace(recall_k=50, decay={"rate": 0.95})  # the rest of the decay stays
assert policy.decay == Decay(rate=0.95)

with AdaptiveMemory.open("./memory", policy=policy) as memory:
    alice = memory.for_user("alice")
    alice.remember("The wifi password is on the fridge.")
    alice.recall("wifi password", policy=Policy.preset("support"))
    memory.policy = memory.policy.replace(advanced={"rerank_weight": 1.0, "graph": {"rounds": 2}})
```

The last column has the unit and the reason of the default. "The article" is the one on retrieval policies (Generative \
Agents' score), "ARM" is the paper on selective remembrance, "the paper" is GAM-RAG for the graph and xMemory for the \
hierarchy, and a file under `benchmarks/` or `docs/` has the measurement. "Guess" means that nothing was measured.
"""
TABLE_HEAD = "| field | default | allowed | meaning, with unit and source |\n|---|---|---|---|"
KEEPING = """Settings of the ledger and of the write-back are separate: `AdaptiveMemory(..., keeping=Keeping(...))`."""
BLENDS = """\
- **`blend`**, how signals become a score. With `"bounded"`, recency and importance multiply the relevance, within \
bounds. `"sum"` is the weighted mean of the signals, each stretched over the candidates unless it hardly differs. \
`"minmax"` stretches it in any case, as the literature does. `"absolute"` is the weighted mean of the signals as they \
are. `"product"` is the mean with recency times importance as one signal.
- **`kind_weights`**, e.g. `{"reflection": Weights(importance=0.5)}`: other weights for records of that kind.
- **`channel_weights`**, e.g. `{"sql": 0.5}`.
"""
PRESETS_HEAD = """`Policy.preset(name)` gives a policy of the literature. In those with `blend="minmax"` \
reads count for much more, and mislead more easily. `composite` (the article on recall for agents) adds \
up the signals as they are and drops what scores below its floor. `gam_rag` is GAM-RAG \
([the graph](../guides/graph.md#gam-rag-as-published)), and the five from `balanced` to `aggressive` are ARM's \
profiles ([fading](../background/ranking.md#fading)).

| preset | recency | importance | similarity | half life in days | what else differs from the default |
|---|---|---|---|---|---|"""


def page() -> str:
    """The text of the page, as the code has it now."""
    parts = [HEAD, "## Policy\n", _table(policy.Policy)]
    for name, kind in GROUPS.items():
        parts += [
            f"## {kind.__name__}\n",
            f"`Policy({name}={kind.__name__}(...){')' * name.count('(')})`. {_first_words(kind)}\n",
            _table(kind),
        ]
        parts += [BLENDS] if kind is policy.Advanced else []
    parts += ["## Keeping\n", KEEPING + "\n", _table(policy.Keeping)]
    parts += ["## Presets\n", "\n".join([PRESETS_HEAD, *_presets()]) + "\n"]
    return "\n".join(parts)


def _table(kind: type[Any]) -> str:
    said = _comments(kind)
    rows = [
        f"| `{field.name}` | `{_default(field.default)}` | {_allowed(kind, field.name)} | {said[field.name]} |"
        for field in dataclasses.fields(kind)
    ]
    return "\n".join([TABLE_HEAD, *rows]) + "\n"


def _first_words(kind: type[Any]) -> str:
    """The first paragraph of its docstring and, where there is one, the second."""
    paragraphs = inspect.cleandoc(kind.__doc__ or "").split("\n\n")
    return " ".join(" ".join(one.split()) for one in paragraphs if not one.startswith(">>>"))


def _default(value: Any) -> str:
    """A default as one would write it.

    >>> _default(policy.Weights()), _default("auto"), _default(0.5)
    ('Weights()', '"auto"', '0.5')
    """
    if dataclasses.is_dataclass(value):
        return f"{type(value).__name__}()"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _allowed(kind: type[Any], name: str) -> str:
    """The range of a number, the words of a choice; nothing for what has a type of its own."""
    ranges: dict[str, Any] = getattr(kind, "RANGES", {})
    if name in ranges:
        return str(ranges[name]).removeprefix("a number ").removeprefix("of ").replace("1e+06", "1000000")
    hint = get_type_hints(kind)[name]
    if hint is bool:
        return "True or False"
    return " or ".join(f'`"{word}"`' for word in get_args(hint)) if get_origin(hint) is Literal else ""


def _comments(kind: type[Any]) -> dict[str, str]:
    """What the comment beside each field says, those it inherits included."""
    found: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        if dataclasses.is_dataclass(owner):
            found |= dict(_beside_fields(inspect.getsource(owner)))
    return found


def _beside_fields(source: str) -> Iterator[tuple[str, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {one.start[0]: one.string.lstrip("# ") for one in tokens if one.type == tokenize.COMMENT}
    body = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            end = after.lineno if after is not None else (node.end_lineno or node.lineno) + 2
            yield node.target.id, " ".join(comments[line] for line in range(node.lineno, end) if line in comments)


def _presets() -> Iterator[str]:
    for name in PRESETS:
        made = policy.Policy.preset(name)
        weights = f"{made.weights.recency:g} | {made.weights.importance:g} | {made.weights.similarity:g}"
        others = {key: one for key, one in preset_settings(name).items() if key not in {"weights", "half_life_days"}}
        said = ", ".join(f"`{key}={_changes(value)}`" for key, value in others.items())
        yield f"| `{name}` | {weights} | {made.half_life_days:.4g} | {said} |"


def _changes(value: Any) -> str:
    """A value, and of a group only what is not its default."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return _default(value)
    fields = ((one.name, getattr(value, one.name), one.default) for one in dataclasses.fields(value))
    changed = ", ".join(f"{name}={_changes(now)}" for name, now, default in fields if now != default)
    return f"{type(value).__name__}({changed})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
