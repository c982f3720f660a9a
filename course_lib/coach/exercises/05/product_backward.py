"""The backward pass of a product, number by number: the slope at each input is the other one."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

BLOCK = 64


def cases(random):
    yield Case("one number", *(np.array([z], np.float32) for z in (2.0, 3.0, -5.0)))
    yield Case("zeros", *np.array([[1.0, 2.0, 0.0], [0.0, 4.0, 5.0], [6.0, 0.0, 7.0]], np.float32))
    yield Case("a last block that is too long", *random.normal(size=(3, 100)).astype(np.float32))


def launch(kernel, dy, a, b):
    n, da, db = len(a), cuda.empty(a.shape), cuda.empty(a.shape)  # (n,) each
    kernel((n + BLOCK - 1) // BLOCK, BLOCK, (*map(cuda.asarray, (dy, a, b)), da, db, n))
    return da, db


exercise = Exercise(
    title="The backward pass of a product",
    minutes=3,
    core=False,
    language="cuda",
    defines="product_backward",
    results=("da", "db"),
    cases=cases,
    reference=lambda dy, a, b: (dy * b, dy * a),
    call=launch,
    hints=("If only a changes, y = a * b has the slope b. The gradient of a is the upstream gradient times this slope.",),
    wrong=[
        Wrong(Changed(("dy[i] * b[i]", "dy[i] * a[i]"), ("db[i] = dy[i] * a[i]", "db[i] = dy[i] * b[i]")),
              "The slopes are exchanged: the slope of a * b at a is b.", like=lambda dy, a, b: (dy * a, dy * b)),
        Wrong(Changed(("dy[i] * b[i]", "b[i]"), ("dy[i] * a[i]", "a[i]")),
              "These are the slopes alone. A gradient is the upstream gradient `dy` times the slope.",
              like=lambda dy, a, b: (b, a)),
        Wrong(Changed(("dy[i] * b[i]", "dy[i]"), ("dy[i] * a[i]", "dy[i]")),
              "`dy` is passed on unchanged, as by an addition. A product has the slopes b and a.",
              like=lambda dy, a, b: (dy, dy)),
        Wrong(Changed(("dy[i] * b[i]", "dy[i] + b[i]")), generic="element of da"),
    ],
)  # fmt: skip
