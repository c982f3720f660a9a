"""What users see, and the pictures of it: serving/load.py, `course bench serve`, plots/serving.py."""

import json

from course_lib import plots
from course_lib.benchmarks import serve as bench
from course_lib.generation import Choice
from course_lib.serving import load
from course_lib.serving.engine import Engine


def test_every_token_of_every_user_is_seen_once(model, tokenizer):
    seen = load.serve(Engine(model, tokenizer, batch=2), 3, [[5], [6, 7], [8], [9]], 6, Choice(1.0))
    assert len(seen.first) == 4 and len(seen.first) + len(seen.between) == seen.tokens <= 24
    assert min(seen.first + seen.between) >= 0 and max(seen.first) <= seen.seconds
    assert seen.throughput > 0
    p50, p95, p99 = seen.percentiles()["between"]
    assert p50 <= p95 <= p99


def test_the_bench_writes_a_row_for_each_number_of_users(tmp_path, capsys):
    rows = bench.run(tmp_path / "serve.json", presets=("micro",))
    assert json.loads((tmp_path / "serve.json").read_text())["rows"] == json.loads(json.dumps(rows))
    assert [row["users"] for row in rows] == list(bench.USERS) and rows[-1]["ratio"] > 1
    assert "16 at once against one after the other" in capsys.readouterr().out
    assert {path.name for path in tmp_path.glob("*.png")} == {"serve-throughput.png", "serve-latency.png"}
    first, last = rows[0], rows[-1]
    gain, slower = last["tokens_per_s"] / first["tokens_per_s"], last["ms"]["between"][0] / first["ms"]["between"][0]
    drawn = bench.pictures(rows)
    assert f"together get {gain:.1f} times (micro)" in drawn["throughput"].alt
    assert (
        f"two tokens is {slower:.1f} times (micro)" in drawn["latency"].alt
        and "micro, p99 goes" in drawn["latency"].alt
    )


def test_pictures_say_what_they_show():
    drawn = plots.block_tables({"a": ([0, 2], 7), "b": ([0, 1], 5)}, pages=4, rows=4)
    assert "3 of 4 pages of 4 rows are held, and 4 of their rows are empty" in drawn.alt
    assert "Held by several texts: 0" in drawn.alt
    drawn = plots.accepted([0.5, 0.5, 0.0], [0.25, 0.5, 0.25], ["x", "y", "z"])
    assert "75% of the draft's proposals are accepted. The draft has too little of x" in drawn.alt
    drawn = plots.cache_costs({"many": (192, [0.85, 0.87]), "few": (32, [0.88, 0.9])})
    assert "The least loss has many. many: 192 numbers, 0.860; few: 32 numbers, 0.890" in drawn.alt
