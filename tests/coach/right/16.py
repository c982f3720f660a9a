"""Right answers to the exercises of chapter 16, written in other ways than ours."""

RIGHT = {
    "least_hours": [
        "def least_hours(weights, tokens, throughput):\n    return tokens * (2 + 4) * weights / (throughput * 60 * 60)\n",
        """def least_hours(weights, tokens, throughput):
    tokens_per_hour = throughput * 3600 / (6 * weights)
    return tokens / tokens_per_hour
""",
    ],
    "what_followed": [
        """def what_followed(ids, token):
    counts = {}
    for now, following in zip(ids, ids[1:]):
        if now == token:
            counts[following] = counts.get(following, 0) + 1
    return {following: count / sum(counts.values()) for following, count in counts.items()}
""",
        """def what_followed(ids, token):
    ids = np.array(ids)
    found, counts = np.unique(ids[1:][ids[:-1] == token], return_counts=True)
    return {int(a): float(p) for a, p in zip(found, counts / counts.sum())}
""",
    ],
    "fault_per_draw": [
        "def fault_per_draw(well_formed, draws):\n    return 1 - math.exp(math.log(well_formed) / draws)\n",
        """def fault_per_draw(well_formed, draws):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 - middle) ** draws > well_formed else (low, middle)
    return low
""",
    ],
    "sample_metrics": [
        """import numpy as np

def sample_metrics(well_formed, wrong_facts):
    well, facts = np.array(well_formed, bool), np.array(wrong_facts)
    mean = facts[well].mean() if well.any() else np.nan
    return well.mean(), (well & (facts == 0)).mean(), mean, well.std() / np.sqrt(len(well))
""",
        """def sample_metrics(well_formed, wrong_facts):
    n = form = possible = total = 0
    for well, facts in zip(well_formed, wrong_facts):
        n += 1
        if well:
            form += 1
            total += facts
            possible += facts == 0
    error = math.sqrt(form * (n - form) / n) / n
    return [form / n, possible / n, total / form if form else float("nan"), error]
""",
    ],
    "tokens_to_reach": [
        """def tokens_to_reach(records, floor, gap, tokens_per_step):
    steps = (r["step"] for r in records if r.get("val_loss", float("inf")) - floor <= gap)
    first = next(steps, None)
    return None if first is None else first * tokens_per_step
""",
        """def tokens_to_reach(records, floor, gap, tokens_per_step):
    answer = None
    for record in reversed(records):
        if "val_loss" in record and not record["val_loss"] > floor + gap:
            answer = tokens_per_step * record["step"]
    return answer
""",
    ],
    "resume_records": [
        """def resume_records(text, step):
    records = []
    lines = iter(text.split("\\n"))
    while True:
        try:
            record = json.loads(next(lines))
        except (StopIteration, json.JSONDecodeError):
            return [r for r in records if not r["step"] > step]
        records.append(record)
""",
        """def resume_records(text, step):
    if not text:
        return []
    first, _, rest = text.partition("\\n")
    try:
        record = json.loads(first)
    except ValueError:
        return []
    return ([record] if record["step"] <= step else []) + resume_records(rest, step)
""",
    ],
    "exponential_moving_average": [
        """def exponential_moving_average(losses, keep):
    result, total, weights = [], 0.0, 0.0
    for loss in losses:
        total = keep * total + loss
        weights = keep * weights + 1
        result.append(total / weights)
    return result
""",
        """import numpy as np

def exponential_moving_average(losses, keep):
    result = []
    for n in range(1, len(losses) + 1):
        weights = float(keep) ** np.arange(n)[::-1]
        result.append(np.average(losses[:n], weights=weights))
    return result
""",
    ],
    "ngram_model": [
        "def fit(text, characters):\n    return lambda before: {character: 1 / len(characters) for character in characters}\n",
        """from collections import Counter, defaultdict

def fit(text, characters):
    after = defaultdict(Counter)
    for size in range(6):
        for place in range(size, len(text)):
            after[text[place - size : place]][text[place]] += 1

    def probabilities(before):
        shares = {character: 1 / len(characters) for character in characters}
        for size in range(min(5, len(before)) + 1):
            counts = after.get(before[len(before) - size :])
            if not counts:
                break
            total, kinds = sum(counts.values()), len(counts)
            for character in characters:
                shares[character] = (counts[character] + kinds * shares[character]) / (total + kinds)
        return shares

    return probabilities
""",
    ],
}  # fmt: skip
