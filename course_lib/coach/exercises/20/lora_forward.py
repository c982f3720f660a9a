"""LoRA: a frozen layer, plus its change of low rank."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Refused, Wrong


def cases(random):
    def case(label, rows, outputs, inputs, rank, factor, bias=True):
        x, w, b, a, dy = (
            random.normal(size=shape).round(2)
            for shape in ((*rows, inputs), (outputs, inputs), (outputs, rank), (rank, inputs), (*rows, outputs))
        )
        return Case(label, x, w, random.normal(size=outputs).round(2) if bias else None, b, a, factor, dy)

    one = np.ones((1, 1))
    yield Case("one number", 2 * one, 3 * one, np.array([1.0]), 5 * one, 7 * one, 0.5, one)
    yield case("2 inputs, 3 outputs, rank 1", (1,), 3, 2, 1, 1.0)
    yield case("no bias", (4,), 2, 3, 2, 2.0, bias=False)
    yield case("square", (5,), 3, 3, 3, 4.0)
    yield case("a batch of 2 times 5 rows", (2, 5), 6, 4, 2, 8.0)


def layer(weight, bias, b, a, factor):
    """A layer with these numbers, in float32: what leaves the tape comes back as that."""
    from course_lib import nn
    from course_lib.tuning.lora import LoRALinear

    outputs, inputs = weight.shape
    plain = nn.Linear(inputs, outputs, bias=bias is not None)
    made = LoRALinear(plain, len(a), np.random.default_rng(0))
    values = [(made.weight, weight), (made.a, a), (made.b, b)] + ([(made.own_bias, bias)] if bias is not None else [])
    for tensor, numbers in values:
        tensor.storage.array[...] = numbers.reshape(tensor.storage.array.shape)
    made.factor = factor
    return made


def called(answer, x, weight, bias, b, a, factor, dy):
    """y, and the gradients of a loss whose gradient at y is dy."""
    from course_lib.tensor import Tensor

    own = layer(weight, bias, b, a, factor)
    x = Tensor(x, requires_grad=True)
    y = answer(own, x)
    if not isinstance(y, Tensor):
        return y
    if not y.requires_grad:
        raise Refused(
            "The result is not on the tape, so no gradient reaches a and b: numpy() and Tensor(...) leave the tape."
        )
    seen = y.numpy()
    if seen.shape == dy.shape:
        (y * Tensor(dy)).sum().backward()
    return seen, *(None if p.grad is None else p.grad.numpy() for p in (x, own.a, own.b))


def right(self, x):
    """By the whole weight, in one product."""
    whole = self.weight + (self.b @ self.a) * self.factor  # (outputs, inputs)
    y = x.reshape(-1, x.shape[-1]) @ whole.T
    y = y.reshape(*x.shape[:-1], len(self.b.numpy()))
    return y if self.own_bias is None else y + self.own_bias


exercise = Exercise(
    title="LoRA: forward",
    minutes=12,
    defines="forward",
    target="course_lib.tuning.lora.LoRALinear.forward",
    given="import numpy as np\nfrom course_lib import functional\nfrom course_lib.tensor import Tensor",
    cases=cases,
    reference=right,
    call=called,
    results=("y", "the gradient of x", "the gradient of self.a", "the gradient of self.b"),
    hints=(
        "Two linear layers after each other, without biases: from the inputs to `rank` numbers by self.a, and on by self.b.",
        "functional.linear(x, self.a, None) is x A^T, (*n, rank). What comes next, and what is it multiplied by?",
        "change = functional.linear(functional.linear(x, self.a, None), self.b, None); return functional.linear(x, self.weight, "
        "self.own_bias) + change * self.factor.",
    ),
    example='''class TwoLinear(Module):
    """A narrow layer between two wide ones: x goes through `down`, (K, C), then through `up`, (C, K)."""

    def forward(self, x):
        return functional.linear(functional.linear(x, self.down, None), self.up, None)  # (*n, C) -> (*n, K) -> (*n, C)
''',
    wrong=[
        Wrong("""def forward(self, x):
    y = functional.linear(x, self.weight, self.own_bias).numpy()
    return Tensor(y + self.factor * (x.numpy() @ self.a.numpy().T @ self.b.numpy().T))
""", generic="not on the tape"),
        Wrong(Changed((" * self.factor", "")), "The change counts `self.factor` times; you add it once."),
        Wrong(Changed(("self.b, None)", "self.b, self.own_bias)")),
              "The bias is added twice: the change, B A x, has none of its own."),
        Wrong(Changed((", self.own_bias) + change", ", None) + change")),
              "The bias of the frozen layer, self.own_bias, is missing."),
        Wrong(Changed(("return functional.linear(x, self.weight, self.own_bias) + change * self.factor",
                       "return (functional.linear(x, self.weight, self.own_bias) + change) * self.factor")),
              "The factor belongs to the change alone; you multiply the frozen layer's result by it too."),
        Wrong(Changed(("functional.linear(x, self.weight, self.own_bias) + ", "")),
              "This is the change alone. Add it to what the frozen layer gives."),
        Wrong(Changed(("+ change * self.factor", "+ Tensor(change.numpy()) * self.factor")),
              "No gradient reaches self.a and self.b: numpy() leaves the tape. Go on with Tensors."),
        Wrong("""def forward(self, x):
    whole = self.weight.numpy() + self.factor * (self.b.numpy() @ self.a.numpy())
    return functional.linear(x, Tensor(whole), self.own_bias)
""", "The whole weight is computed off the tape, so no gradient reaches a and b. Multiply the Tensors: self.b @ self.a."),
        Wrong(Changed(("functional.linear(x, self.a, None), self.b, None)", "functional.linear(x, self.b, None), self.a, None)")),
              generic="linear"),
    ],
)  # fmt: skip
