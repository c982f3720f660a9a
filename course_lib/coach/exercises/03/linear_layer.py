"""A linear layer: a weight matrix and a bias, in a module."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.nn import Module
from course_lib.tensor import Tensor, no_grad


def cases(random):
    def numbers(*shape):
        return random.normal(size=shape).astype(np.float32)

    return [
        Case("2 inputs, 3 outputs, one row", 2, 3, True, 0.5, numbers(1, 2)),
        Case("no bias", 3, 2, False, 0.5, numbers(4, 3)),
        Case("one input, one output", 1, 1, True, 1.0, numbers(5, 1)),
        Case("a batch of 2 times 5 rows", 3, 4, True, 0.1, numbers(2, 5, 3)),
        Case("many inputs, small initial weights", 300, 200, True, 0.05, numbers(2, 300)),
    ]


def wanted(inputs, outputs, bias):
    """The shapes of the parameters by name."""
    return {"weight": (outputs, inputs)} | ({"bias": (outputs,)} if bias else {})


def built(answer, inputs, outputs, bias, std, x):
    """What can be seen of layers that the answer builds: two from one generator, one from a generator like it, one by default,
    one in float64. The first is called, and its result goes backward."""
    rng = np.random.default_rng(7)
    layers = [answer(inputs, outputs, bias=bias, std=std, rng=rng) for _ in range(2)]
    layers.append(answer(inputs, outputs, bias=bias, std=std, rng=np.random.default_rng(7)))
    layers.append(answer(inputs, outputs))
    layer = layers[0]
    if not isinstance(layer, Module):
        return {"is a module": False}
    shapes = {name: tuple(p.shape) for name, p in layer.named_parameters()}
    kept = getattr(layer, "bias", "missing")
    seen = {"is a module": True, "shapes": shapes, "bias": kept.numpy().copy() if "bias" in shapes else kept}
    if shapes != wanted(inputs, outputs, bias):
        return seen  # `check` says so
    seen["weights"] = [one.weight.numpy().copy() for one in layers]
    seen["drawn anew"] = not np.array_equal(layers[3].weight.numpy(), answer(inputs, outputs).weight.numpy())
    seen["a bias by default"] = getattr(layers[3], "bias", None) is not None
    other = answer(inputs, outputs, bias=bias, device="reference", dtype="float64")
    seen["elsewhere"] = {name: (str(p.dtype), p.device) for name, p in other.named_parameters()}
    if bias:
        with no_grad():
            layer.bias[...] = np.arange(1.0, outputs + 1)  # so that a bias that is not added shows
    y = layer(Tensor(x))
    seen["y"], seen["on the tape"] = y, getattr(y, "requires_grad", False)
    if seen["on the tape"]:
        y.sum().backward()
        seen["without a gradient"] = [name for name, p in layer.named_parameters() if p.grad is None]
    return seen


def check(seen, inputs, outputs, bias, std, x):
    if not seen["is a module"]:
        return "Keep the line `class Linear(Module):`. Module finds the parameters, and makes layer(x) call forward."
    names = seen["shapes"]
    right = wanted(inputs, outputs, bias)
    if not bias and seen["bias"] is not None:
        return "Without a bias, self.bias should be None."
    if set(names) != set(right):
        return (
            f"The parameters that are found are {', '.join(names) or 'none'}; they should be {' and '.join(right)}. A "
            "parameter is a Tensor made by `parameter`, kept as an attribute of self."
        )
    for name, shape in right.items():
        if names[name] != shape:
            return f"{name} has the shape {names[name]}; it should be {shape}."
    if bias and seen["bias"].any():
        return "The bias should begin at zero."
    weight, second, again, default = seen["weights"]
    if np.array_equal(weight, second):
        return "Two layers that are drawn from one generator have the same weights. Draw with the `rng` that is given."
    if not np.array_equal(weight, again):
        return "An equal generator should give the same weights again. Draw with the `rng` that is given, and with no other."
    spread = float(weight.std())
    if weight.size > 1000 and not 0.97 < spread / std < 1.03:
        return f"The initial weights have the standard deviation {spread:.3g}; it should be std = {std:g}."
    if weight.size > 1000 and abs(weight.mean()) > 0.05 * std:
        return f"The initial weights have the mean {weight.mean():.3g}; it should be near 0."
    if weight.size > 1000 and np.abs(weight).max() < 2.5 * std:
        return "The initial weights should come from a normal distribution; yours has no tails."
    if default.size > 1000 and not 0.019 < default.std() < 0.021:
        return f"By default std is 0.02; the standard deviation of the initial weights is {default.std():.3g}."
    if not seen["drawn anew"]:
        return (
            "Two layers that are made without `rng` have the same weights. By default each draws from a new generator."
        )
    if not seen["a bias by default"]:
        return "By default a layer has a bias."
    for name, (dtype, device) in seen["elsewhere"].items():
        if (dtype, device) != ("float64", "reference"):
            return (
                f"The layer was asked for in float64 on 'reference', and its {name} is {dtype} on {device!r}. Pass device "
                "and dtype to `parameter`."
            )
    y = seen["y"]
    if y is None:
        return "`forward` returns nothing: it must end in `return`."
    expected = x @ weight.T + (np.arange(1.0, outputs + 1) if bias else 0.0)
    if y.shape != expected.shape:
        return f"For x of shape {x.shape} the result has the shape {y.shape}; it should be {expected.shape}."
    if not np.allclose(y, expected, atol=1e-4):
        if bias and np.allclose(y, x @ weight.T, atol=1e-4):
            return "The bias is a parameter of the layer, and the result does not contain it."
        return "The result is not x @ weight.T + bias."
    if not seen["on the tape"]:
        return "The result is not on the tape, so no gradient reaches the parameters: numpy() and Tensor(...) leave the tape."
    for name in seen["without a gradient"]:
        return f"No gradient arrives at {name}: some step between it and the result left the tape (numpy() does)."
    return None


exercise = Exercise(
    title="A layer",
    minutes=15,
    defines="Linear",
    target="course_lib.nn.Linear",
    given="import numpy as np\nfrom course_lib import functional\nfrom course_lib.nn import Module, parameter\n"
          "from course_lib.tensor import Tensor",
    cases=cases,
    call=built,
    compared=False,
    check=check,
    hints=(
        "Two attributes in `__init__`: self.weight and self.bias. One line in `forward`.",
        "rng.normal(0.0, std, (outputs, inputs)) draws the numbers; parameter(numbers, device, dtype) makes a parameter of them.",
        "self.bias = parameter(np.zeros(outputs), device, dtype) if bias else None; in forward: "
        "return functional.linear(x, self.weight, self.bias).",
    ),
    example='''class Scale(Module):
    """Another layer: one parameter for each channel, which begins at 1."""

    def __init__(self, channels, device="cpu", dtype="float32"):
        self.weight = parameter(np.ones(channels), device, dtype)

    def forward(self, x):
        return x * self.weight  # (*n, C) * (C) -> (*n, C)
''',
    wrong=[
        Wrong("""class Linear(Module):
    def __init__(self, inputs, outputs, rng=None):
        rng = rng or np.random.default_rng()
        self.weight = parameter(rng.normal(0.0, 0.02, (outputs, inputs)))
        self.bias = parameter(np.zeros(outputs))

    def forward(self, x):
        return functional.linear(x, self.weight, self.bias)
""",
              "`__init__` must take all that is named in the task, with these defaults: (self, inputs, outputs, bias=True, "
              'std=0.02, rng=None, device="cpu", dtype="float32").',
              when=lambda seen: seen.error.startswith("TypeError: Linear.__init__() got an unexpected keyword")),
        Wrong(Changed(("rng = rng or np.random.default_rng()", "pass")),
              "rng may be None: then make one, np.random.default_rng().",
              when=lambda seen: re.search(r"'NoneType' object has no attribute '(normal|standard_normal|random)'", seen.error)),
        Wrong(Changed(("(outputs, inputs))", "(inputs, outputs))")), generic="weight has the shape (2, 3)"),
        Wrong(Changed(("parameter(np.zeros(outputs), device, dtype)", "parameter(np.ones(outputs), device, dtype)")),
              generic="should begin at zero"),
        Wrong(Changed(("rng.normal", "np.random.default_rng(0).normal")), generic="have the same weights"),
        Wrong(Changed(("rng.normal", "np.random.normal")), generic="give the same weights again"),
        Wrong(Changed(("rng.normal(0.0, std, (outputs, inputs))", "std * rng.random((outputs, inputs))")),
              generic="standard deviation 0.01"),
        Wrong(Changed(("self.weight, self.bias)", "self.weight)")), generic="does not contain it"),
        Wrong("""class Linear(Module):
    def __init__(self, inputs, outputs, bias=True, std=0.02, rng=None, device="cpu", dtype="float32"):
        rng = rng or np.random.default_rng()
        self.weight = rng.normal(0.0, std, (outputs, inputs))
        self.bias = np.zeros(outputs) if bias else None

    def forward(self, x):
        return x @ Tensor(self.weight).T + Tensor(self.bias)
""", generic="The parameters that are found are none"),
        Wrong(Changed(("class Linear(Module):", "class Linear:")), generic="Keep the line"),
        Wrong(Changed((" if bias else None", "")), generic="Without a bias"),
        Wrong(Changed(("return functional.linear(x, self.weight, self.bias)",
                       "return Tensor(functional.linear(x, self.weight, self.bias).numpy())")), generic="is not on the tape"),
        Wrong(Changed(("return functional", "functional")), generic="`forward` returns nothing"),
    ],
)  # fmt: skip
