"""The baseline that a language model must beat: guess each token from the one before it alone, by counting."""

import numpy as np

from course_lib.data.windows import IGNORE, Validation

COUNTED = 20_000_000  # tokens: more would hardly change the counts


def bigram_loss(tokens: np.ndarray, validation: Validation, vocab_size: int) -> float:
    """The loss on the validation targets, in nats per token, of pair counts over the training tokens (n,).

    A pair that was never seen still has a chance: the counts are mixed with those of single tokens, the more of these the
    more different tokens have followed (Witten and Bell 1991):

        P(b | a) = (count(a b) + followers(a) P(b)) / (count(a) + followers(a)),  P(b) = (count(b) + 1) / (n + V)
    """
    tokens = tokens[:COUNTED].astype(np.int64)
    pairs, counts = np.unique(tokens[:-1] * vocab_size + tokens[1:], return_counts=True)
    before = pairs // vocab_size
    followers = np.bincount(before, minlength=vocab_size)  # (V,) different tokens seen after each
    total = np.bincount(before, counts, vocab_size)  # (V,) tokens seen after each
    single = (np.bincount(tokens, minlength=vocab_size) + 1) / (len(tokens) + vocab_size)  # (V,)

    scored = validation.targets != IGNORE
    a, b = validation.idx[scored].astype(np.int64), validation.targets[scored].astype(np.int64)
    wanted = a * vocab_size + b
    place = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    seen = np.where(pairs[place] == wanted, counts[place], 0)
    mixed = seen + followers[a] * single[b]
    weight = total[a] + followers[a]
    known = weight > 0  # a token that was never followed by any says nothing
    chance = np.where(known, mixed / np.where(known, weight, 1), single[b])
    return float(-np.log(chance).mean())
