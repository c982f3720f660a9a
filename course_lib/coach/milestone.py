"""`course.milestone()`, the last cell of each part: a short training with the learner's own pieces, and how far it came.

Promises: the run is real and short (`micro`), everything that is said was measured in it, and afterwards the
course's own pieces are back in their places. While it runs, the display of every training says how long it will take.
"""

from __future__ import annotations

from course_lib.coach import swapping


def reach(steps: int = 400, seed: int = 0, device: str = swapping.DEVICE) -> str:
    """Train `micro` for some steps with every passed answer in place; the losses (nats per token) and a sample. What was the
    learner's the training itself says at its end.

    device: kernels are launched on "simulator" or "cuda", WGSL on "webgpu"; Python takes the place of ops on "cpu".
    """
    from course_lib import data, generation, training

    swaps = swapping.use(steps=0, device=device)
    try:
        trained = training.train("micro", device=device, steps=steps, seed=seed)
        pieces = generation.generate(trained.model, trained.tokenizer, "", 80, temperature=0.7, seed=seed)
        text = "".join(pieces)
    finally:
        swaps.remove()
    where = "" if device == swapping.DEVICE else f" on {device}"
    first, last = trained.records[0]["loss"], trained.records[-1]["loss"]
    told = [
        f"{steps:,} steps of micro{where}: the loss fell from {first:.2f} to {last:.2f}; "
        f"on held-out stories it is {trained.best:.2f}. A bigram model has {data.bigram_loss(trained.corpus):.2f} "
        f"there; the entropy floor is {trained.floor:.2f}.",
        "It writes:",
        text.strip(),
    ]
    return "\n".join(told)
