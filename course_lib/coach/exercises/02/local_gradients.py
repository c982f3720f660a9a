"""Local slopes of six operations: what each entry of the tape must know."""

import math

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    return [
        Case("a difference", "subtract", (5.0, 3.0)),
        Case("a quotient", "divide", (6.0, 2.0)),
        Case("a quotient of negative numbers", "divide", (-3.0, -4.0)),
        Case("exp", "exp", (1.5,)),
        Case("log", "log", (0.25,)),
        Case("tanh", "tanh", (0.5,)),
        Case("tanh where it is flat", "tanh", (-2000.0,)),
        Case("the larger is first", "maximum", (3.0, 2.0)),
        Case("the larger is second", "maximum", (-3.0, -2.0)),
        Case("two that are equal", "maximum", (2.0, 2.0)),
        Case("zero divided", "divide", (0.0, 5.0)),
    ]


def right(operation, inputs):
    rules = {
        "subtract": lambda a, b: (1.0, -1.0),
        "divide": lambda a, b: (1 / b, -a / (b * b)),
        "exp": lambda x: (math.exp(x),),
        "log": lambda x: (1 / x,),
        "tanh": lambda x: (1 - math.tanh(x) ** 2,),
        "maximum": lambda a, b: ((1 + np.sign(a - b)) / 2, (1 + np.sign(b - a)) / 2),
    }
    return np.array(rules[operation](*inputs))


def gave(seen, operation, slopes):
    """Whether the failing case is of this operation, and the answer gave these slopes for it."""
    if seen.inputs[0] != operation or not isinstance(seen.got, tuple | list | np.ndarray):
        return False
    try:
        wanted = slopes(*seen.inputs[1])
        return len(seen.got) == len(wanted) and all(abs(a - b) < 1e-9 for a, b in zip(seen.got, wanted, strict=True))
    except (TypeError, ArithmeticError):
        return False


exercise = Exercise(
    title="Local gradients",
    minutes=10,
    core=False,
    defines="local_gradients",
    given="import math",
    cases=cases,
    reference=right,
    hints=(
        "Change one input a little, leave the other: how fast does the result change? The maths page has the rules of exp "
        "and log.",
        "a / b is a * (1 / b): at a the slope is 1 / b. At b it is -a / b**2. tanh has 1 - tanh(x)**2.",
        "subtract: (1, -1). divide: (1 / b, -a / b**2). exp: (math.exp(x),). log: (1 / x,). maximum: 1 for the larger, 0 for the "
        "other, 0.5 for both if they are equal.",
    ),
    example='''def slopes_of_hypotenuse(a, b):
    """Local slopes of sqrt(a * a + b * b): by the chain rule, 1 / (2 * root) times 2 * a, and the same for b."""
    root = math.sqrt(a * a + b * b)
    return a / root, b / root
''',
    wrong=[
        Wrong(Changed(("(math.exp(inputs[0]),)", "math.exp(inputs[0])")),
              "Give a tuple for one input as well, (slope,) with a comma: the backward pass iterates over it.",
              when=lambda seen: len(seen.inputs[1]) == 1 and isinstance(seen.got, int | float),
              once="a number in place of a tuple"),
        Wrong(Changed(("(1.0, -1.0)", "(1.0, 1.0)")), "If b goes up, a - b goes down: the second slope is -1.",
              when=lambda seen: gave(seen, "subtract", lambda a, b: (1, 1)), once="these slopes depend on no input"),
        Wrong(Changed(("-a / (b * b)", "a / (b * b)")),
              "If b goes up, a / b goes down (for a above 0): the second slope has a minus.",
              when=lambda seen: gave(seen, "divide", lambda a, b: (1 / b, a / b**2))),
        Wrong(Changed(("-a / (b * b)", "-1 / (b * b)")),
              "The second slope of a quotient depends on both: raise b a little at a = 6, b = 2, and measure.",
              when=lambda seen: gave(seen, "divide", lambda a, b: (1 / b, -1 / b**2))
                  or gave(seen, "divide", lambda a, b: (1 / b, a))),
        Wrong(Changed(("-a / (b * b)", "-a / b")),
              "The second slope has b twice below: a / b is a * (1 / b), and the slope of 1 / b is -1 / (b * b).",
              when=lambda seen: gave(seen, "divide", lambda a, b: (1 / b, -a / b))),
        Wrong(Changed(("math.tanh(inputs[0]) ** 2", "inputs[0] ** 2")),
              "1 - x * x is not the slope of tanh: it is 1 - y * y, with y = tanh(x) itself.",
              when=lambda seen: gave(seen, "tanh", lambda x: (1 - x * x,))),
        Wrong(Changed(("1 - math.tanh(inputs[0]) ** 2", "1 / math.cosh(inputs[0]) ** 2")),
              "exp(2000), and so cosh(2000), is too large for a float. Take the form 1 - tanh(x) ** 2: it cannot overflow.",
              when=lambda seen: seen.label == "tanh where it is flat" and seen.error.startswith("OverflowError")),
        Wrong("""def local_gradients(operation, inputs):
    if operation == "subtract":
        return 1.0, -1.0
    if operation == "divide":
        a, b = inputs
        return 1 / b, -a / b**2
    if operation == "exp":
        return (math.exp(*inputs),)
    if operation == "log":
        return (1 / inputs[0],)
    if operation == "tanh":
        return (1 - math.tanh(*inputs) ** 2,)
    return (1, 0) if inputs[0] >= inputs[1] else (0, 1)
""", "When both are equal neither is the larger: each gets half, 0.5, so that the two add up to 1.",
              when=lambda seen: seen.label == "two that are equal" and isinstance(seen.got, tuple | list | np.ndarray),
              once="it tells the rule, and no cause"),
    ],
)  # fmt: skip
