"""Stories as tokens, by several processes at once. A story depends on its number alone, so the bytes are those of one process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from course_lib import native, paths
from course_lib.tokenizer import Tokenizer, replaced

SEED = 0  # the corpus of stories is always the same; other seeds are free for samples
EACH = 20_000  # stories of a process: three seconds of work, for half a second to start it


def parts(tokenizer: Path, held_out: int, count: int) -> Iterator[tuple[int, np.ndarray]]:
    """The stories from number `held_out` on, `count` of them, in order: (how many, their ids), the end token after each.

    tokenizer: the file that it is saved in. A story that is one of the first `held_out`, word for word, is left out. Raises
    RuntimeError if a process fails.
    """
    shares = [(held_out, held_out + at, min(EACH, count - at)) for at in range(0, count, EACH)]
    workers = min(native.threads(), len(shares))
    if workers == 1 or replaced():  # answers of a learner are in place in this process alone
        yield from ((share[-1], encoded(tokenizer, *share)) for share in shares)
        return
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        files = [Path(folder) / f"{number}.npy" for number in range(len(shares))]
        done = pool.map(_ask, [tokenizer] * len(shares), shares, files)
        for share, file, _ in zip(shares, files, done, strict=True):
            yield share[-1], np.load(file)
            file.unlink()


def _ask(tokenizer: Path, share: tuple[int, int, int], file: Path) -> None:
    """One share, by another process, into a file."""
    program = (
        "from pathlib import Path; import numpy as np; from course_lib.data import story_tokens\n"
        f"np.save({str(file)!r}, story_tokens.encoded(Path({str(tokenizer.resolve())!r}), *{share}))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=paths.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"A process that tells the stories from number {share[1]:,} on failed:\n{done.stderr.strip()}"
        )


def encoded(tokenizer: Path, held_out: int, first: int, count: int) -> np.ndarray:
    """The ids of one share."""
    from course_lib import stories

    known, left_out, ids = Tokenizer.load(tokenizer), set(stories.write(SEED, held_out)), []
    for story in stories.write(SEED, count, first=first):
        if story not in left_out:
            ids += [*known.encode(story), known.end_id]
    return np.array(ids, np.uint32)
