"""A launch to step through, as the engine of the web edition records it in Node: the data are those of the native player."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import plots
from course_lib.cuda import Kernel, asarray, zeros
from tests.site import engine_jobs

pytestmark = pytest.mark.slow

TEXT = Path(__file__).with_name("played.cu")
# Kernel -> blocks, threads of a block, what x holds, the type and the length of the other array.
LAUNCHES = {
    "warp_sum": (2, 32, np.arange(64, dtype=np.float32), "float32", 2),
    "columns": (1, 64, np.linspace(0, 1, 64, dtype=np.float32), "float32", 64),
    "count": (1, 32, np.arange(32, dtype=np.int32), "uint32", 4),
    "neighbour": (1, 64, np.arange(64, dtype=np.float32), "float32", 64),
}


@pytest.fixture(scope="module")
def played(built):
    """What the engine records: of each kernel the data of its player, and what it says of a launch that is too large."""
    jobs = []
    for name, (grid, block, x, dtype, length) in [
        *LAUNCHES.items(),
        ("neighbour", (1, 256, np.zeros(256, np.float32), "float32", 256)),
    ]:
        args = [{"dtype": x.dtype.name, "values": x.tolist()}, {"dtype": dtype, "shape": [length], "zeros": True}]
        run = {"text": TEXT.read_text(), "kernel": name, "grid": grid, "block": block, "args": args, "player": True}
        jobs.append({"run": run})
    *shown, large = engine_jobs.run(built([]), jobs)["results"]
    return dict(zip(LAUNCHES, shown, strict=True)), large


@pytest.mark.parametrize("name", LAUNCHES)
def test_the_data_are_those_of_the_native_player(name, played):
    grid, block, x, dtype, length = LAUNCHES[name]
    native = plots.play(Kernel(TEXT, name), grid, block, (asarray(x), zeros(length, dtype))).html
    expected = json.loads(re.search(r"^const DATA = (.*);$", native, re.M)[1].replace("<\\/", "</"))
    data = played[0][name]["player"]
    assert data["steps"] == expected["steps"]
    assert data == expected


def test_what_is_too_large_is_told_as_natively(played):
    told = played[1]
    with pytest.raises(ValueError) as native:
        plots.play(Kernel(TEXT, "neighbour"), 1, 256, (zeros(256), zeros(256)))
    assert "player" not in told and told["notPlayed"] == str(native.value)
