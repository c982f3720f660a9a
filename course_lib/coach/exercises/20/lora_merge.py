"""LoRA: the weight with its change added."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Refused, Wrong


def cases(random):
    def case(label, outputs, inputs, rank, factor):
        w, b, a = (random.normal(size=shape).round(2) for shape in ((outputs, inputs), (outputs, rank), (rank, inputs)))
        return Case(label, w, b, a, factor)

    yield Case("one number", np.array([[1.0]]), np.array([[2.0]]), np.array([[3.0]]), 0.5)
    yield case("2 inputs, 3 outputs, rank 1", 3, 2, 1, 1.0)
    yield case("square, rank 2", 3, 3, 2, 2.0)
    yield case("all sides alike", 2, 2, 2, 4.0)
    yield case("16 inputs, 12 outputs, rank 4", 12, 16, 4, 4.0)


def layer(weight, b, a, factor):
    """A layer with these numbers, in float64."""
    from course_lib import nn
    from course_lib.tuning.lora import LoRALinear

    outputs, inputs = weight.shape
    made = LoRALinear(nn.Linear(inputs, outputs, dtype="float64"), len(a), np.random.default_rng(0))
    for tensor, values in ((made.weight, weight), (made.a, a), (made.b, b)):
        tensor.storage.array[...] = values.reshape(tensor.storage.array.shape)
    made.factor = factor
    return made


def called(answer, weight, b, a, factor):
    from course_lib.tensor import Tensor

    own = layer(weight, b, a, factor)
    merged = answer(own)
    if isinstance(merged, Tensor):
        raise Refused(
            "This is a Tensor, and a checkpoint takes NumPy arrays: `.numpy()` gives the numbers of a Tensor."
        )
    merged = merged.copy() if isinstance(merged, np.ndarray) else merged
    return merged, own.weight.numpy()


def right(self):
    return self.weight.numpy() + self.factor * np.einsum("or,ri->oi", self.b.numpy(), self.a.numpy())


exercise = Exercise(
    title="LoRA: merge",
    minutes=5,
    core=False,
    defines="merged",
    target="course_lib.tuning.lora.LoRALinear.merged",
    given="import numpy as np",
    cases=cases,
    reference=right,
    call=called,
    results=("the merged weight", "self.weight afterwards"),
    hints=(
        "Which product of B (outputs, rank) and A (rank, inputs) has the shape of W, (outputs, inputs)?",
        "self.b.numpy() @ self.a.numpy() is (outputs, inputs). It counts self.factor times.",
        "return self.weight.numpy() + self.factor * (self.b.numpy() @ self.a.numpy()).",
    ),
    example='''def unmerged(merged, b, a, factor):
    """The frozen weight of a merged one. All are NumPy arrays."""
    return merged - factor * (b @ a)
''',
    wrong=[
        Wrong(Changed(("self.factor * ", "")), "The change counts `self.factor` times; you add it once."),
        Wrong(Changed(("self.weight.numpy() + self.factor * (", "self.factor * (self.weight.numpy() + ")),
              "The factor belongs to the change alone; you multiply the frozen weight by it too."),
        Wrong(Changed(("self.b.numpy() @ self.a.numpy()", "(self.b.numpy() @ self.a.numpy()).T")),
              "This is the transpose of the change, which fits only where inputs and outputs are equally many: it is B A, "
              "not (B A)^T.", when=lambda seen: "could not be broadcast" in seen.error and "ValueError" in seen.error
                  and seen.inputs[0].shape[0] != seen.inputs[0].shape[1]),
        Wrong("""def merged(self):
    self.weight += self.factor * (self.b @ self.a)
    return self.weight.numpy()
""", "self.weight itself is changed, the frozen weight of the layer. Compute the sum in a new array, and return that.",
              when=lambda seen: not np.array_equal(seen.got[1], seen.inputs[0])),
        Wrong(Changed(("self.weight.numpy() + ", "")), "This is the change alone. Add it to the frozen weight."),
        Wrong(Changed(("self.weight.numpy() + ", "self.weight.numpy() - ")),
              "You subtract the change. What was trained is W plus the change."),
        Wrong(Changed(("self.b.numpy() @ self.a.numpy()", "self.a.numpy() @ self.b.numpy()")),
              generic="inner sizes of a matrix product"),
    ],
)  # fmt: skip
