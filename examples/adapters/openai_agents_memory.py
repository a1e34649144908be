"""How does an agent of the OpenAI Agents SDK get this memory? By run hooks over it: copy this file.

docs/guides/agents.md shows its use. Tested with openai-agents 0.24.0.
"""

from agents import RunConfig, RunHooks
from agents.run import CallModelData, ModelInputData


class AdaptiveHooks(RunHooks):
    """Shows memories before each model call, and keeps what the user said. The run's `context` is the user's name."""

    def __init__(self, memory, k=5):
        self.memory, self.k = memory, k
        self.config = RunConfig(call_model_input_filter=self.show)

    async def show(self, data: CallModelData) -> ModelInputData:
        given, last = data.model_data, last_of_user(data.model_data.input)
        if last is None:
            return given
        first = last == len(given.input) - 1  # later calls of the run end with a tool's result
        user = self.memory.for_user(data.context)
        found = await user.arecall(text_of(given.input[last]), k=self.k, reinforce=first)
        shown = [{"role": "user", "content": found.render(max_tokens=600)}] if len(found) else []
        return ModelInputData(given.input[:last] + shown + given.input[last:], given.instructions)

    async def on_agent_end(self, context, agent, output):  # noqa: ARG002  (their names)
        last = last_of_user(context.turn_input)
        if last is not None:
            await self.memory.for_user(context.context).aremember(text_of(context.turn_input[last]))


def last_of_user(items):
    places = [place for place, item in enumerate(items) if item.get("role") == "user" and text_of(item).strip()]
    return places[-1] if places else None


def text_of(item):
    content = item["content"]
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
