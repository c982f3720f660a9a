"""The cpu device built by each compiler and by none, and the same bits for any number of threads."""

import ctypes
import subprocess
import sys
import threading

import numpy as np
import pytest
from op_cases import CASES
from test_ops import TOLERANCE, assert_close, expected, run

from course_lib import devices, native
from course_lib.devices import cpu
from course_lib.devices.cpu import compiled
from course_lib.model import GPT, GPTConfig
from course_lib.optim import AdamW


@pytest.fixture
def table_of(monkeypatch):
    """Builds the cpu table by one kind of compiler, and makes it the device `cpu` for the test."""

    def build(kind: str) -> devices.Table:
        monkeypatch.setenv("COURSE_COMPILER", kind)
        if kind != "none" and native.find_compiler() is None:
            pytest.skip(f"{kind} is not installed here")
        table = devices.Table("cpu", cpu.table(), devices.Limits())
        monkeypatch.setitem(devices._tables, "cpu", table)
        return table

    yield build
    monkeypatch.undo()
    if native.find_compiler():
        compiled.load(native.find_compiler())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gcc", "clang", "zig"])
def test_loops_built_by(table_of, kind: str):
    """`test_ops.py` has the compiler that the course finds first, and none; here are the others."""
    table_of(kind)
    for case in CASES:
        if "_" in case.op:  # the fused ops
            _, outputs, gradients = run(case, "cpu", "float32")
            wanted_outputs, wanted_gradients = expected(case)
            for got, want in zip(outputs + gradients, wanted_outputs + wanted_gradients, strict=True):
                assert_close(got, want, TOLERANCE["float32"] * case.tolerance, str(case))


needs_compiler = pytest.mark.skipif(native.find_compiler() is None, reason="there is no C++ compiler here")


def results() -> list[np.ndarray]:
    """Outputs of all loops that sum or share work, at sizes with many pieces."""
    table, random = devices.ops("cpu"), np.random.default_rng(0)
    x, dy = (random.normal(size=(1003, 300)).astype(np.float32) for _ in range(2))
    weight, bias = (random.normal(size=300).astype(np.float32) for _ in range(2))
    q, k, v, dq = (random.normal(size=(3, 131, 4, 24)).astype(np.float32) for _ in range(4))
    targets, picks = random.integers(0, 300, 1003), random.integers(0, 9, 1003)
    y, mean, rstd = table.layernorm_forward(x, weight, bias, 1e-5)
    a, logsumexp = table.attention_forward(q, k, v)
    loss, row_logsumexp = table.cross_entropy_forward(x, targets)
    moments = [np.zeros_like(x), np.zeros_like(x), x.copy()]
    norm = table.global_norm([dy, weight])
    table.adamw_step([moments[2]], [dy], [moments[0]], [moments[1]], np.array([0.1, 0.1, 0.1], np.float32), norm,
                     beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=[0.1], max_norm=1.0)  # fmt: skip
    return [
        y, mean, rstd, *table.layernorm_backward(dy, x, weight, mean, rstd, True), a, logsumexp,
        *table.attention_backward(dq, q, k, v, a, logsumexp), loss, row_logsumexp,
        table.cross_entropy_backward(np.float32(1), x, targets, row_logsumexp), norm, *moments,
        table.bias_gelu_forward(x, bias), *table.bias_gelu_backward(dy, x, bias), table.softmax_forward(x),
        table.embedding_backward(dy, picks, 9), table.strided_copy(x, (300, 1003), (1, 300)),
        table.concatenate([x, dy], 1), table.dropout_forward(x, 0.3, np.array([1, 2, 3], np.uint32), 4),
    ]  # fmt: skip


def same_bits(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))


@needs_compiler
def test_the_number_of_threads_does_not_change_a_bit(set_threads):
    set_threads(1)
    alone = results()
    for threads in (2, 5):
        set_threads(threads)
        for _ in range(3):
            assert same_bits(results(), alone)


@needs_compiler
def test_python_threads_may_call_at_the_same_time(set_threads):
    set_threads(3)
    alone, wrong = results(), []
    callers = [threading.Thread(target=lambda: wrong.append(not same_bits(results(), alone))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == [False] * 4


@needs_compiler
def test_a_forked_child_can_compute():
    """Threads do not survive a fork; a child that waited for them would hang."""
    program = (
        "import os, numpy as np; from course_lib.devices import ops; table = ops('cpu'); "
        "from course_lib.devices.cpu import compiled; compiled.loops.set_threads(3); "
        "x = np.ones((999, 99), np.float32); table.gelu_forward(x); child = os.fork(); table.gelu_forward(x); "
        "os._exit(0) if child == 0 else print(os.waitpid(child, 0)[1])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr


@needs_compiler
def test_mixed_dtypes_and_gaps_are_refused_before_they_reach_cpp():
    table = devices.ops("cpu")
    x, weight = np.ones((4, 6), np.float32), np.ones(6)
    with pytest.raises(ValueError, match="float32 and float64"):
        table.rmsnorm_forward(x, weight, 1e-5)
    with pytest.raises(ValueError, match="contiguous"):
        table.gelu_forward(x[:, ::2])
    read_only = np.broadcast_to(np.float32(2), (1,))
    assert table.gelu_forward(read_only).shape == (1,)


def test_a_failed_build_falls_back_to_numpy_with_a_warning(monkeypatch):
    def fail(*_):
        raise native.CompileError("gcc could not compile cpu_loops: no such luck", "log")

    monkeypatch.delenv("COURSE_COMPILER", raising=False)
    monkeypatch.setattr(native, "find_compiler", lambda: native.Compiler(("g++",), "gcc", "0"))
    monkeypatch.setattr(native, "load", fail)
    with pytest.warns(UserWarning, match="no such luck"):
        table = cpu.table()
    assert table["gelu_forward"](np.zeros(3, np.float32)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("kind", ["none", ""])
def test_arrays_without_elements(table_of, kind: str):
    table = table_of(kind) if kind else devices.ops("cpu")
    nothing, weight = np.zeros((0, 5), np.float32), np.ones(5, np.float32)
    assert table.layernorm_forward(nothing, weight, None, 1e-5)[0].shape == (0, 5)
    assert table.bias_gelu_backward(nothing, nothing, weight)[1].tolist() == [0] * 5
    assert table.softmax_forward(nothing).shape == (0, 5)
    assert table.linear_backward(nothing, nothing, np.ones((5, 5), np.float32), True)[2].tolist() == [0] * 5
    assert table.scatter_add(nothing, np.zeros(0, np.int64), 3).tolist() == [[0] * 5] * 3
    assert table.strided_copy(nothing, (5, 0), (1, 5)).shape == (5, 0)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("transpose_a, transpose_b", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(
    "N, K, M",
    [(7, 1000, 61), (63, 777, 41), (193, 97, 515), (512, 64, 96), (1, 600, 700), (201, 385, 32), (521, 530, 515)],
)
def test_products_on_ragged_shapes_are_exact_and_the_same_for_any_number_of_threads(
    N, K, M, transpose_a, transpose_b, dtype, set_threads
):
    random = np.random.default_rng(N)
    a = random.standard_normal((K, N) if transpose_a else (N, K)).astype(dtype)
    b = random.standard_normal((M, K) if transpose_b else (K, M)).astype(dtype)
    left, right = (x.T if turned else x for x, turned in ((a, transpose_a), (b, transpose_b)))
    exact = left.astype("float64") @ right.astype("float64")  # (N, M)
    table, found = devices.ops("cpu"), []
    for threads in (1, 2, 3):
        set_threads(threads)
        found.append(table.matmul(a, b, transpose_a, transpose_b))
    assert same_bits(found[:1] * 2, found[1:])
    # a sum of K products is off by at most K roundings, each of |a| |b|
    bound = K * np.finfo(dtype).eps * (abs(left).astype("float64") @ abs(right).astype("float64"))
    assert (abs(found[0] - exact) <= bound).all()


@needs_compiler
@pytest.mark.parametrize("transpose_a, transpose_b", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(
    "batch, N, K, M", [((3,), 63, 777, 41), ((2, 9), 97, 96, 33), ((17,), 5, 300, 200), ((4, 5), 9, 8, 7)]
)
def test_a_batch_of_products_has_the_bits_of_each_alone(batch, N, K, M, transpose_a, transpose_b, set_threads):
    random, table = np.random.default_rng(N), devices.ops("cpu")
    a = random.standard_normal((*batch, K, N) if transpose_a else (*batch, N, K)).astype("float32")
    b = random.standard_normal((*batch, M, K) if transpose_b else (*batch, K, M)).astype("float32")
    for threads in (1, 2):
        set_threads(threads)
        found = table.matmul(a, b, transpose_a, transpose_b)
        alone = [table.matmul(a[at], b[at], transpose_a, transpose_b) for at in np.ndindex(batch)]
        assert same_bits(list(found.reshape(-1, N, M)), alone)


@needs_compiler
def test_a_product_in_float32_keeps_all_24_bits_and_what_is_not_finite():
    """Times the identity, which is exact however a product is cut into parts. Where there is AMX, three of bfloat16."""
    random, table, one = np.random.default_rng(0), devices.ops("cpu"), np.eye(520, dtype=np.float32)
    for size in (1, 2.0**80, 2.0**-80):
        x = ((2 * random.integers(2**22, 2**23, (520, 520)) + 1) * random.choice([-1, 1], (520, 520)) * size).astype(
            "float32"
        )
        for turned in (False, True):
            assert (table.matmul(x, one, turned, turned) == (x.T if turned else x)).all()
            assert (table.matmul(one, x, turned, turned) == (x.T if turned else x)).all()
    a, b = random.uniform(1, 2, (2, 520, 520)).astype(np.float32)
    a[3, 4], a[5, 6] = np.inf, np.nan
    got = table.matmul(a, b)
    assert (got[3] == np.inf).all() and np.isnan(got[5]).all() and np.isfinite(np.delete(got, (3, 5), 0)).all()
    got = table.matmul(b, a)
    assert (got[:, 4] == np.inf).all() and np.isnan(got[:, 6]).all() and np.isfinite(np.delete(got, (4, 6), 1)).all()
    largest = np.full((520, 520), np.finfo("float32").max)
    assert (table.matmul(largest, one) == largest).all()


@needs_compiler
def test_a_product_fits_where_it_is_told_to_go():
    """An array that begins beside a multiple of 64 bytes, and columns that no vector divides."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((65, 130), np.float32), random.standard_normal((130, 67), np.float32)
    around = np.full(65 * 67 + 20, 7, np.float32)
    out = around[3:-17].reshape(65, 67)
    devices.ops("cpu").matmul(a, b, out=out)
    assert np.allclose(out, a @ b, rtol=1e-4, atol=1e-4) and (around[:3] == 7).all() and (around[-17:] == 7).all()


@needs_compiler
def test_a_training_step_has_the_same_bits_for_any_number_of_threads(set_threads):
    tokens = np.random.default_rng(0).integers(0, 1024, (2, 3, 100))
    found = []
    for threads in (1, 2, 3):
        set_threads(threads)
        model = GPT(GPTConfig.preset("micro"), seed=0)
        optimiser = AdamW(model.named_parameters())
        for _ in range(2):
            optimiser.zero_grad()
            model.loss(*tokens).backward()
            optimiser.step(1e-2)
        found.append(list(model.state().values()))
    assert same_bits(found[0], found[1]) and same_bits(found[0], found[2])


@needs_compiler
def test_a_helper_joins_job_after_job(set_threads):
    """Jobs may lie at one address, one after the other: a helper that took them for the same job slept for good."""
    library = native.load("cpu_loops", sorted(compiled.FOLDER.glob("*.cpp")), compiled.FLAGS,
                          sorted(compiled.FOLDER.glob("*.h")), native.find_compiler())  # fmt: skip
    share = library._Z19parallel_for_pieceslPFvPvlES_  # parallel_for_pieces(long, void (*)(void *, long), void *)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_long)
    share.argtypes = [ctypes.c_long, kind, ctypes.c_void_p]
    both = threading.Barrier(2)
    met = []

    @kind
    def work(_, piece):  # a piece ends when another thread has come to the other one
        try:
            both.wait(timeout=20)
            met.append(piece)
        except threading.BrokenBarrierError:
            pass

    set_threads(2)
    for _ in range(20):
        share(2, work, None)
    assert sorted(met) == [0] * 20 + [1] * 20
