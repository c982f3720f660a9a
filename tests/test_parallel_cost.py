"""The alpha-beta model: what it says of rings, and what it finds again in times that were made by it."""

import itertools

import pytest

from course_lib.model import GPTConfig
from course_lib.parallel import cost


def test_a_ring_sends_every_byte_about_twice_however_many_ranks_there_are():
    link = cost.Link(0.0, 1e-9)
    assert link.ring(10**9, 2) == pytest.approx(1.0) and link.ring(10**9, 1000) == pytest.approx(1.998)
    assert cost.Link(1e-6, 0.0).ring(10**9, 9) == pytest.approx(16e-6)


@pytest.mark.parametrize("alpha, beta", [(5e-6, 2e-10), (1e-4, 1e-9)])
def test_a_fit_finds_the_link_again(alpha, beta):
    link = cost.Link(alpha, beta)
    samples = [(size, n, link.ring(size, n)) for n in (2, 4) for size in (4, 10**4, 10**6, 10**8)]
    found = cost.fit(samples)
    assert found.alpha == pytest.approx(alpha, rel=1e-6) and found.beta == pytest.approx(beta, rel=1e-6)
    without = cost.fit([(size, 2, size * 1e-9) for size in (10**6, 10**7)])
    assert without.alpha >= 0 and without.beta > 0


def test_more_gpus_are_less_efficient_and_overlap_helps():
    for config, tokens in ((GPTConfig.preset("12m"), 16_384), (cost.GPT_1_3B, 8_192)):
        rows = [cost.scaling(config, gpus, tokens) for gpus in (1, 8, 64, 1024)]
        assert rows[0].efficiency == 1 and all(a.efficiency > b.efficiency for a, b in itertools.pairwise(rows))
        assert all(0 < row.efficiency <= row.hidden <= 1 for row in rows)
        strong = cost.scaling(config, 64, tokens, weak=False)
        assert strong.efficiency < rows[2].efficiency
    assert sum(count for _, count in cost.GPT_1_3B.parameter_table()) == pytest.approx(1.31e9, rel=0.01)
