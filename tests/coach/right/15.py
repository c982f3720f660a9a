"""Right answers to the exercises of chapter 15, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "clip_gradients": [
        """def clip_gradients(gradients, max_norm):
    norm = np.linalg.norm(np.concatenate([gradient.ravel() for gradient in gradients]))
    if norm <= max_norm:
        return list(gradients)
    return [gradient / norm * max_norm for gradient in gradients]
""",
        """def clip_gradients(gradients, max_norm):
    squares = 0.0
    for gradient in gradients:
        for value in gradient.ravel():
            squares += value * value
    return [gradient * min(1.0, max_norm / (squares**0.5 + 1e-12)) for gradient in gradients]
""",
    ],
    "whole_loss": [
        """def whole_loss(losses, counts):
    total = 0.0
    for i in range(len(losses)):
        total += losses[i] * (counts[i] / sum(counts))
    return total
""",
        "def whole_loss(losses, counts):\n    return np.average(losses, weights=counts)\n",
    ],
    "cut_windows": [
        """def cut(tokens, starts, context):
    idx = np.array([tokens[s : s + context] for s in starts], np.int32)
    targets = np.array([tokens[s + 1 : s + 1 + context] for s in starts], np.int32)
    return idx, targets
""",
        """def cut(tokens, starts, context):
    every = np.lib.stride_tricks.sliding_window_view(tokens, context + 1)
    rows = every[starts].astype("int32")
    return np.ascontiguousarray(rows[:, :context]), np.ascontiguousarray(rows[:, -context:])
""",
    ],
    "warmup_linear": [
        """def warmup_linear(step, steps, peak, lowest, warmup):
    if warmup > step:
        return (step + 1) * (peak / warmup)
    if step >= steps:
        return lowest
    return (peak * (steps - step) + lowest * (step - warmup)) / (steps - warmup)
""",
        """import numpy as np

def warmup_linear(step, steps, peak, lowest, warmup):
    rise = [peak * (i + 1) / warmup for i in range(warmup)]
    rates = np.concatenate([rise, np.linspace(peak, lowest, steps - warmup + 1)])
    return float(rates[step]) if step < steps else lowest
""",
    ],
    "mean_loss": [
        """def mean_loss(self, loss, batch_size):
    means, counts = [], []
    for idx, targets in self.batches(batch_size):
        count = np.count_nonzero(targets != IGNORE)
        if count:
            means.append(loss(idx, targets))
            counts.append(count)
    return np.average(means, weights=counts)
""",
        """def mean_loss(self, loss, batch_size):
    mean, seen = 0.0, 0
    for idx, targets in self.batches(batch_size):
        new = int((targets != -1).sum())
        if new == 0:
            continue
        seen += new
        mean += (loss(idx, targets) - mean) * new / seen
    return mean
""",
    ],
    "diagnose_curves": [
        """import numpy as np

def diagnose_curves(losses, guessing, floor):
    losses = np.array(losses)
    if not np.isfinite(losses).all() or losses.max() > guessing + 1:
        return "exploded"
    end = losses[-max(1, len(losses) // 10):].mean()
    if end < floor:
        return "saw the answers"
    return "learns nothing" if end > guessing - 0.5 else "healthy"
""",
        """def diagnose_curves(losses, guessing, floor):
    count, total = 0, 0.0
    for place in range(len(losses) - 1, -1, -1):
        loss = losses[place]
        if not loss <= guessing + 1 or loss == -math.inf:
            return "exploded"
        if count == 0 or count < len(losses) // 10:
            count, total = count + 1, total + loss
    words = {total < count * floor: "saw the answers", total > count * (guessing - 0.5): "learns nothing"}
    return words.get(True, "healthy")
""",
    ],
    "polar_factor": [
        """def polar_factor(G, steps):
    norm = np.sqrt((G * G).sum())
    X = G / norm if norm > 0 else G.copy()
    tall = X.shape[0] > X.shape[1]
    X = X.T if tall else X
    for _ in range(steps):
        S = X @ X.T
        X = (1.5 * np.eye(len(S)) - 0.5 * S) @ X
    return X.T if tall else X
""",
        Changed(("X = 1.5 * X - 0.5 * X @ X.T @ X", "X = X + 0.5 * X @ (np.eye(X.shape[1]) - X.T @ X)")),
    ],
    "gradient_accumulation": [
        """def gradient_accumulation(model, optimiser, parts, rate):
    total = 0
    for idx, targets in parts:
        total += np.count_nonzero(targets != IGNORE)
    for p in optimiser.parameters:
        p.grad = None
    mean = 0.0
    for idx, targets in parts:
        share = np.count_nonzero(targets != IGNORE) / total
        loss = model.loss(idx, targets)
        (share * loss).backward()
        mean += share * loss.item()
    optimiser.step(rate)
    return mean
""",
        """def gradient_accumulation(model, optimiser, parts, rate):
    idx = [i.reshape(1, -1) for i, t in parts]
    targets = [t.reshape(1, -1) for i, t in parts]
    loss = model.loss(np.concatenate(idx, axis=1), np.concatenate(targets, axis=1))
    optimiser.zero_grad()
    loss.backward()
    optimiser.step(rate)
    return loss.item()
""",
    ],
    "hold_out": [
        """def hold_out(tokens, end, count):
    place = len(tokens) - count
    while tokens[place] != end:
        place -= 1
    return tokens[:place], tokens[place:]
""",
        """def hold_out(tokens, end, count):
    starts = np.flatnonzero(tokens == end)
    cut = starts[np.searchsorted(starts, len(tokens) - count, side="right") - 1]
    return list(np.split(tokens, [cut]))
""",
    ],
    "learning_rate_schedule": [
        "def learning_rate_schedule(steps):\n    return [30.0 * (1 - step / steps) for step in range(steps)]\n",
        """import numpy as np

def learning_rate_schedule(steps):
    return 60 * (1 + np.cos(np.pi * np.arange(steps) / steps)) / 2
""",
    ],
}  # fmt: skip
