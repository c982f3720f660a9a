"""Time on a device that answers before it is done: without waiting, every kernel looks infinitely fast."""

import time

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices import ops


class Late:
    """A device that works as a GPU does: a launch returns at once, and its work takes time afterwards. It has its own clock."""

    def __init__(self, under_way: float, launch: float, seconds: float):
        self.now, self.launch, self.seconds = 0.0, launch, seconds
        self.done_at = under_way  # earlier work is not finished yet

    def clock(self) -> float:
        return self.now

    def work(self) -> None:
        self.done_at = max(self.now, self.done_at) + self.seconds
        self.now += self.launch

    def synchronize(self) -> None:
        self.now = max(self.now, self.done_at)


def cases(random):
    for label, *numbers in (("a copy of 8 million bytes", 0.0, 1e-5, 0.004, 8e6, 0.0), ("an "
                                                                                        "addition", 0.0, 1e-5, 0.003, 12e6, 1e6),
                            ("other work is under way", 0.5, 1e-5, 0.002, 3e6, 60e6),
                            ("very short work", 0.0, 1e-5, 1e-6, 400.0, 100.0)):  # fmt: skip
        yield Case(label, *numbers)
    yield Case("a real device", None, None, None, 4e4, 1e4)


def measured(answer, under_way, launch, seconds, moved, flops):
    """Both numbers; of a real device, whose times are unknown, only whether they are possible."""
    if seconds is None:
        table, x = ops("cpu"), np.zeros(10_000, np.float32)
        bandwidth, intensity = answer(lambda: table.copy(x), table, time.perf_counter, moved, flops)
        return 0 < bandwidth < 1e15, intensity
    device = Late(under_way, launch, seconds)
    bandwidth, intensity = answer(device.work, device, device.clock, moved, flops)
    return bandwidth / 1e9, intensity


def timed(work, device, clock, moved, flops):
    device.synchronize()
    began = clock()
    work()
    device.synchronize()
    return moved / (clock() - began), flops / moved


exercise = Exercise(
    title="Under the roof",
    minutes=10,
    core=False,
    defines="measure_roofline",
    cases=cases,
    reference=timed,
    call=measured,
    results=("the bandwidth (in gigabytes a second where it is known)", "the intensity"),
    hints=(
        "A launch only starts the work. `device.synchronize()` returns when all work that was launched is done.",
        "Wait, read the clock, work, wait, read the clock. Then bytes divided by seconds, and operations divided by bytes.",
        "device.synchronize(); began = clock(); work(); device.synchronize(); seconds = clock() - began; return moved / "
        "seconds, flops / moved",
    ),
    example='''def longest(works, device, clock):
    """The seconds of the slowest of several works, each timed alone."""
    slowest = 0.0
    for work in works:
        device.synchronize()
        began = clock()
        work()
        device.synchronize()
        slowest = max(slowest, clock() - began)
    return slowest
''',
    wrong=[
        Wrong(Changed(("    work()\n    device.synchronize()", "    work()")),
              "The clock was read before the work was done: a launch returns at once. Wait for the "
              "device before you look at the clock again."),
        Wrong(Changed(("    device.synchronize()\n    began", "    began")),
              "Other work was still under way when the clock was started, and was "
              "timed with yours. Wait for the device first."),
        Wrong(Changed(("flops / moved", "moved / flops if flops else 0.0")),
              "The second number is bytes for each operation. Intensity is operations for each byte.",
              when=lambda seen: seen.inputs[4] and np.isclose(seen.got[1], seen.inputs[3] / seen.inputs[4])),
        Wrong(Changed(("    work()\n", "    work()\n    work()\n")), "The work was done twice: time one run of it."),
    ],
)  # fmt: skip
