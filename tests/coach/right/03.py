"""Right answers to the exercises of chapter 3, written in other ways than ours."""

RIGHT = {
    "average_surprise": [
        """def average_surprise(probabilities):
    return math.fsum(math.log(1 / p) for p in probabilities) / len(probabilities)
""",
        "def average_surprise(probabilities):\n    return -np.log(probabilities).mean()\n",
    ],
    "one_layer": [
        """def one_layer(W1, b1, W2, b2):
    b = (W2 * b1).sum(axis=1) + b2
    return (W1.T @ W2.T).T, b
""",
        """def one_layer(W1, b1, W2, b2):
    def both(x):
        return W2 @ (W1 @ x + b1) + b2

    zero = np.zeros(W1.shape[1])
    return np.stack([both(x) - both(zero) for x in np.eye(len(zero))], axis=1), both(zero)
""",
    ],
    "safe_logsumexp": [
        "def logsumexp(scores):\n    return np.logaddexp.reduce(scores)\n",
        """def logsumexp(scores):
    m = max(scores)
    return m + math.log(sum(math.exp(score - m) for score in scores))
""",
    ],
    "score_gradient": [
        "def score_gradient(probabilities, true):\n    return probabilities - np.eye(len(probabilities))[true]\n",
        """def score_gradient(probabilities, true):
    return np.array([p - (number == true) for number, p in enumerate(probabilities)])
""",
    ],
    "momentum_steps": [
        """def momentum_steps(point, gradients, rate, keep):
    velocity = 0.0
    for gradient in gradients:
        velocity = keep * velocity + gradient
        point -= rate * velocity
    return point
""",
        """def momentum_steps(point, gradients, rate, keep):
    for last in range(len(gradients)):
        for i in range(last + 1):
            point -= rate * keep ** (last - i) * gradients[i]
    return point
""",
    ],
    "linear_layer": [
        """class Linear(Module):
    def __init__(self, inputs, outputs, bias=True, std=0.02, rng=None, device="cpu", dtype="float32"):
        if rng is None:
            rng = np.random.default_rng()
        self.weight = parameter(std * rng.standard_normal((inputs, outputs)).T, device, dtype)
        self.bias = None
        if bias:
            self.bias = parameter(np.zeros(outputs), device, dtype)

    def forward(self, x):
        y = x @ self.weight.T
        if self.bias is None:
            return y
        return y + self.bias
""",
        """class Linear(Module):
    def __init__(self, inputs, outputs, bias=True, std=0.02, rng=None, device="cpu", dtype="float32"):
        generator = rng if rng is not None else np.random.default_rng()
        numbers = np.array([generator.normal(scale=std, size=inputs) for _ in range(outputs)])
        self.weight = Tensor(numbers, dtype=dtype, device=device, requires_grad=True)
        self.bias = Tensor(np.zeros(outputs), dtype=dtype, device=device, requires_grad=True) if bias else None

    def __call__(self, x):
        return functional.linear(x, self.weight, self.bias)
""",
    ],
    "stable_cross_entropy": [
        """def cross_entropy_forward(logits, targets, ignore_index=-1):
    total, count = 0.0, 0
    logsumexp = np.empty(len(logits), logits.dtype)
    for i, row in enumerate(logits):
        top = max(row)
        logsumexp[i] = top + np.log(sum(np.exp(score - top) for score in row))
        if targets[i] != ignore_index:
            total += float(logsumexp[i]) - float(row[targets[i]])
            count += 1
    return logits.dtype.type(total / count), logsumexp
""",
        """def cross_entropy_forward(logits, targets, ignore_index=-1):
    logsumexp = np.logaddexp.reduce(logits, axis=1)
    keep = targets != ignore_index
    true_scores = np.take_along_axis(logits, np.where(keep, targets, 0)[:, None], axis=1)[:, 0]
    return ((logsumexp - true_scores) * keep).sum() / keep.sum(dtype=logits.dtype), logsumexp
""",
    ],
    "adamw_update": [
        """def adamw_step(parameters, gradients, first_moments, second_moments, settings, norm, *, beta1, beta2, eps,
               weight_decay, max_norm):
    rate = float(settings[0])
    factor = 1.0
    if norm is not None and norm[0] + 1e-6 > max_norm:
        factor = float(max_norm / (norm[0] + 1e-6))
    for i in range(len(parameters)):
        g = gradients[i] * factor
        first_moments[i] *= beta1
        first_moments[i] += (1 - beta1) * g
        second_moments[i] *= beta2
        second_moments[i] += (1 - beta2) * g**2
        move = first_moments[i] / settings[1] / (np.sqrt(second_moments[i] / settings[2]) + eps)
        parameters[i][...] = parameters[i] - rate * (move + weight_decay[i] * parameters[i])
""",
        """def adamw_step(parameters, gradients, first_moments, second_moments, settings, norm, *, beta1, beta2, eps,
               weight_decay, max_norm):
    lr, c1, c2 = settings
    for p, g, m, v, wd in zip(parameters, gradients, first_moments, second_moments, weight_decay):
        if norm is not None:
            g = g * np.clip(max_norm / (norm[0] + 1e-6), None, 1)
        m += (1 - beta1) * (g - m)
        v += (1 - beta2) * (g * g - v)
        np.subtract(p * (1 - lr * wd), lr / c1 * m / (np.sqrt(v) / np.sqrt(c2) + eps), out=p)
""",
    ],
    "softmax_backward": [
        """def softmax_backward(dy, y):
    dx = np.empty_like(dy)
    for index in np.ndindex(dy.shape[:-1]):
        p = y[index]
        slopes = np.diag(p) - np.outer(p, p)  # (S, S): how score j moves probability i
        dx[index] = slopes @ dy[index]
    return dx
""",
        """def softmax_backward(dy, y):
    weighted = dy * y
    return weighted - y * np.einsum("...s->...", weighted)[..., None]
""",
    ],
    "unit_variance_scales": [
        """def unit_variance_scales(x, weights):
    if not weights:
        return []
    y = x @ weights[0]
    factor = 1 / np.std(y)
    return [factor] + unit_variance_scales(np.tanh(y * factor), weights[1:])
""",
        """def unit_variance_scales(x, weights):
    factors = np.ones(len(weights))
    for n in range(len(weights)):
        signal = x
        for factor, weight in zip(factors[:n], weights):
            signal = np.tanh(signal @ (factor * weight))
        y = signal @ weights[n]
        factors[n] = ((y - y.mean()) ** 2).mean() ** -0.5
    return factors
""",
    ],
    "training_loss": [
        """def training_loss(x, weight, targets):
    return functional.cross_entropy(x @ weight.T, targets)
""",
        """def training_loss(x, weight, targets):
    scores = functional.linear(x, weight)
    largest = scores.max(-1, keepdims=True).detach()
    logsumexp = (scores - largest).exp().sum(-1, keepdims=True).log() + largest
    surprise = (logsumexp - scores).reshape(-1)
    picks = [row * scores.shape[1] + int(target) for row, target in enumerate(targets)]
    return surprise[picks].mean()
""",
    ],
    "minimise": [
        """def minimise(grad, point):
    for _ in range(1000):
        point = point - 0.035 * grad(point)
    return point
""",
        """def minimise(grad, point):
    point = np.array(point)
    g = grad(point)
    rate = 0.01
    while np.abs(g).max() > 0.003:
        new = point - rate * g
        new_g = grad(new)
        move, change = new - point, new_g - g
        if move @ change > 0:
            rate = (move @ move) / (move @ change)
        point, g = new, new_g
    return list(point)
""",
        """def minimise(grad, point):
    average, square = np.zeros(2), np.zeros(2)
    for t in range(1, 400):
        g = grad(point)
        average = 0.8 * average + 0.2 * g
        square = 0.95 * square + 0.05 * g * g
        point = point - 0.3 * 0.98**t * average / (1 - 0.8**t) / (np.sqrt(square / (1 - 0.95**t)) + 1e-8)
    return point
""",
    ],
}  # fmt: skip
