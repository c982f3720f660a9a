"""Part c: the versions of matmul against cuBLAS, and flash attention against PyTorch's scaled_dot_product_attention, in turn.

At the shapes of the 12m model and at large ones. cuBLAS is asked through PyTorch, in float32 without TF32 and in bfloat16.
Bars: the best version at 80 % of cuBLAS at the model's shapes; at 4096 cubed 90 % of its float32, 60 % of its bfloat16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.benchmarks.gpu.timing import Torch, in_turn, print_table, timer, torch_on_card
from course_lib.benchmarks.versions import MATMUL
from course_lib.devices import ops
from course_lib.devices.gpu import storage

TOKENS = 48 * 256  # of a batch of 12m
SHAPES = {  # M, N, K
    "cuda": ((TOKENS, 1152, 384), (TOKENS, 384, 384), (TOKENS, 1536, 384), (TOKENS, 384, 1536), (TOKENS, 4096, 384),
             (4096, 4096, 4096)),
    "simulator": ((64, 128, 64),),
}  # fmt: skip
ATTENTION = {"cuda": ((48, 256, 6, 64), (4, 4096, 16, 64), (4, 4096, 8, 128)), "simulator": ((1, 33, 2, 32),)}
SLOW = 1 << 33  # multiply-adds beyond which the first three versions are left out


def measure(device: str) -> dict[str, Any]:
    torch = torch_on_card(device)
    if torch:
        torch.backends.cuda.matmul.allow_tf32 = False
    rows = [row for shape in SHAPES[device] for row in _matmul(device, torch, *shape)]
    attention = [row for shape in ATTENTION[device] for row in _attention(device, torch, *shape)]
    return {"matmul": rows, "attention": attention}


def _matmul(device: str, torch, M: int, N: int, K: int) -> list[dict[str, Any]]:
    t, random = ops(device), np.random.default_rng(0)
    a, b = (t.from_numpy(random.normal(size=shape).astype(np.float32)) for shape in ((M, K), (K, N)))
    halves, c = [storage.to_bfloat16(x) for x in (a, b)], t.empty((M, N))
    sound = _sample(t, a, b)
    timers: dict[str, Any] = {"ours, as trained with": timer(device, lambda: t.matmul(a, b, out=c))}
    for number, (name, version) in enumerate(MATMUL.items(), 1):
        if number <= 3 and M * N * K > SLOW:
            continue
        kernel, *launch = version.launch(*(halves if version.bfloat16 else (a, b)), c)
        kernel(*launch)
        error = float(np.abs(t.to_numpy(c)[:8, :8] - sound).max() / np.abs(sound).max())
        if not error < (2e-2 if version.bfloat16 else 1e-4):
            raise RuntimeError(f"{version.file} is {error:.1g} away from NumPy at {M} x {N} x {K}")
        timers[name] = timer(device, lambda kernel=kernel, launch=launch: kernel(*launch))
    if torch:
        x, y = (torch.as_tensor(array, device="cuda") for array in (a, b))
        out = torch.empty(M, N, device="cuda")
        timers["cuBLAS float32"] = Torch(lambda: torch.matmul(x, y, out=out))
        xh, yh, outh = x.bfloat16(), y.bfloat16(), out.bfloat16()
        timers["cuBLAS bfloat16"] = Torch(lambda: torch.matmul(xh, yh, out=outh))
    found = in_turn(timers)
    print(f"\n  {M} x {N} x {K}")
    rows = []
    for name, ms in found.items():
        best = found.get(f"cuBLAS {'bfloat16' if name.endswith('bfloat16') else 'float32'}")
        rows.append({"name": name, "M": M, "N": N, "K": K, "ms": ms, "tflops": 2e-9 * M * N * K / ms,
                     "of_cublas": best and best / ms})  # fmt: skip
    print_table(rows, {"name": "28", "ms": "10.3f", "tflops": "10.2f", "of_cublas": "11.1%"})
    return rows


def _sample(t, a, b) -> np.ndarray:
    """The upper left 8 x 8 of the product, in float64."""
    return t.to_numpy(a)[:8].astype(np.float64) @ t.to_numpy(b)[:, :8].astype(np.float64)


def _attention(device: str, torch, B: int, T: int, H: int, D: int) -> list[dict[str, Any]]:
    t, random = ops(device), np.random.default_rng(0)
    q, k, v, dy = (t.from_numpy(random.normal(size=(B, T, H, D)).astype(np.float32)) for _ in range(4))
    rows, flops = [], 2 * 2 * B * H * T * T * D / 2  # two products, and half of the pairs
    for kind in ("float32", "bfloat16"):
        given = [q, k, v, dy] if kind == "float32" else [storage.to_bfloat16(x) for x in (q, k, v, dy)]
        y, logsumexp = t.attention_forward(*given[:3])
        saved = (given[3], *given[:3], y, logsumexp)
        timers = {
            f"ours forward {kind}": timer(device, lambda given=given: t.attention_forward(*given[:3])),
            f"ours backward {kind}": timer(device, lambda saved=saved: t.attention_backward(*saved)),
        }
        if torch:
            timers |= _torch_attention(torch, kind, q, k, v, dy)
        found = in_turn(timers)
        for name, ms in found.items():
            peer = found.get("PyTorch " + name.removeprefix("ours ")) if name.startswith("ours") else None
            work = flops if "forward" in name else 2.5 * flops
            rows.append({"name": name, "B": B, "T": T, "H": H, "D": D, "ms": ms, "tflops": 1e-9 * work / ms,
                         "of_pytorch": peer and peer / ms})  # fmt: skip
    print(f"\n  attention, causal: B {B}, T {T}, H {H}, D {D}")
    print_table(rows, {"name": "28", "ms": "10.3f", "tflops": "10.2f", "of_pytorch": "12.1%"})
    return rows


def _torch_attention(torch, kind: str, *arrays) -> dict[str, Any]:
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v, dy = (torch.as_tensor(x, device="cuda").to(getattr(torch, kind)).transpose(1, 2) for x in arrays)
    leaves = [x.detach().clone().requires_grad_() for x in (q, k, v)]

    def forward():
        with torch.no_grad():
            scaled_dot_product_attention(q, k, v, is_causal=True)

    def both():
        y = scaled_dot_product_attention(*leaves, is_causal=True)
        torch.autograd.grad(y, leaves, dy)

    ahead, whole = Torch(forward), Torch(both)
    return {f"PyTorch forward {kind}": ahead, f"PyTorch backward {kind}": _Difference(whole, ahead)}


class _Difference:
    """The backward pass alone: both together, less the forward."""

    def __init__(self, whole: Any, part: Any):
        self._whole, self._part = whole, part

    def ms(self) -> float:
        return self._whole.ms() - self._part.ms()
