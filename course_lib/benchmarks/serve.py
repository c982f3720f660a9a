"""`course bench serve`: what users see of the engine, and what they get together.

For `small` and `12m` (weights as initialised: the time does not depend on them) and 1, 4 and 16 users: time to the first token
and between tokens, at p50, p95 and p99, and the tokens per second of all. Then 16 users at once against the same requests one
after the other, in turn, the median of the ratios. Bar: at least 5 times the throughput. HTTP is not in it.

With --json FILE.json two pictures are drawn beside the figures, FILE-throughput.png and FILE-latency.png.
"""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.generation import Choice
from course_lib.model import GPT, GPTConfig
from course_lib.serving import load
from course_lib.serving.engine import Engine

USERS, TOKENS, ROUNDS, BAR = (1, 4, 16), 32, 3, 5.0


class _Ids:
    """What an engine asks of a tokenizer, for texts that no one reads. The end is never drawn, so that all are of one length."""

    def __init__(self, vocabulary: int):
        self.end_id = self.vocab_size = vocabulary - 1


def run(
    json_path: str | os.PathLike | None = None, presets: tuple[str, ...] = ("small", "12m")
) -> list[dict[str, Any]]:
    """Measure, print, write as JSON and draw if asked; returns a row for each preset and number of users."""
    print(f"{TOKENS} tokens after prompts of 4 to 40; load {os.getloadavg()[0]:.1f} before")
    print(f"{'':8}{'users':>6}{'first token, ms':>24}{'between tokens, ms':>24}{'tokens/s':>10}")
    print(f"{'':14}{'p50':>8}{'p95':>8}{'p99':>8}{'p50':>8}{'p95':>8}{'p99':>8}")
    rows = []
    for preset in presets:
        config = GPTConfig.preset(preset)
        model, ids = GPT(config), _Ids(config.vocab_size)
        prompts = make_prompts(16, ids.end_id)
        measure(model, ids, prompts, 16)  # warm up
        for users in USERS:
            seen = measure(model, ids, prompts, users)
            row = {"preset": preset, "users": users, "tokens_per_s": seen.throughput, "ms": seen.percentiles()}
            rows.append(row)
            shown = "".join(f"{ms:8.1f}" for name in ("first", "between") for ms in row["ms"][name])
            print(f"{preset:8}{users:6}{shown}{seen.throughput:10.0f}", flush=True)
        ratio = statistics.median(
            measure(model, ids, prompts, 16).throughput / measure(model, ids, prompts, 1).throughput
            for _ in range(ROUNDS)
        )
        rows[-1] |= {"ratio": ratio, "bar": BAR}
        print(f"{preset:8}16 at once against one after the other: {ratio:.1f} times, at least {BAR:g}"
              f"{'  missed' if ratio < BAR else ''}", flush=True)  # fmt: skip
    if json_path is not None:
        path = Path(json_path)
        path.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
        for name, picture in pictures(rows).items():
            picture.save(path.with_name(f"{path.stem}-{name}.png"))
    return rows


def pictures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """name -> Picture: what all users get together, and how long each waits for a token, against their number."""
    from course_lib import plots  # matplotlib, which takes its time

    presets = list(dict.fromkeys(row["preset"] for row in rows))
    speeds = {name: [row["tokens_per_s"] for row in rows if row["preset"] == name] for name in presets}
    between = {name: [row["ms"]["between"] for row in rows if row["preset"] == name] for name in presets}
    waits = {
        f"{name}, p{p}": [times[i] for times in between[name]] for name in presets for i, p in enumerate((50, 95, 99))
    }
    gains = " and ".join(f"{values[-1] / values[0]:.1f} times ({name})" for name, values in speeds.items())
    slower = " and ".join(f"{values[-1][0] / values[0][0]:.1f} times ({name})" for name, values in between.items())
    most = USERS[-1]
    return {
        "throughput": plots.lines(
            USERS, speeds, f"All {most} users together get {gains} the tokens per second of one.", across="users",
            up="tokens per second", dots=True,
        ),
        "latency": plots.lines(
            USERS, waits, f"With {most} users the median time between two tokens is {slower} that of one.", across="users",
            up="ms between two tokens", logs="y", dots=True,
        ),
    }  # fmt: skip


def make_prompts(count: int, vocabulary: int) -> list[list[int]]:
    """Random tokens, no two prompts with the same beginning."""
    random = np.random.default_rng(0)
    return [random.integers(0, vocabulary, random.integers(4, 41)).tolist() for _ in range(count)]


def measure(model: GPT, ids: _Ids, prompts: list[list[int]], users: int) -> load.Seen:
    """A fresh engine, so that no beginning has been read before."""
    return load.serve(Engine(model, ids, batch=16), users, prompts, TOKENS, Choice(0.7))
