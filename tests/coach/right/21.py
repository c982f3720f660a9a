"""Right answers to the exercises of chapter 21, written in other ways than ours."""

RIGHT = {
    "group_advantages": [
        """def group_advantages(rewards):
    if max(rewards) - min(rewards) < 1e-9:
        return np.zeros_like(rewards)
    mean = sum(rewards) / len(rewards)
    deviation = (sum((r - mean) ** 2 for r in rewards) / len(rewards)) ** 0.5
    return np.array([(r - mean) / deviation for r in rewards])
""",
        """def group_advantages(rewards):
    centred = rewards - np.mean(rewards)
    return centred / (np.std(rewards) + 1e-12) if np.ptp(rewards) else centred * 0
""",
    ],
    "kl_estimates": [
        """def kl_estimates(log_p, log_start):
    ratio = np.exp(log_start) / np.exp(log_p)
    return ratio - 1 - np.log(ratio)
""",
        """def kl_estimates(log_p, log_start):
    return np.array([np.expm1(s - p) - (s - p) for p, s in zip(log_p, log_start)])
""",
    ],
    "policy_entropy": [
        """def policy_entropy(log_chances):
    p = np.prod(np.exp(log_chances), axis=1)
    return -sum(q * np.log(q) for q in p)
""",
        """def policy_entropy(log_chances):
    whole = log_chances.sum(axis=1)
    return np.average(-whole, weights=np.exp(whole)) * np.exp(whole).sum()
""",
    ],
    "hacked_rewards": [
        """def hacked_rewards(runs):
    found = []
    for name in sorted(runs):
        rewards, possible = runs[name]
        if rewards[-1] - rewards[0] > 0 and possible[0] - possible[-1] > 0:
            found.append(name)
    return found
""",
        """def hacked_rewards(runs):
    def rose(values):
        return values[-1] > values[0]

    def fell(values):
        return values[-1] < values[0]

    return sorted(filter(lambda name: rose(runs[name][0]) and fell(runs[name][1]), runs))
""",
    ],
    "reinforce_gradient": [
        """def reinforce_gradient(probabilities, rows, tokens, advantages):
    credit = np.broadcast_to(np.asarray(advantages)[:, None], rows.shape)
    written, passed = np.zeros_like(probabilities), np.zeros(len(probabilities))
    np.add.at(written, (rows, tokens), credit)
    np.add.at(passed, rows, credit)
    return (written - passed[:, None] * probabilities) / len(rows)
""",
        """def reinforce_gradient(probabilities, rows, tokens, advantages):
    R, V = probabilities.shape
    of_row = np.eye(R)[rows]  # (B, T, R)
    score = np.eye(V)[tokens] - probabilities[rows]  # (B, T, V)
    return np.einsum("b,btr,btv->rv", advantages, of_row, score) / len(advantages)
""",
    ],
    "clipped_loss": [
        """def clipped_loss(log_p, before, advantages, clip):
    ratio = np.exp(log_p) / np.exp(before)
    limit = np.where(advantages > 0, np.minimum(ratio, 1 + clip), np.maximum(ratio, 1 - clip))
    return np.mean(-limit * advantages)
""",
        """def clipped_loss(log_p, before, advantages, clip):
    total = 0
    for a, b, gain in zip(log_p, before, advantages):
        ratio = math.exp(a - b)
        within = max(1 - clip, min(1 + clip, ratio))
        total += max(-ratio * gain, -within * gain)
    return total / len(advantages)
""",
    ],
    "credit_by_fault": [
        """def fault_credit(faults, lengths, width):
    credit = np.full((len(faults), width), np.nan)
    for row, (fault, length) in enumerate(zip(faults, lengths)):
        credit[row, : length if fault is None else fault + 1] = 0.0
    counted = np.isfinite(credit)
    wrong = len([fault for fault in faults if fault is not None])
    credit[counted] += wrong / counted.sum()
    for row, fault in enumerate(faults):
        if fault is not None:
            credit[row, fault] -= 1
    return credit
""",
        """def fault_credit(faults, lengths, width):
    at = np.array([-1 if fault is None else fault for fault in faults])[:, None]
    column = np.arange(width)[None]
    counted = np.where(at < 0, column < np.array(lengths)[:, None], column <= at)
    credit = (at >= 0).sum() / counted.sum() - (column == at)
    return np.where(counted, credit, math.nan)
""",
    ],
}
