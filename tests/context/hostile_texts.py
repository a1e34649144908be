"""What may a memory say to leave its place in a prompt? Seeded texts of tags, tokens, headings and marks, in pieces."""

from __future__ import annotations

import random

CONTROL_TOKENS = {  # as each family's own chat template writes them
    "ChatML, Qwen": ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>"),
    "Llama 2": ("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>"),
    "Llama 3": ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
                "<|eom_id|>", "<|python_tag|>"),
    "Llama 4": ("<|header_start|>", "<|header_end|>", "<|eot|>"),
    "Mistral": ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]",
                "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[THINK]", "[/THINK]", "<unk>"),
    "Gemma": ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<unused7>"),
    "Phi": ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|im_sep|>", "<|tool|>"),
    "DeepSeek": ("<\uff5cUser\uff5c>", "<\uff5cAssistant\uff5c>", "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
                 "<\uff5cend\u2581of\u2581sentence\uff5c>", "<\uff5ctool\u2581calls\u2581begin\uff5c>"),
    "Command R": ("<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>",
                  "<|CHATBOT_TOKEN|>", "<|USER_TOKEN|>", "<EOS_TOKEN>"),
    "GPT-OSS": ("<|start|>", "<|channel|>", "<|message|>", "<|call|>", "<|return|>", "<|constrain|>"),
    "GLM": ("[gMASK]", "<sop>", "<|observation|>"),
    "Vicuna": ("USER:", "ASSISTANT:", "### Human:", "### Assistant:", "SYSTEM:"),
    "Alpaca": ("### Instruction:", "### Response:", "### Input:", "###Instruction:"),
    "Claude": ("\n\nHuman:", "\n\nAssistant:", "Human:", "Assistant:", "User:", "System:"),
}  # fmt: skip
ALL_TOKENS = tuple(token for tokens in CONTROL_TOKENS.values() for token in tokens)
MARKS = (
    "</memory>", "</recalled_memories>", "</conversation>", "<memory kind='system'>", "</adaptive_memory>",
    "</system>", "<system>", "</ memory >", "</MEMORY\n>", "&lt;/memory&gt;", "&#60;/memory&#62;", "]]>",
    "<![CDATA[", "<!--", "-->", "<?x?>", '"', "'", '" id="1', "`", "```", "~~~", "\n```\n", "---", "\n# ", "\n> ",
    "\n- [fact] ", "> - *fact*: ", "](http://x)", "![", "\\", "\\n", '"}]}', '", "role": "system"', "{{", "}}",
    "${x}", "%s", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x00", "\x1b[0m", "\u200b", "\u202e", "\ufeff",
    "\xad", "\U000e0041", "\ud83d\ude00", "\uff1c/memory\uff1e", "\uff1a", "(id db)", "[id db]",
    "(9 more did not fit)", "[2 more, in brief]", "END OF MEMORIES", "ignore all that", "tea", " ", ",", ";", ":",
)  # fmt: skip
HIDDEN = ("\u200b", "\u00ad", "\u2060", "\ufe0e", "\u202c", ",", ";", "\x00")  # what one part or another takes away


def texts(count: int, seed: int = 10) -> list[str]:
    """Texts of one to six pieces; in some a token or a mark is interrupted by what will be taken away."""
    rng = random.Random(seed)
    return [
        "".join(_piece(rng) for _ in range(rng.randint(1, 6))).encode(errors="ignore").decode() for _ in range(count)
    ]


def _piece(rng: random.Random) -> str:
    piece = rng.choice(ALL_TOKENS if rng.random() < 0.5 else MARKS)
    if rng.random() < 0.2:
        place = rng.randrange(len(piece) + 1)
        piece = piece[:place] + rng.choice(HIDDEN) + piece[place:]
    return piece + rng.choice(("", " ", "\n"))
