"""`course bench tokenizer`: our BPE against HuggingFace `tokenizers`, on the same text, in turn, medians.

The bar: learning a vocabulary of 4096 takes at most 3 times the peer's time with the compiled loop, 5 times in plain Python.
The peer uses all cores. Encoding has no bar; it is shown with an empty cache of pieces and with a full one.
"""

import importlib.util
import itertools
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course_lib import bpe, native, paths, stories
from course_lib.tokenizer import END_OF_TEXT, Tokenizer, count_pieces

VOCAB_SIZE, ROUNDS, SIZE = 4096, 5, 1_115_394
BARS = {"learn, compiled": 3.0, "learn, plain Python": 5.0}


def run(json_path: str | os.PathLike | None = None) -> list[dict[str, Any]]:
    """Measure, print a table, write it as JSON if asked; returns the rows: name, seconds, ratio to the peer, bar."""
    if importlib.util.find_spec("tokenizers") is None:
        raise RuntimeError("this compares with the package tokenizers, which is not here: pip install tokenizers")
    name, text = _text()
    rows = measure(text)
    print(f"{name}, {len(text.encode()) / 1e6:.2f} MB, vocabulary {VOCAB_SIZE}; medians of {ROUNDS} rounds in turn")
    print(f"{'':22}{'ours, s':>9}{'tokenizers, s':>15}{'ratio':>8}{'at most':>9}")
    for row in rows:
        bar = "" if row["bar"] is None else f"{row['bar']:.1f}"
        missed = "" if row["bar"] is None or row["ratio"] <= row["bar"] else "  missed"
        print(f"{row['name']:22}{row['seconds']:9.3f}{row['peer_seconds']:15.3f}{row['ratio']:8.2f}{bar:>9}{missed}")
    if json_path is not None:
        Path(json_path).write_text(json.dumps({"text": name, "rounds": ROUNDS, "rows": rows}, indent=1) + "\n")
    return rows


def measure(text: str) -> list[dict[str, Any]]:
    """Each of our ways next to the peer's, timed in turn, so that a busy machine slows both."""
    merges = bpe.learn_merges(count_pieces(text), VOCAB_SIZE - 257)
    warm, peer = Tokenizer(merges), _peer(text)
    warm.encode(text)
    ours: dict[str, Callable[[], object]] = {
        "learn, compiled": lambda: bpe.learn_merges_compiled(count_pieces(text), VOCAB_SIZE - 257),
        "learn, plain Python": lambda: bpe.learn_merges(count_pieces(text), VOCAB_SIZE - 257),
        "encode, first time": lambda: Tokenizer(merges).encode(text),
        "encode, once more": lambda: warm.encode(text),
    }
    if native.find_compiler() is None:
        del ours["learn, compiled"]
    else:
        ours["learn, compiled"]()  # compiles, once
    theirs = {"learn": lambda: _peer(text), "encode": lambda: peer.encode(text)}
    times: dict[str, list[float]] = {name: [] for name in [*ours, *theirs]}
    for _ in range(ROUNDS):
        for name, act in (theirs | ours).items():
            began = time.perf_counter()
            act()
            times[name].append(time.perf_counter() - began)
    rows = []
    for name in ours:
        of_peer = times[name.partition(",")[0]]
        ratios = [own / other for own, other in zip(times[name], of_peer, strict=True)]
        seconds, peer_seconds = statistics.median(times[name]), statistics.median(of_peer)
        row = {"name": name, "seconds": seconds, "peer_seconds": peer_seconds, "ratio": statistics.median(ratios)}
        rows.append(row | {"bar": BARS.get(name)})
    return rows


def _peer(text: str) -> Any:
    from tokenizers import Tokenizer as Peer
    from tokenizers import models, pre_tokenizers, trainers

    peer = Peer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE, special_tokens=[END_OF_TEXT], initial_alphabet=alphabet, show_progress=False
    )
    peer.train_from_iterator([text], trainer)
    return peer


def _text() -> tuple[str, str]:
    """Real English if it is at hand, beside the course or downloaded; else as much of our own stories."""
    beside = paths.ROOT.parent / "shared" / "data" / "tinyshakespeare.txt"
    for path in (beside, paths.cache("downloads") / "tinyshakespeare.txt"):
        if path.exists():
            return "Tiny Shakespeare", path.read_text(encoding="utf-8")
    told = stories.write(seed=0, count=10_000)
    return "our stories", "".join(itertools.islice(itertools.chain.from_iterable(told), SIZE))
