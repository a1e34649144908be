"""Chat models in the roles of the hierarchy: boundaries of episodes, facts to store, and titles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.ports.models import OFFLINE, Boundary, EpisodeText, Fact, Facts, Line, Roles, Title
from adaptive_memory_core.models.chat import Resting, as_chat
from adaptive_memory_core.models.judges import LONGEST, YES_OR_NO, ChatRole, places

MOST_FACTS = 50  # of an episode
LONGEST_FACT = 500  # characters


def chat_roles(model: Any) -> Roles:
    """All roles by one chat model: `AdaptiveMemory.open(path, roles=chat_roles(OpenAIChat(...)))`.

    The model may also be a LangChain chat model, a LlamaIndex LLM, or a function of instructions and material. For some
    of the roles only: `Roles(semantics=ChatSemantics(model))`. A model that fails three times in a row is not called
    for a minute, and rules are used instead.

    >>> roles = chat_roles(lambda instructions, material: '{"name": "pets"}')
    >>> roles.theme_name(["Ana has a dog."])
    Title(text='pets', note=None)
    """
    chat = Resting(as_chat(model))
    return Roles(ChatBoundary(chat), ChatEpisode(chat), ChatSemantics(chat), ChatThemeName(chat))


def as_roles(given: Any) -> Roles:
    """The caller's roles, checked; without roles, rules are used.

    >>> as_roles(None) == Roles()
    True
    """
    if given is not None and not isinstance(given, Roles):
        raise InvalidInputError(
            f"roles is {shown(given)}. Give judges.Roles(...), judges.chat_roles(model) for all roles by one model, or "
            "None."
        )
    return OFFLINE if given is None else given


class ChatBoundary(ChatRole):
    """Asks a chat model whether new messages begin another episode.

    >>> line = Line("Ana", "tea", 0.0)
    >>> ChatBoundary(lambda instructions, material: '{"ends": "yes"}')([line], [line])
    Boundary(ends=True, note=None)
    """

    prompt_name = "boundary"

    def __call__(self, before: Sequence[Line], new: Sequence[Line]) -> Boundary:
        material = {"episode": _lines_as_json(before), "new": _lines_as_json(new)}
        return Boundary(*self._ask(material, lambda given: YES_OR_NO[given["ends"]]))


class ChatEpisode(ChatRole):
    """Asks a chat model for the title of an episode, and for its narrative.

    >>> reply = '{"title": "Ana adopts Rex", "narrative": "On 9 October 2025 Ana adopted the puppy Rex."}'
    >>> ChatEpisode(lambda instructions, material: reply)([Line("Ana", "I adopted Rex.", 0.0)]).narrative
    'On 9 October 2025 Ana adopted the puppy Rex.'
    """

    prompt_name = "episode"

    def __call__(self, lines: Sequence[Line]) -> EpisodeText:
        found, note = self._ask({"messages": _lines_as_json(lines)}, _title_and_narrative)
        title, narrative = (None, None) if found is None else found
        return EpisodeText(title, narrative, note)


class ChatSemantics(ChatRole):
    """Asks a chat model which facts of an episode to store, and which messages they come from.

    >>> reply = '{"facts": [{"text": "Ana drinks tea.", "messages": [1]}]}'
    >>> ChatSemantics(lambda instructions, material: reply)([Line("Ana", "I drink tea.", 0.0)]).found
    [Fact(text='Ana drinks tea.', places=[0])]
    """

    prompt_name = "semantics"

    def __call__(self, lines: Sequence[Line]) -> Facts:
        material = {
            "messages": [{"number": number, **one} for number, one in enumerate(_lines_as_json(lines), start=1)]
        }
        return Facts(*self._ask(material, lambda given: _facts(given, len(lines))))


class ChatThemeName(ChatRole):
    """Asks a chat model what several statements have in common."""

    prompt_name = "theme_name"

    def __call__(self, texts: Sequence[str]) -> Title:
        material = {"statements": [one[:LONGEST] for one in texts]}
        return Title(*self._ask(material, lambda given: _text(given["name"])))


def _lines_as_json(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [{"speaker": one.speaker or "", "time": _time(one.at), "text": one.text[:LONGEST]} for one in lines]


def _time(posix: float) -> str:
    try:
        return datetime.fromtimestamp(posix, timezone.utc).isoformat(timespec="minutes")
    except (ValueError, OverflowError, OSError):
        return ""


def _title_and_narrative(given: Any) -> tuple[str, str]:
    return _text(given["title"]), _text(given["narrative"])


def _text(found: Any) -> str:
    """
    >>> _text(" pets ")
    'pets'
    """
    if not isinstance(found, str) or not found.strip():
        raise ValueError(found)
    return " ".join(found.split())


def _facts(given: Any, count: int) -> list[Fact]:
    """The facts in a reply, each with at least one message. Raises ValueError if the reply is not valid.

    >>> _facts({"facts": [{"text": "Ana drinks tea.", "messages": [2, 2]}]}, 2)
    [Fact(text='Ana drinks tea.', places=[1])]
    """
    found = given["facts"]
    if not isinstance(found, list) or len(found) > MOST_FACTS:
        raise ValueError(found)
    if not all(one["messages"] for one in found):
        raise ValueError(found)
    read = [(_text(one["text"])[:LONGEST_FACT], places(one["messages"], count)) for one in found]
    return [Fact(text, list(dict.fromkeys(numbers))) for text, numbers in read]
