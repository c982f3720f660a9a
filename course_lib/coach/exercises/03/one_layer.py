"""Two layers without an activation between them are one, biases included."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, inputs, hidden, outputs):
        shapes = (hidden, inputs), (hidden,), (outputs, hidden), (outputs,)
        return Case(label, *(random.integers(-3, 4, shape).astype(float) for shape in shapes))

    yield Case("one number each", np.array([[2.0]]), np.array([3.0]), np.array([[5.0]]), np.array([7.0]))
    yield case("2 inputs, 2, 2 outputs", 2, 2, 2)
    yield case("3 inputs, 4, 2 outputs", 3, 4, 2)
    yield case("2 inputs, 1, 3 outputs", 2, 1, 3)


exercise = Exercise(
    title="Two layers in one",
    minutes=4,
    core=False,
    defines="one_layer",
    cases=cases,
    reference=lambda W1, b1, W2, b2: (W2 @ W1, W2 @ b1 + b2),
    results=("W", "b"),
    hints=("Put the first into the second: W2 (W1 x + b1) + b2. Multiply out: which part holds x, and which does not?",),
    wrong=[
        Wrong(Changed(("W2 @ b1 + b2", "b1 + b2")),
              "The second layer multiplies the bias of the first too: W2 acts on all that comes in."),
        Wrong("def one_layer(W1, b1, W2, b2):\n    return W2 @ W1, b2\n",
              "The bias of the first layer is lost. It goes through W2, as all that comes in."),
        Wrong(Changed(("W2 @ W1", "W1 @ W2")),
              "Multiply out W2 (W1 x + b1): W1 stands beside x, since it acts first."),
        Wrong(Changed(("W2 @ W1", "W2 + W1")),
              "Layers that follow each other multiply. Their matrices need not even have one shape."),
        Wrong(Changed(("W2 @ W1", "W2 * W1")), generic="W"),
    ],
)  # fmt: skip
