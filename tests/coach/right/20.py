"""Right answers to the exercises of chapter 20, written in other ways than ours."""

RIGHT = {
    "answer_nats": [
        "def answer_nats(story, facts):\n    return story - -math.log(math.prod(facts))\n",
        "def answer_nats(story, facts):\n    for p in facts:\n        story -= math.log(1 / p)\n    return story\n",
    ],
    "answer_targets": [
        """def answer_targets(ids, start, context):
    return [ids[t + 1] if start - 1 <= t < len(ids) - 1 else IGNORE for t in range(context)]
""",
        """def answer_targets(ids, start, context):
    targets = np.full(context, IGNORE)
    targets[: len(ids) - 1] = ids[1:]
    targets[: start - 1] = IGNORE
    return targets
""",
    ],
    "answer_loss": [
        """def answer_loss(losses, tokens, mark, end):
    total = count = 0
    for row, ids in zip(losses, tokens):
        inside = False
        for loss, token, following in zip(row, ids, ids[1:]):
            inside = inside or token == mark
            if inside:
                total += loss
                count += 1
                inside = following != end
    return total / count
""",
        """def answer_loss(losses, tokens, mark, end):
    asked = np.cumsum(tokens == mark, axis=1) > 0
    ended = np.cumsum((tokens == end) & asked, axis=1) > 0
    return losses[(asked & ~ended)[:, :-1]].mean()
""",
    ],
    "lora_parameters": [
        """def lora_parameters(layers, channels, rank):
    C = channels
    shapes = [(3 * C, C), (C, C), (4 * C, C), (C, 4 * C)]
    return layers * sum(rank * (outputs + inputs) for outputs, inputs in shapes)
""",
        """def lora_parameters(layers, channels, rank):
    count = 0
    for _ in range(layers):
        count += (3 + 1) * rank * channels + 2 * rank * channels + 2 * (4 + 1) * rank * channels
    return count
""",
    ],
    "lora_merge": [
        """def merged(self):
    weight = self.weight.numpy()
    weight += self.factor * np.einsum("or,ri->oi", self.b.numpy(), self.a.numpy())
    return weight
""",
        """def merged(self):
    change = sum(np.outer(self.b.numpy()[:, r], self.a.numpy()[r]) for r in range(self.a.shape[0]))
    return self.weight.numpy() + change * self.factor
""",
    ],
    "conversation": [
        """def conversation(turns):
    parts = [([END], False)]
    for who, text in turns:
        answer = who == "assistant"
        parts.append(([ASSISTANT if answer else USER], False))
        parts.append((encode(text) + [END] * answer, answer))
    if len(turns) % 2:
        parts.append(([ASSISTANT], False))
    ids = [token for tokens, _ in parts for token in tokens]
    return ids, [learned for tokens, learned in parts for _ in tokens]
""",
        """def conversation(turns):
    ids = [END]
    for who, text in turns:
        ids.append({"user": USER, "assistant": ASSISTANT}[who])
        ids.extend(encode(text))
        if who == "assistant":
            ids.append(END)
    if turns[-1][0] != "assistant":
        ids.append(ASSISTANT)
    learned, inside = [], False
    for token in ids:
        learned.append(inside and token != USER)
        inside = token == ASSISTANT or (inside and token != END)
    return ids, learned
""",
    ],
    "lora_forward": [
        """def forward(self, x):
    weight = self.weight + (self.b @ self.a) * self.factor
    return functional.linear(x, weight, self.own_bias)
""",
        """def forward(self, x):
    narrow = x @ self.a.T * self.factor
    y = functional.linear(x, self.weight) + narrow @ self.b.T
    if self.own_bias is not None:
        y = y + self.own_bias
    return y
""",
    ],
    "answer_log_probabilities": [
        """def answer_log_probabilities(logits, targets):
    result = np.zeros(len(targets))
    for row in range(len(targets)):
        for column, target in enumerate(targets[row]):
            if target != IGNORE:
                scores = logits[row, column]
                result[row] -= np.log(np.exp(scores - scores.max()).sum()) + scores.max() - scores[target]
    return result
""",
        """def answer_log_probabilities(logits, targets):
    logs = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    rows, columns = np.nonzero(targets != IGNORE)
    return np.bincount(rows, logs[rows, columns, targets[rows, columns]], minlength=len(targets))
""",
    ],
    "dpo_loss": [
        """def dpo_loss(chosen, rejected, chosen_before, rejected_before, beta):
    z = beta * (chosen - rejected) - beta * (chosen_before - rejected_before)
    return np.mean(np.maximum(-z, 0) + np.log1p(np.exp(-np.abs(z))))
""",
        """def dpo_loss(chosen, rejected, chosen_before, rejected_before, beta):
    losses = []
    for a, b, c, d in zip(chosen, rejected, chosen_before, rejected_before):
        z = beta * (a - c - b + d)
        losses.append(math.log(1 + math.exp(-z)) if z > 0 else -z + math.log(1 + math.exp(z)))
    return sum(losses) / len(losses)
""",
    ],
}
