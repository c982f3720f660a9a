"""`course bench many`: the figures of real ranks, and a sentence where there is no MPI."""

import json

import pytest

from course_lib.benchmarks import many
from course_lib.benchmarks.many import rank
from course_lib.parallel import cost, launch


@pytest.mark.slow
def test_what_two_ranks_gain_is_measured(tmp_path, capsys, monkeypatch):
    pytest.importorskip("mpi4py", reason="MPI comes with make test PEERS=1")
    monkeypatch.setattr(many.native, "threads", lambda: 2)
    report = many.run(tmp_path / "figures.json", preset="micro", steps=2)
    assert json.loads((tmp_path / "figures.json").read_text()) == json.loads(json.dumps(report))

    assert {(row["ranks"], row["kind"]) for row in report["training"]} == {(1, "weak"), (2, "weak"), (2, "strong")}
    alone, *others = report["training"]
    assert alone["speed_up"] == 1 and all(row["speed_up"] > 0 and 0 <= row["waiting"] < 1 for row in others)
    assert [size for size, _, _ in report["all_reduce"]] == [4 * n for n in rank.SIZES]
    assert cost.Link(report["alpha"], report["beta"]).ring(4 * rank.SIZES[-1], 2) > 0
    said = capsys.readouterr().out
    assert "Computed, not measured" in said and "1.3B" in said


def test_without_mpi_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(launch, "mpiexec", lambda: None)
    with pytest.raises(RuntimeError, match=r"\.\[many\]"):
        many.run()
