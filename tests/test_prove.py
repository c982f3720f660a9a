"""`course prove`: parts that fail, hang or are stopped, what is kept of them, and a rehearsal of all on a stand-in for CuPy."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from course_lib import cli, devices
from course_lib.devices.gpu import card
from course_lib.paths import ROOT
from course_lib.prove import counters, page, parts, runner, seal
from tests.test_bench_gpu import HIDE

MODULE = """
import os, pathlib, subprocess, sys, time
def fine(device):
    with open(os.environ["CALLS"], "a") as file: file.write(device + "\\n")
    return {"number": 3}
def fails(device):
    print("before"); raise ValueError("<b>it broke</b>")
def dies(device): os.abort()
def odd(device): return {"another": 1}
def none(device): return None
def hangs(device):
    print("began", flush=True)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    pathlib.Path(os.environ["CALLS"] + ".child").write_text(str(child.pid))
    time.sleep(60)
"""


def part(name: str, seconds: float = 60) -> parts.Part:
    told = lambda found: (f"number {found['number']}", True)  # noqa: E731
    return parts.Part(name, f"Part {name}", "parts_of_a_test", seconds, told, name)


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """Parts of our own, in a module that their processes find; the file that says how often one ran."""
    (tmp_path / "parts_of_a_test.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setattr(card, "problem", lambda: "There is no NVIDIA GPU here.")
    made = (part("fine"), part("fails"), part("dies"), part("odd"), part("none"))
    for module in (runner, page):
        monkeypatch.setattr(module, "PARTS", made)
    return tmp_path / "calls"


def test_a_part_that_fails_is_reported_and_the_rest_goes_on(calls, tmp_path):
    said: list[str] = []
    result = runner.prove(tmp_path / "out", rehearse=True, say=said.append)
    states = {name: found["state"] for name, found in result["parts"].items()}
    assert states == {"fine": "done", "fails": "failed", "dies": "failed", "odd": "failed", "none": "failed"}
    assert result["parts"]["fine"]["said"] == "number 3" and result["parts"]["fine"]["bar"] is True
    assert (
        result["parts"]["fails"]["said"] == "ValueError: <b>it broke</b>"
        and "before" in result["parts"]["fails"]["log"]
    )
    assert "number" in result["parts"]["odd"]["said"]
    kept = json.loads((tmp_path / "out" / "result.json").read_text())
    assert kept == result and seal.holds(kept)
    shown = (tmp_path / "out" / "result.html").read_text()
    assert "&lt;b&gt;it broke" in shown and "<b>it broke" not in shown and "src=" not in shown and "href=" not in shown
    assert "| fine | bar reached | number 3 |" in page.markdown(result) and result["sha256"] in page.markdown(result)
    assert any("done after" in line for line in said)


def test_what_is_done_is_not_done_again_unless_asked_or_the_sources_changed(calls, tmp_path, monkeypatch):
    def times() -> int:
        runner.prove(tmp_path / "out", ["fine"], rehearse=True, again=again, say=lambda line: None)
        return len(calls.read_text().splitlines())

    again = False
    assert [times(), times()] == [1, 1]
    monkeypatch.setattr(seal, "sources", lambda: "other")
    assert [times(), times()] == [2, 2]
    again = True
    assert times() == 3
    with pytest.raises(ValueError, match="no part 'x'"):
        runner.prove(tmp_path / "out", ["x"], rehearse=True)


def alive(pid: int) -> bool:
    """Whether a process runs (one that has ended and waits to be collected does not)."""
    try:
        return "\nState:\tZ" not in (open(f"/proc/{pid}/status").read())
    except OSError:
        return False


def test_a_part_that_hangs_ends_at_its_limit_with_its_children(calls, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "PARTS", (part("hangs", 3), part("fine")))
    monkeypatch.setattr(runner, "REHEARSAL", 1)
    result = runner.prove(tmp_path / "out", rehearse=True, say=lambda line: None)
    assert result["parts"]["hangs"]["state"] == "late" and result["parts"]["hangs"]["log"] == ["began"]
    assert (
        result["parts"]["hangs"]["said"] == "stopped at its limit, after 3 s"
        and result["parts"]["fine"]["state"] == "done"
    )
    assert not alive(int((tmp_path / "calls.child").read_text()))


def test_ctrl_c_keeps_what_is_done(calls, tmp_path):
    """A person stops the second part: the first is kept, and only the second is done the next time."""
    program = (
        "from course_lib.devices.gpu import card; card.problem = lambda: 'There is none.'\n"
        "from pathlib import Path; from course_lib.prove import runner, page, parts\n"
        "make = lambda name: parts.Part(name, name, 'parts_of_a_test', 60, lambda found: ('well', None), name)\n"
        "runner.PARTS = page.PARTS = (make('fine'), make('hangs'))\n"
        f"runner.prove(Path({str(tmp_path / 'out')!r}), rehearse=True)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    pid = tmp_path / "calls.child"
    end = time.monotonic() + 60
    while not (pid.exists() and pid.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in running.communicate(timeout=60)[1]
    assert not alive(int(pid.read_text()))
    kept = json.loads((tmp_path / "out" / "result.json").read_text())
    assert seal.holds(kept) and {name: one["state"] for name, one in kept["parts"].items()} == {
        "fine": "done", "hangs": "interrupted",
    }  # fmt: skip


def test_without_a_card_a_sentence_says_what_to_do(calls, tmp_path):
    with pytest.raises(RuntimeError, match=r"no NVIDIA GPU here.*make prove.*--rehearse"):
        runner.prove(tmp_path)


def test_a_result_that_was_changed_is_told(tmp_path):
    file = tmp_path / "result.json"
    whole = seal.seal({"device": {"name": "Test 4090"}, "parts": {"copy": {"share": 0.71}}})
    file.write_text(json.dumps(whole))
    ask = ["prove", "--check", str(file)]
    assert CliRunner().invoke(cli.app, ask).exit_code == 0
    whole["parts"]["copy"]["share"] = 0.91
    file.write_text(json.dumps(whole))
    found = CliRunner().invoke(cli.app, ask)
    assert found.exit_code == 1 and "was changed" in found.output


def test_the_sum_of_the_sources_is_one_of_names_and_contents(tmp_path):
    (tmp_path / "kernels").mkdir()
    file = tmp_path / "kernels" / "a.cu"
    file.write_text("1")
    sums = [seal.sources(tmp_path)]
    file.write_text("2")
    sums.append(seal.sources(tmp_path))
    file.rename(file.with_name("b.cu"))
    sums.append(seal.sources(tmp_path))
    (tmp_path / "kernels" / "notes.txt").write_text("no code")
    assert len(set(sums)) == 3 and seal.sources(tmp_path) == sums[-1]


def test_sentences_weigh_what_was_measured_against_the_bars():
    rows = [{"name": "add", "share": 0.95}, {"name": "rope", "share": 0.5}]
    assert parts._copy({"copy_gb_per_s": 1000.0, "rows": rows}) == (
        "1 of 2 kernels reach 90% of a copy's 1,000 GB/s; the slowest, rope, 50%", False,
    )  # fmt: skip
    losses = [{"preset": "micro", "difference": 2e-6}, {"preset": "12m", "difference": 0.1}]
    assert parts._trajectory(losses[:1])[1] and not parts._trajectory(losses)[1]
    sizes = {"M": 4096, "N": 4096, "K": 4096}
    shares = {"6": 0.92, "8 mma, bfloat16": 0.5, "cuBLAS float32": 1.0}
    products = [{"name": name, "of_cublas": share, **sizes} for name, share in shares.items()]
    products.append({"name": "6", "of_cublas": 0.1, **sizes, "M": 1})
    assert parts._products({"matmul": products}) == (
        "the best version reaches 92% of cuBLAS in float32 and 50% of cuBLAS in bfloat16", False,
    )  # fmt: skip
    assert parts._step({"preset": "12m", "rows": [{"name": "ours, float32", "tokens_per_s": 10.0}]})[1] is None
    assert not parts._tests({"counts": {"passed": 3}, "failed": ["FAILED a"], "launches": ""})[1]
    assert not parts._tests({"counts": {}, "failed": [], "launches": ""})[1]
    assert sum(one.seconds for one in parts.PARTS) <= 20 * 60


NCU = '''==PROF== Connected to process 17
==PROF== Disconnected
"ID","Process ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"
"0","17","matmul_naive(const float *, float *, int)","(32, 8, 1)","(8, 32, 1)","a.sum","sector","8,650,752"
"0","17","matmul_naive(const float *, float *, int)","(32, 8, 1)","(8, 32, 1)","b.ratio","","16.50"
"1","17","void matmul_shared_tiles<32>(const float *, int)","(32, 32, 1)","(8, 8, 1)","a.sum","sector","n/a"
"1","17","void matmul_shared_tiles<32>(const float *, int)","(32, 32, 1)","(8, 8, 1)","b.ratio","","4"
'''  # fmt: skip


def test_the_table_of_nsight_compute_is_read():
    naive, tiles = {"a.sum": 8650752, "b.ratio": 16.5}, {"b.ratio": 4}
    assert counters.read(NCU) == {"matmul_naive": naive, "matmul_shared_tiles": tiles}
    assert counters.read("==ERROR== ERR_NVGPUCTRPERM") == {}


FAKE_NCU = """#!{python}
import subprocess, sys
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
subprocess.run(sys.argv[sys.argv.index("--metrics") + 2 :], check=True)
print('"ID","Kernel Name","Metric Name","Metric Value"')
for metric in metrics:
    print(f'"0","matmul_naive(const float *)","{{metric}}","{{16.5 if metric.endswith("op_ld.ratio") else 1}}"')
"""


@pytest.mark.slow
@pytest.mark.skipif("cuda" in devices.available_devices(), reason="this machine has a card: course prove shows more")
@pytest.mark.skipif("simulator" not in devices.available_devices(), reason="the simulator needs a C++ compiler")
def test_a_rehearsal_on_the_stand_in_where_much_of_the_course_is_missing(tmp_path):
    """All parts on the device `cuda` itself, with a stand-in for CuPy, on a machine that has only a compiler and pytest."""
    stand_in = ROOT / "tests" / "stand_in"
    (tmp_path / "sitecustomize.py").write_text(HIDE + f"\nexec(open({str(stand_in / 'sitecustomize.py')!r}).read())\n")
    tool = tmp_path / "ncu"
    tool.write_text(FAKE_NCU.format(python=sys.executable))
    tool.chmod(0o755)
    paths = {"PYTHONPATH": [str(tmp_path), str(stand_in)], "PATH": [str(tmp_path), os.environ["PATH"]]}
    environment = {**os.environ, **{name: os.pathsep.join(folders) for name, folders in paths.items()}}
    command = [sys.executable, "-m", "course_lib.cli", "prove", "--rehearse", "--to", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["device"]["name"] == "Stand-in" and result["rehearsal"]
    found = result["parts"]
    assert {name: one["state"] for name, one in found.items()} == {one.name: "done" for one in parts.PARTS}, done.stdout
    for name in ("ops", "kernels"):
        assert found[name]["result"]["counts"]["passed"] >= 10
    assert not any("could not be captured" in line for line in found["step"]["log"]), "the step is replayed as a graph"
    assert {row["name"] for row in found["step"]["result"]["rows"]} == {"ours, float32", "ours, bfloat16"}
    assert found["trajectory"]["bar"] and found["ops"]["bar"] and found["kernels"]["bar"]
    assert len(found["copy"]["result"]["rows"]) >= 25 and len(found["products"]["result"]["matmul"]) == 9
    naive = {row["metric"]: row for row in found["counters"]["result"]["rows"] if row["name"] == "1 naive"}
    assert naive["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"]["agrees"] is True
    assert naive["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]["agrees"] is False
