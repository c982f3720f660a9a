"""`course chat`: a line in, an answer out, until an empty line, Ctrl-D or Ctrl-C. Also fed from a pipe, without prompts."""

import sys

from course_lib import generation, run
from course_lib.tuning import chat


def hold(folder: str, device: str, tokens: int, temperature: float, top_p: float | None, seed: int) -> None:
    """Read questions from the keyboard, write answers as they come. Raises ValueError for a run that knows no turns.

    Each question stands alone: the model has learned one turn, and its context is a few hundred tokens. A question may take
    several lines (a story, say, and what is asked about it) if each but the last ends in a backslash.
    """
    model, tokenizer, _ = run.load(folder, device)
    if not chat.has_turns(tokenizer):
        raise ValueError(
            f"The model in {folder} goes on with texts, and was never taught to answer. Fine-tune it first: "
            f"course train --start {folder} --out {folder}-chat"
        )
    if sys.stdin.isatty():
        print("Ask for a story, such as: Write a story about a brave hedgehog called Otto.")
        print("Or give one, an empty line, and a question about it: a line goes on below if it ends in a backslash.")
        print("Each question stands alone. An empty line ends it.")
    asked = 0
    while question := _read():
        prompt = chat.prompt_ids(tokenizer, question)[1:]
        if len(prompt) >= model.config.context:
            print(
                f"That is {len(prompt)} tokens, and this model reads {model.config.context} at most: ask a shorter one."
            )
            continue
        for piece in generation.generate(model, tokenizer, prompt, tokens, temperature, None, top_p, seed + asked):
            print(piece, end="", flush=True)
        print("\n" if sys.stdin.isatty() else "")
        asked += 1


def _read() -> str:
    """A question; empty at the end."""
    lines: list[str] = []
    while not lines or lines[-1].endswith("\\"):
        try:
            lines.append(input("> " if sys.stdin.isatty() and not lines else ""))
        except (EOFError, KeyboardInterrupt):
            break
    return "\n".join(line.removesuffix("\\") for line in lines).strip()
