"""`course doctor --selftest`: proves an installation in about a minute, with no test package installed.

Promises: each part is tried on its own; one that fails becomes a sentence, and the others still run.
"""

import subprocess
import time
from collections.abc import Callable

from course_lib import environment, native
from course_lib.paths import ROOT


class Failed(Exception):
    """A part gave a wrong result: what, and how wrong."""


def loops() -> str:
    """The cpu device, with its compiled loops where there is a compiler, agrees with the float64 reference."""
    import numpy as np

    from course_lib.devices import ops

    cpu, reference = ops("cpu"), ops("reference")
    random = np.random.default_rng(0)
    x, weight, bias, dy = (random.standard_normal(shape) for shape in ((5, 33), (33,), (33,), (5, 33)))
    q, k, v = (random.standard_normal((2, 17, heads, 32)) for heads in (4, 2, 2))
    cases = {
        "gelu_forward": (x,),
        "gelu_backward": (dy, x),
        "softmax_forward": (x,),
        "layernorm_forward": (x, weight, bias, 1e-5),
        "attention_forward": (q, k, v),
        "cross_entropy_forward": (x, np.arange(5)),
    }
    worst = 0.0
    for name, inputs in cases.items():
        exact = getattr(reference, name)(*inputs)
        ours = getattr(cpu, name)(
            *(cpu.from_numpy(a.astype(np.float32) if a.dtype == np.float64 else a) if isinstance(a, np.ndarray) else a
              for a in inputs)
        )  # fmt: skip
        first, wanted = (t[0] if isinstance(t, tuple) else t for t in (ours, exact))
        error = float(np.abs(cpu.to_numpy(first) - wanted).max())
        if not error < 1e-4:
            raise Failed(f"{name} on the cpu device is {error:.2g} away from the reference")
        worst = max(worst, error)
    compiler = native.find_compiler()
    return (
        f"{len(cases)} ops within {worst:.0e} of float64, {f'loops by {compiler.kind}' if compiler else 'plain NumPy'}"
    )


def kernels() -> str:
    """A CUDA kernel compiles and computes what the reference says, on the simulator and on an NVIDIA GPU where one is."""
    import numpy as np

    from course_lib.devices import available_devices, ops

    places = [device for device in ("simulator", "cuda") if device in available_devices()]
    x = np.random.default_rng(0).standard_normal(1000)
    for device in places:
        table = ops(device)
        y = table.to_numpy(table.gelu_forward(table.from_numpy(x.astype(np.float32))))
        error = float(np.abs(y - ops("reference").gelu_forward(x)).max())
        if not error < 1e-5:
            raise Failed(f"GELU on the device {device} is {error:.2g} away from the reference")
    return f"GELU runs on {' and '.join(places)}" if places else "none can run here: there is no C++ compiler"


def gradients() -> str:
    """Gradients of a small network agree with finite differences."""
    import numpy as np

    from course_lib.gradcheck import gradcheck

    random = np.random.default_rng(1)
    shapes = ((4, 3), (3, 5), (5,), (5, 2))

    def network(x, w1, b1, w2):
        return (x @ w1 + b1).tanh() @ w2  # (4, 3) -> (4, 5) -> (4, 2)

    worst = gradcheck(network, [random.standard_normal(shape) for shape in shapes])
    return f"worst error {worst:.0e}"


def tokens() -> str:
    """A tokenizer learned from stories gives back any text, byte for byte."""
    from course_lib import stories
    from course_lib.tokenizer import Tokenizer

    tokenizer = Tokenizer.train(stories.write(seed=0, count=200), vocab_size=512)
    text = next(iter(stories.write(seed=1, count=1))) + " naïve 你好 \t\n 🙂"
    if tokenizer.decode(tokenizer.encode(text)) != text:
        raise Failed("a text came back changed")
    return f"{len(text.encode())} bytes in {len(tokenizer.encode(text))} tokens and back"


def training() -> str:
    """Ten steps of the smallest model: the loss falls."""
    from course_lib import progress
    from course_lib.training import train

    losses = [
        record["loss"]
        for record in train("micro", steps=10, stories=500, display=progress.Quiet()).records
        if "loss" in record
    ]
    if not losses[-1] < losses[0] - 0.5:
        raise Failed(f"the loss went from {losses[0]:.2f} to {losses[-1]:.2f} and should have fallen")
    return f"loss from {losses[0]:.2f} to {losses[-1]:.2f} in ten steps"


def clock() -> str:
    """The lengths of runs can be told; `course doctor` tells them too."""
    from course_lib.doctor import durations

    return " ".join(durations())


def notebooks() -> str:
    """A Jupyter kernel starts and imports the course from this clone."""
    from jupyter_client.manager import start_new_kernel

    printed = []
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=60, stderr=subprocess.DEVNULL)
    try:
        client.execute_interactive(
            "import course_lib.paths; print(course_lib.paths.ROOT)",
            timeout=60,
            output_hook=lambda message: printed.append(message["content"].get("text", "")),
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if "".join(printed).strip() != str(ROOT):
        raise Failed(f"a notebook imports the course from somewhere else: {''.join(printed).strip() or 'nowhere'}")
    return "a kernel starts and finds the course"


PARTS: tuple[Callable[[], str], ...] = (loops, kernels, gradients, tokens, training, clock, notebooks)


def run() -> int:
    """Try every part and print one line for each; returns 0 if all hold, else 1."""
    failed = 0
    for part in PARTS:
        print(f"  {part.__name__:10} ", end="", flush=True)
        start = time.perf_counter()
        try:
            print(f"passed  {part()} ({time.perf_counter() - start:.1f} s)")
        except Exception as error:  # a part may break in any way; the others still tell something
            failed += 1
            print(f"FAILED  {error if isinstance(error, Failed) else f'{type(error).__name__}: {error}'}")
    if failed:
        print(
            f"\n{failed} of {len(PARTS)} parts failed. First say make clean, then make install, and try again. If it "
            "fails again, open an issue with these lines and the output of course doctor."
        )
        return 1
    print(
        f"\nAll {len(PARTS)} parts hold: the course is ready. Next: make lab (or {environment.VENV.name}/bin/course lab)."
    )
    return 0
