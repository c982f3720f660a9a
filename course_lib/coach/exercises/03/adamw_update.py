"""One step of AdamW over all parameters of a model, in place."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices import ops

USUAL, OTHER = (0.1, (0.9, 0.95), 1e-8), (0.02, (0.8, 0.99), 1e-6)  # the learning rate, both betas, eps


def cases(random):
    def array(*numbers):
        return np.array(numbers, np.float32)

    def normal(*shape):
        return random.normal(size=shape).astype(np.float32)

    return [
        Case("one parameter, one step", [array(1.0)], [[array(4.0)]], [0.0], None, USUAL),
        Case("one parameter, three steps", [array(1.0)], [[array(4.0)], [array(4.0)], [array(-1.0)]], [0.0], None, USUAL),
        Case("weight decay", [array(2.0)], [[array(4.0)], [array(-1.0)]], [0.5], None, USUAL),
        Case("a parameter whose gradient is 0", [array(1.0, 2.0)], [[array(0.0, 3.0)]], [0.1], None, USUAL),
        Case("tiny gradients", [array(1.0)], [[array(1e-6)], [array(-3e-6)]], [0.0], None, USUAL),
        Case("two matrices, decay for the first alone", [normal(2, 3), normal(3)],
             [[normal(2, 3), normal(3)], [normal(2, 3), normal(3)]], [0.1, 0.0], None, USUAL),
        Case("clipped", [array(1.0, 1.0)], [[array(3.0, 4.0)], [array(0.3, 0.4)]], [0.0], 1.0, USUAL),
        Case("two arrays, clipped by the norm of both", [normal(2, 2), normal(4)],
             [[10 * normal(2, 2), normal(4)], [normal(2, 2), 10 * normal(4)]], [0.1, 0.0], 1.0, USUAL),
        Case("float64", [random.normal(size=5)], [[random.normal(size=5)] for _ in range(4)], [0.1], 1.0, USUAL),
        Case("other settings", [normal(3)], [[normal(3)], [normal(3)]], [0.2], 0.5, OTHER),
        Case("a very short gradient, clipped", [array(1.0, 1.0)], [[array(6e-7, 8e-7)]], [0.0], 1e-6, OTHER),
    ]  # fmt: skip


def steps(answer, parameters, gradients, weight_decay, max_norm, settings):
    """Take one step for each list of gradients: the contents of the arrays afterwards."""
    rate, betas, eps = settings
    first, second = [np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters]
    for number, arrays in enumerate(gradients, start=1):
        corrections = [1 - beta**number for beta in betas]
        in_memory = np.array([rate, *corrections], parameters[0].dtype)
        norm = ops("reference").global_norm(arrays) if max_norm else None
        answer(list(parameters), arrays, list(first), list(second), in_memory, norm, beta1=betas[0], beta2=betas[1], eps=eps,
               weight_decay=weight_decay, max_norm=max_norm or 0.0)  # fmt: skip
    return {"parameters": parameters, "first moments": first, "second moments": second}


def nothing_moved(seen):
    """In no case, however many steps it has."""
    return all(
        isinstance(one.got, dict) and all(map(np.array_equal, one.got["parameters"], one.inputs[0]))
        for one in seen.outcomes
    )


def moments_stay(seen):
    return isinstance(seen.got, dict) and not any(
        m.any() for m in seen.got["first moments"] + seen.got["second moments"]
    )


exercise = Exercise(
    title="AdamW, for all parameters",
    minutes=20,
    defines="adamw_step",
    target="op:adamw_step",
    given="import numpy as np",
    cases=cases,
    reference=ops("reference").adamw_step,
    call=steps,
    hints=(
        "The lecture did it by hand for one parameter. Here the same lines stand in a loop over five lists that belong together.",
        "for p, g, m, v, decay in zip(...): m[...] = beta1 * m + (1 - beta1) * g, the same for v with beta2 and g * g. "
        "learning_rate is settings[0]; the other two are divisors.",
        "p *= 1 - learning_rate * decay; then m and v; then p -= learning_rate * (m / settings[1]) / (np.sqrt(v / settings[2]) "
        "+ eps). Before, if `norm` is given: g = g * min(1, max_norm / (norm[0] + 1e-6)), in a new array.",
    ),
    example='''def momentum_step(parameters, gradients, velocities, learning_rate, momentum):
    """One step of SGD with momentum, in place, over lists that belong together."""
    for p, g, v in zip(parameters, gradients, velocities):
        v[...] = momentum * v + g
        p -= learning_rate * v
''',
    wrong=[
        Wrong("""def adamw_step(parameters, gradients, first_moments, second_moments, settings, norm, *, beta1, beta2, eps,
               weight_decay, max_norm):
    lr, c1, c2 = settings
    scale = 1.0 if norm is None else min(1.0, max_norm / (norm[0] + 1e-6))
    for p, g, m, v, d in zip(parameters, gradients, first_moments, second_moments, weight_decay):
        g = g * scale
        p *= 1 - lr * d
        p -= lr * (m / c1) / (np.sqrt(v / c2) + eps)
        m[...] = beta1 * m + (1 - beta1) * g
        v[...] = beta2 * v + (1 - beta2) * g * g
""", "The step is taken with the moments of the step before. Update the moments first."),
        Wrong(Changed(("p -= learning_rate *", "p = p - learning_rate *"),
                      ("p *= 1 - learning_rate * decay", "p = p * (1 - learning_rate * decay)")),
              "No parameter has changed: the arrays that were given must be changed. `p -= ...` does that; `p = p - ...` only "
              "makes a new array with the name p.", when=nothing_moved),
        Wrong(Changed(("m[...] = beta1", "m = beta1"), ("v[...] = beta2", "v = beta2")),
              "The moments are not kept: the next step needs them, so write into the arrays, m[...] = ... and v[...] = ...",
              when=moments_stay),
        Wrong(Changed(("g = g * scale", "g = g * scale + decay * p"), ("p *= 1 - learning_rate * decay", "p *= 1")),
              "The decay went into the gradient, so it is divided by the root of the squares as well. In AdamW it does not "
              "touch the gradient: p *= 1 - learning_rate * decay."),
        Wrong(Changed(("(m / correction1)", "m"), ("(np.sqrt(v / correction2) + eps)", "(np.sqrt(v) + eps)")),
              "The moments begin at 0, so at first they are too small: divide m by settings[1] and v by settings[2]."),
        Wrong(Changed(("(np.sqrt(v / correction2) + eps)", "(v / correction2 + eps)")),
              "The average gradient is divided by the root of the average square, not by the square itself."),
        Wrong(Changed(("(np.sqrt(v / correction2) + eps)", "np.sqrt(v / correction2 + eps)")),
              "eps stands outside of the root: inside it, 1e-8 counts as 1e-4, and small gradients are lost."),
        Wrong(Changed(("g = g * scale", "g = g")),
              "The gradients were not clipped: where `norm` is given, multiply them by min(1, max_norm / (norm[0] + 1e-6))."),
        Wrong(Changed(("g = g * scale", "g = g * (1 if norm is None else min(1, max_norm / (np.sqrt((g * g).sum()) + 1e-6)))")),
              "Each array was clipped by a norm of its own. `norm[0]` is the length of all gradients together: use that."),
        Wrong(Changed(("np.minimum(1, max_norm / (norm[0] + 1e-6))", "max_norm / (norm[0] + 1e-6)")),
              "Clipping only ever makes gradients smaller: where the norm is below max_norm, the factor is 1."),
        Wrong(Changed(("        p *= 1 - learning_rate * decay\n", ""),
                      ("(np.sqrt(v / correction2) + eps)", "(np.sqrt(v / correction2) + eps)\n        "
                       "p *= 1 - learning_rate * decay")),
              "The decay comes after the step here, so it makes the step smaller as well. First the decay, then the step."),
        Wrong(Changed(("        p *= 1 - learning_rate * decay\n", "")),
              "No decay arrives in the parameters: p *= 1 - learning_rate * decay, in place. `p = p * ...` is a new array."),
        Wrong(Changed(("1 - learning_rate * decay", "1 - decay")),
              "The decay must be multiplied by the learning rate as well."),
        Wrong(Changed(("(1 - beta2) * g * g", "(1 - beta2) * g")),
              "The second moment is the average of the squared gradient, g * g."),
        Wrong("""def adamw_step(parameters, gradients, first_moments, second_moments, settings, norm, *, beta1, beta2, eps,
               weight_decay, max_norm):
    lr, c1, c2 = settings
    scale = 1.0 if norm is None else min(1.0, max_norm / (norm[0] + 1e-6))
    for p, g, m, v, d in zip(parameters, gradients, first_moments, second_moments, weight_decay):
        g = g * scale
        m[...] = (1 - beta1) * m + beta1 * g
        v[...] = (1 - beta2) * v + beta2 * g * g
        p *= 1 - lr * d
        p -= lr * (m / c1) / (np.sqrt(v / c2) + eps)
""", "The moments keep (1 - beta) of the old value and take beta of the new one: it is the other way round."),
        Wrong("""def adamw_step(parameters, gradients, first_moments, second_moments, settings, norm, *, beta1, beta2, eps,
               weight_decay, max_norm):
    lr, c1, c2 = settings
    scale = 1.0 if norm is None else min(1.0, max_norm / (norm[0] + 1e-6))
    for p, g, m, v, d in zip(parameters, gradients, first_moments, second_moments, weight_decay):
        g = g * scale
        m[...] = beta1 * m + (1 - beta1) * g
        v[...] = beta2 * v + (1 - beta2) * g * g
        p *= 1 - lr * d
        p += lr * (m / c1) / (np.sqrt(v / c2) + eps)
""", "The step goes up the slope: subtract it."),
        Wrong(Changed(("g = g * scale", "g *= scale")), generic="was changed by your code"),
    ],
)  # fmt: skip
