"""Products in bfloat16 on the cpu device: against float64, by the processor's instruction and without it, and in a run."""

import ctypes
import functools

import ml_dtypes
import numpy as np
import pytest
from tiny_runs import MODELS, TINY, make_run

from course_lib import checkpoint, devices, native, optim, progress, recipes
from course_lib.devices.cpu import bfloat16, compiled, products
from course_lib.training import TrainingError, train

pytestmark = pytest.mark.skipif(native.find_compiler() is None, reason="there is no C++ compiler here")

SHAPES = [
    (1, 1, 1),
    (1, 2, 31),
    (7, 3, 33),
    (8, 64, 32),
    (33, 31, 65),
    (97, 300, 130),
    (5, 513, 300),
    (200, 257, 40),
    (290, 801, 170),
    (40, 1700, 70),
]
WITHOUT = ("-U__AVX512BF16__", "-U__ARM_FEATURE_BF16_VECTOR_ARITHMETIC")
BUILDS = {"as compiled": (), "without tiles": ("-U__AMX_BF16__",), "without the instruction": WITHOUT}


@functools.cache
def product_of(flags: tuple[str, ...]):
    folder = compiled.FOLDER
    sources = [folder / "product_bf16.cpp", folder / "threads.cpp"]
    flags = (*compiled.FLAGS, *flags)
    library = native.load("product_bf16", sources, flags, sorted(folder.glob("*.h")), native.find_compiler())
    library.bf16_instruction.restype = ctypes.c_char_p
    return library


def rounded(x: np.ndarray) -> np.ndarray:
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


def multiply(library, a, b, transpose_a=False, transpose_b=False) -> np.ndarray:
    N, K = a.shape[::-1] if transpose_a else a.shape
    M = b.shape[0] if transpose_b else b.shape[1]
    out = np.full((N, M), np.nan, np.float32)
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, out)]
    library.product_bf16(transpose_a, transpose_b, *arrays, *map(ctypes.c_long, (N, K, M)))
    return out


@pytest.mark.parametrize("flags", BUILDS.values(), ids=BUILDS)
def test_a_product_sums_what_was_rounded_in_float32(flags):
    library, random = product_of(flags), np.random.default_rng(0)
    assert flags != WITHOUT or library.bf16_instruction() == b""
    assert not flags or library.bf16_instruction() != b"AMX BF16"
    for N, K, M in SHAPES:
        a, b = (random.normal(size=shape).astype(np.float32) for shape in ((N, K), (K, M)))
        exact = rounded(a).astype(np.float64) @ rounded(b)
        bound = abs(rounded(a)).astype(np.float64) @ abs(rounded(b)) * (K + 2) * 2.0**-24 + 1e-30
        for transpose_a in (False, True):
            for transpose_b in (False, True):
                stored = (
                    np.ascontiguousarray(a.T if transpose_a else a),
                    np.ascontiguousarray(b.T if transpose_b else b),
                )
                error = abs(multiply(library, *stored, transpose_a, transpose_b) - exact)
                assert (error <= bound).all(), (N, K, M, transpose_a, transpose_b)


@pytest.mark.parametrize("flags", BUILDS.values(), ids=BUILDS)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_numbers_are_rounded_to_nearest_even(flags):
    """Times 1 a number comes out as it was rounded; ties, the largest that does not become infinity, infinity and nan too."""
    bits = np.random.default_rng(0).integers(0, 2**32, 4000, np.uint32)
    bits[:8] = [0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0x7F7F7FFF, 0x7F7F8000, 0x7F800001, 0xFF800000]
    bits = bits[(bits & 0x7F800000) != 0]  # instructions take subnormal numbers for 0
    x = bits.view(np.float32)
    got = multiply(product_of(flags), x[:, None], np.ones((1, 1), np.float32))[:, 0]
    np.testing.assert_array_equal(got, x.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_linear_layers_multiply_in_what_the_block_says():
    table, random = devices.ops("cpu"), np.random.default_rng(0)
    x, weight, bias, dy = (random.normal(size=s).astype(np.float32) for s in ((3, 7, 30), (20, 30), (20,), (3, 7, 20)))
    plain = table.linear_forward(x, weight, bias)
    with devices.computing("cpu", "bfloat16"):
        y = table.linear_forward(x, weight, bias)
        dx, dweight, dbias = table.linear_backward(dy, x, weight, True)
        double = table.linear_forward(x.astype(np.float64), weight.astype(np.float64), None)
        nothing = table.linear_forward(x[:0], weight, None)
    np.testing.assert_allclose(y, rounded(x) @ rounded(weight).T + bias, atol=1e-5)
    np.testing.assert_allclose(dx, rounded(dy) @ rounded(weight), atol=1e-5)
    np.testing.assert_allclose(dweight, np.einsum("abn,abk->nk", rounded(dy), rounded(x)), atol=1e-5)
    np.testing.assert_allclose(dbias, dy.sum((0, 1)), atol=1e-5)
    assert double.dtype == np.float64 and nothing.shape == (0, 7, 20)
    np.testing.assert_allclose(double, x.astype(np.float64) @ weight.T.astype(np.float64))
    assert table.linear_forward(x, weight, bias).tobytes() == plain.tobytes() != y.tobytes()


def test_matmul_multiplies_in_what_the_block_says():
    table, random = devices.ops("cpu"), np.random.default_rng(0)
    a, b = (random.normal(size=s).astype(np.float32) for s in ((3, 30, 17), (3, 30, 21)))
    turned = a.swapaxes(1, 2)  # not contiguous
    with devices.computing("cpu", "bfloat16"):
        outputs = table.matmul(a, b, True), table.matmul(turned, b), table.matmul(turned[:1], b)
    exact = rounded(a).swapaxes(1, 2) @ rounded(b)  # (3, 17, 21)
    for y, expected in zip(outputs, (exact, exact, rounded(a[:1]).swapaxes(1, 2) @ rounded(b)), strict=True):
        np.testing.assert_allclose(y, expected, atol=1e-5)
    assert table.matmul(a, b, True).tobytes() != outputs[0].tobytes()


ATTENTION = [
    (3, 131, 131, 4, 4, 24),
    (2, 64, 64, 2, 2, 64),
    (1, 5, 37, 6, 2, 33),
    (1, 70, 100, 4, 1, 8),
    (2, 1, 1, 1, 1, 1),
]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("sizes", ATTENTION, ids=str)
def test_attention_is_right_to_the_digits_of_what_it_multiplies(sizes, causal):
    """Beside float64, forward and backward; what a query does not see changes no bit."""
    B, T, S, H, G, D = sizes
    random, exact, table = np.random.default_rng(0), devices.ops("reference"), devices.ops("cpu")
    shapes = ((B, T, H, D), (B, S, G, D), (B, S, G, D), (B, T, H, D))
    q, k, v, dy = (random.normal(size=shape).astype(np.float32) for shape in shapes)
    with devices.computing("cpu", "bfloat16"):
        y, logsumexp = table.attention_forward(q, k, v, causal)
        gradients = table.attention_backward(dy, q, k, v, y, logsumexp, causal)
        if causal and S > 1:
            other_k, other_v = k.copy(), v.copy()
            other_k[:, -1] *= -3  # which the last query alone sees
            other_v[:, -1] += 1
            after, its_logsumexp = table.attention_forward(q, other_k, other_v)
            dq, *_ = table.attention_backward(dy, q, other_k, other_v, after, its_logsumexp)
            for one, other in ((y, after), (gradients[0], dq)):
                assert one[:, :-1].tobytes() == other[:, :-1].tobytes() and not np.array_equal(one[:, -1], other[:, -1])
    unrounded, _ = table.attention_forward(q, k, v, causal)
    assert (y.tobytes() != unrounded.tobytes()) == (bfloat16.instruction() == "AMX BF16")  # else it stays in float32
    double = [x.astype(np.float64) for x in (q, k, v)]
    wanted_y, wanted_lse = exact.attention_forward(*double, causal)
    wanted = wanted_y, *exact.attention_backward(dy.astype(np.float64), *double, wanted_y, wanted_lse, causal)
    np.testing.assert_allclose(logsumexp, wanted_lse, atol=0.05)
    for got, want in zip((y, *gradients), wanted, strict=True):
        assert got.dtype == np.float32 and np.linalg.norm(got - want) <= 0.01 * np.linalg.norm(want) + 1e-3


def test_rounded_products_keep_a_polar_factor():
    """Of a matrix whose least singular value is a thousandth of the largest."""
    table, random = devices.ops("cpu"), np.random.default_rng(0)
    u, v = (np.linalg.qr(random.normal(size=shape))[0] for shape in ((200, 120), (120, 120)))
    matrix = ((u * np.geomspace(1, 1e-3, 120)) @ v).astype(np.float32)  # (200, 120)
    identity = np.eye(120, dtype=np.float32)
    plain = optim.polar_factor(table, matrix, identity)
    with devices.computing("cpu", "bfloat16"):
        factor = optim.polar_factor(table, matrix, identity)
    values = [np.linalg.svd(f.astype(np.float64), compute_uv=False) for f in (plain, factor)]
    assert 0 < np.linalg.norm(factor - plain) < 0.1 * np.linalg.norm(plain)
    np.testing.assert_allclose(*values, atol=0.05)


def test_the_number_of_threads_does_not_change_a_bit(set_threads):
    table, random = devices.ops("cpu"), np.random.default_rng(0)
    dy, x, weight = (random.normal(size=s).astype(np.float32) for s in ((501, 300), (501, 270), (300, 270)))
    q, k, v, dout = (random.normal(size=(3, 131, 4, 24)).astype(np.float32) for _ in range(4))
    results = []
    for threads in (1, 2, 5):
        set_threads(threads)
        with devices.computing("cpu", "bfloat16"):
            arrays = [table.linear_forward(x, weight, None), *table.linear_backward(dy, x, weight, False)[:2]]
            saved = table.attention_forward(q, k, v)
            arrays += [*saved, *table.attention_backward(dout, q, k, v, *saved)]
        results.append([array.tobytes() for array in arrays])
    assert results[0] == results[1] == results[2]


@pytest.fixture
def any_processor(monkeypatch):
    """Without the instruction the product does the same, so that a run can be tried everywhere."""
    monkeypatch.setattr(bfloat16, "instruction", lambda: "some")


@pytest.mark.parametrize("name", ["micro, smaller", "modern"])
def test_a_run_learns_almost_as_in_float32(any_processor, text, name):
    runs = {kind: make_run(text, "cpu", MODELS[name], compute=kind) for kind in ("float32", "bfloat16")}
    for _ in range(10):
        exact, rounded_ = (run.step()["loss"] for run in runs.values())
        assert exact != rounded_ and abs(exact - rounded_) < 0.01
    assert {p.dtype.name for p in runs["bfloat16"].model.parameters()} == {"float32"}
    assert rounded_ < 5.5, "it has learned something"
    assert abs(runs["float32"].validate() - runs["bfloat16"].validate()) < 0.01


def test_a_run_goes_on_to_the_same_bits(any_processor, text, tmp_path):
    whole, first, second = (make_run(text, "cpu", TINY, compute="bfloat16") for _ in range(3))
    losses = [whole.step()["loss"] for _ in range(4)]
    for _ in range(2):
        first.step()
    first.save(tmp_path / "half.safetensors")
    second.restore(checkpoint.load(tmp_path / "half.safetensors"))
    assert [second.step()["loss"] for _ in range(2)] == losses[2:]


def test_presets_choose_what_is_faster_and_a_run_keeps_it(any_processor, text, tmp_path, monkeypatch):
    for faster, kind in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(products, "bfloat16_is_faster", lambda channels, answer=faster: answer)
        assert {recipes.settings(preset).compute for preset in ("small", "12m", "modern-12m")} == {kind}
        assert recipes.settings("micro").compute == recipes.settings("12m", compute="float32").compute == "float32"
        out = tmp_path / kind
        given = {"text": text, "model": TINY, "steps": 2, "batch": 2, "device": "cpu", "display": progress.Quiet()}
        train("12m", out=out, **given)
        monkeypatch.setattr(products, "bfloat16_is_faster", lambda channels, answer=faster: not answer)
        assert train(out=out, resume=True, device="cpu", display=progress.Quiet()).step == 2
        assert checkpoint.load(out / "last.safetensors").facts["settings"]["compute"] == kind


def test_a_processor_without_the_instruction_says_so(any_processor, text, tmp_path, monkeypatch):
    given = {"text": text, "model": TINY, "steps": 2, "device": "cpu", "display": progress.Quiet()}
    train("micro", out=tmp_path / "run", compute="bfloat16", **given)
    monkeypatch.setattr(bfloat16, "instruction", lambda: "")
    products.bfloat16_is_faster.cache_clear()
    assert not products.bfloat16_is_faster(384)
    products.bfloat16_is_faster.cache_clear()
    with pytest.raises(
        ValueError, match=r"cpu computes in float32 here: .* AMX, AVX-512 BF16 or NEON BF16 .* Leave --compute out"
    ):
        recipes.settings("12m", "cpu", compute="bfloat16")
    with pytest.raises(TrainingError, match=r"multiplies in bfloat16.*cpu computes in float32.*begin a new run"):
        train(out=tmp_path / "run", resume=True, device="cpu", display=progress.Quiet())
