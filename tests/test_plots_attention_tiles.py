"""The picture of masked tiles counts those that a kernel has to compute."""

import numpy as np
import pytest

from course_lib import plots


def counted(T, queries, keys):
    """Tiles of a causal mask that are whole, cut, and hidden, counted score by score."""
    mask, found = np.tri(T, dtype=bool), [0, 0, 0]
    for i in range(0, T, queries):
        for j in range(0, T, keys):
            part = mask[i : i + queries, j : j + keys]
            found[0 if part.all() else 1 if part.any() else 2] += 1
    return found


@pytest.mark.parametrize(("T", "queries", "keys"), [(128, 32, 32), (128, 64, 32), (100, 32, 16), (8, 8, 2), (5, 1, 1)])
def test_tiles_are_those_of_the_mask(T, queries, keys):
    whole, cut, hidden = counted(T, queries, keys)
    alt = plots.attention_tiles(T, queries, keys).alt
    assert f": {whole + cut} of {whole + cut + hidden} tiles have to be computed" in alt
    assert f"{whole} of them whole and {cut} cut by the mask; {hidden} are skipped" in alt


def test_too_many_tiles_are_refused():
    with pytest.raises(ValueError, match="at most 12 tiles"):
        plots.attention_tiles(1024, 32, 32)


def test_tiles_of_keys_say_so():
    assert "blocks that own keys: 3 of 4 tiles" in plots.attention_tiles(8, 4, 4, owner="keys").alt
