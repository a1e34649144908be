"""How is an experiment written down? As TOML or JSON, of which every name is checked.

    title = "Static and fading memory"
    data = [{ folder = "data/locomo", most = 200 }]    # or longmemeval = "longmemeval_s.json", locomo = "locomo10.json"
    systems = [{ use = "chroma" }, { use = "static" }, { use = "dynamic", policy = "conservative" }]

Each of `data` takes folder, longmemeval or locomo; name, most, every, users, records ("turn", "session", "user") and
adversarial. Each of `systems` takes use (a name, or MODULE:NAME of your own), name, policy (a preset, or a table of
changes, with `preset` among them or not), settings (the system's own), embedder, axis, value, parameters_millions and
answers. Each of `models` takes model, name, base_url, api_key_env (the name of an environment variable, never a key),
requests_per_minute, input_price and output_price (of a million tokens), max_tokens, options (of each request), retries
and timeout_seconds. Besides: title, baseline, k, depth, reading, minutes_apart, page_tokens, cache, seed, embedders and
arm (evaluate/arm.py). Paths are relative to the file.
"""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError, MissingExtraError
from adaptive_memory_core.evaluate.arm import arm_systems
from adaptive_memory_core.evaluate.plan import DataPlan, Experiment, ModelPlan, SystemPlan
from adaptive_memory_core.evaluate.systems.by_name import POLICIES
from adaptive_memory_core.models.extras import load
from adaptive_memory_core.policy import Policy

KINDS = ("folder", "longmemeval", "locomo")
TEXTS = ("title", "baseline", "cache", "name", "use", "model", "base_url", "api_key_env", "embedder", "axis", "records")
SWITCHES, TABLES, NUMBERS = (
    ("reading", "adversarial", "answers"),
    ("settings", "options"),
    ("value", "parameters_millions"),
)
KIND_OF: Mapping[str, tuple[str, tuple[type, ...]]] = {  # of what has no range of its own
    **dict.fromkeys(TEXTS, ("a text", (str,))),
    **dict.fromkeys(SWITCHES, ("true or false", (bool,))),
    **dict.fromkeys(TABLES, ("a table", (dict,))),
    **dict.fromkeys(NUMBERS, ("a number", (int, float))),
}
WITHOUT_SETTINGS = ("chroma", "bm25", "adaptive", *POLICIES)
FOR_ARM = {"k": 5, "reading": True}  # of the paper; what the file says holds


def read_experiment(path: Path) -> Experiment:
    """The experiment in a file, or an error that says what of it is wrong."""
    return experiment_of(_parsed(path), path.parent, cache=f"{path.stem}.replies.jsonl")


def experiment_of(told: Mapping[str, Any], folder: Path = Path(), *, cache: str = "replies.jsonl") -> Experiment:
    """The experiment that a mapping describes; paths are relative to the folder."""
    own: dict[str, Any] = {**(FOR_ARM if "arm" in told else {}), "cache": cache, **told}
    _check_names(own, {*_names(Experiment), "arm", "embedders"}, "The experiment")
    own["data"] = tuple(_data(one, folder) for one in _tables(own, "data"))
    own["systems"] = tuple(_system(one) for one in _tables(own, "systems"))
    own["systems"] += arm_systems(own.pop("arm", ()), _tables(own, "embedders"))
    own.pop("embedders", None)
    own["models"] = tuple(_model(one) for one in _tables(own, "models"))
    own["cache"] = folder / own["cache"]
    return Experiment(**own)


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        told = json.loads(text) if path.suffix == ".json" else _toml().loads(text)
    except (OSError, ValueError, RecursionError) as error:  # of TOML and JSON as well
        raise InvalidInputError(
            f"The experiment {path} cannot be read: {error}. Give TOML, or JSON as .json."
        ) from error
    if not isinstance(told, dict):
        raise InvalidInputError(f"The experiment {path} is no table of settings. evaluate/plan_file.py shows one.")
    return told


def _toml() -> Any:
    """The reader of TOML: Python's own from 3.11 on, else the package that it was made from."""
    for name in ("tomllib", "tomli"):
        if importlib.util.find_spec(name) is not None:
            return load(name)
    raise MissingExtraError(f"{MissingExtraError.of('tomli', 'cli')}. Or write the experiment as JSON.")


def _data(told: Mapping[str, Any], folder: Path) -> DataPlan:
    kinds = [kind for kind in KINDS if kind in told]
    if len(kinds) != 1:
        raise InvalidInputError(f"The data {dict(told)} name {len(kinds)} sources. Give one of {', '.join(KINDS)}.")
    rest = {name: value for name, value in told.items() if name not in KINDS}
    _check_names(rest, _names(DataPlan) - {"path", "kind"}, "The data")
    path = folder / str(told[kinds[0]])
    name = rest.pop("name", "") or (path.name if kinds[0] == "folder" else kinds[0])
    return DataPlan(path, kinds[0], str(name), **rest)


def _system(told: Mapping[str, Any]) -> SystemPlan:
    _check_names(told, {*_names(SystemPlan), "policy"}, "A system")
    if "use" not in told:
        raise InvalidInputError(f"The system {dict(told)} has no `use`. Give a system's name, e.g. chroma.")
    own = dict(told)
    use, policy = own["use"], own.pop("policy", None)
    settings = dict(own.pop("settings", {}))
    if settings and use in WITHOUT_SETTINGS:
        raise InvalidInputError(
            f"The system {use!r} has no settings, and {', '.join(map(str, settings))} would change nothing. Leave "
            "them out; the numbers of this project's memory are its `policy`."
        )
    if use in POLICIES or use == "adaptive":
        settings["policy"] = policy_of(policy, POLICIES.get(use, Policy()))
    elif policy is not None:
        raise InvalidInputError(f'The system {use!r} has no policy. Leave it out, or give use = "adaptive".')
    return SystemPlan(**{"name": use, **own, "settings": settings})


def policy_of(told: Any, start: Policy) -> Policy:
    """The policy that a system's `policy` says: a preset, or changes of the start or of a preset.

    >>> policy_of({"preset": "balanced", "decay": {"rate": 0.9}}, Policy()).decay.grace
    5.0
    """
    if told is None:
        return start
    if isinstance(told, str):
        return Policy.preset(told)
    if not isinstance(told, Mapping):
        raise InvalidInputError(f"The policy {told!r} is none. Give a preset's name or a table of changes.")
    changes = {name: tuple(one) if isinstance(one, list) else one for name, one in told.items() if name != "preset"}
    return (Policy.preset(told["preset"]) if "preset" in told else start).replace(**changes)


def _model(told: Mapping[str, Any]) -> ModelPlan:
    _check_names(told, _names(ModelPlan), "A model")
    if "model" not in told:
        raise InvalidInputError(f"The model {dict(told)} has no `model`. Give the name that its server knows.")
    return ModelPlan(**{"name": told["model"], **told})


def _tables(told: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = told.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInputError(f"`{name}` is {rows!r:.80}. It must be a list of tables.")
    return rows


def _names(kind: Any) -> set[str]:
    return {one.name for one in fields(kind)}


def _check_names(told: Mapping[str, Any], known: set[str], what: str) -> None:
    if unknown := sorted(set(told) - known):
        raise InvalidInputError(f"{what} says {', '.join(unknown)}. It may say {', '.join(sorted(known))}.")
    for name in [one for one in told if one in KIND_OF]:
        expected, kinds = KIND_OF[name]
        if not isinstance(told[name], kinds):
            raise InvalidInputError(f"{what} says {name} = {told[name]!r:.80}. It must be {expected}.")
        if name in NUMBERS and not math.isfinite(told[name]):
            raise InvalidInputError(f"{what} says {name} = {told[name]!r}. It must be a finite number.")
