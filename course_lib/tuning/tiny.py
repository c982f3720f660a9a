"""A grammar of eight texts, and policies so small that everything about them can be added up: no sampling, no doubt.

    theta = tiny.start()         a pretrained policy: logits (rows, V), one row for each beginning that it can tell apart
    p = tiny.chances(theta)      how likely it makes each of the 1,296 texts of four tokens, tiny.TEXTS
    tiny.expected(theta)         its mean reward, exact;  tiny.gradient(theta): the gradient of that

A policy sees the last token or the last two, `back`. With two it can carry a name to its pronoun, with one it cannot.
"""

import itertools

import numpy as np

TOKENS = ("Otto", "Mia", "runs", "sings", "he", "she")
V, T = len(TOKENS), 4
TEXTS = np.array(list(itertools.product(range(V), repeat=T)))  # (N, T)
_NAMES, _VERBS, _PRONOUNS = (0, 1), (2, 3), (4, 5)


def first_fault(text: np.ndarray) -> int | None:
    """The index of the token from which on no story begins so: name, verb, the name's pronoun, verb. None for a story."""
    name, verb, pronoun, last = text
    right = (name in _NAMES, verb in _VERBS, pronoun == _PRONOUNS[0] + name, last in _VERBS)
    return None if all(right) else right.index(False)


FAULT = [first_fault(text) for text in TEXTS]
REWARD = np.array([float(fault is None) for fault in FAULT])  # (N,)
TRUE = REWARD / REWARD.sum()  # (N,): the grammar tells its eight stories equally often


def rows(theta: np.ndarray) -> np.ndarray:
    """The row that each token of each text is drawn from, (N, T): the last tokens as a number, V where there is none."""
    back = {(V + 1) ** back: back for back in (1, 2)}[len(theta)]
    padded = np.concatenate([np.full((len(TEXTS), back), V), TEXTS], axis=1)
    return sum(padded[:, i : i + T] * (V + 1) ** i for i in range(back))


def log_chances(theta: np.ndarray) -> np.ndarray:
    """log P of each token of each text, (N, T)."""
    return np.log(probabilities(theta))[rows(theta), TEXTS]


def chances(theta: np.ndarray) -> np.ndarray:
    """P of each text, (N,)."""
    return np.exp(log_chances(theta).sum(1))


def probabilities(theta: np.ndarray) -> np.ndarray:
    """Softmax of each row, (rows, V)."""
    e = np.exp(theta - theta.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def estimate(theta: np.ndarray, texts: np.ndarray, credit: np.ndarray) -> np.ndarray:
    """The mean over n texts of the sum over tokens of credit d log P(token) / d theta, which is 1 at the token minus all P.

    texts (*k, n): indices of texts, in k groups; credit (*k, n, T) -> (*k, rows, V)."""
    groups = int(np.prod(texts.shape[:-1], dtype=int))
    row, token = rows(theta)[texts], TEXTS[texts]  # (*k, n, T)
    group = np.arange(groups).reshape(*texts.shape[:-1], 1, 1)
    found = np.zeros((groups, *theta.shape))
    np.add.at(found, (group, row, token), credit / texts.shape[-1])
    found -= found.sum(-1, keepdims=True) * probabilities(theta)
    return found.reshape(*texts.shape[:-1], *theta.shape)


def expected(theta: np.ndarray, reward: np.ndarray = REWARD) -> float:
    """The mean reward over all texts, weighted by their probabilities."""
    return float(chances(theta) @ reward)


def gradient(theta: np.ndarray, reward: np.ndarray = REWARD) -> np.ndarray:
    """Its gradient, (rows, V): the sum over all texts of P(text) reward(text) d log P(text)."""
    everything = np.arange(len(TEXTS))
    weight = len(TEXTS) * chances(theta) * reward  # (N,)
    return estimate(theta, everything, weight[:, None] * np.ones(T))


def entropy(theta: np.ndarray) -> float:
    """Of the texts, in nats."""
    return float(-chances(theta) @ log_chances(theta).sum(1))


def kl(theta: np.ndarray, other: np.ndarray) -> float:
    """KL(theta || other) of two policies, over whole texts, in nats."""
    return float(chances(theta) @ (log_chances(theta) - log_chances(other)).sum(1))


def start(back: int = 2, noise: float = 0.15) -> np.ndarray:
    """A pretrained policy: what follows in true stories, a little of everything, and not quite even."""
    counts = np.full(((V + 1) ** back, V), 1e-9)
    np.add.at(counts, (rows(counts), TEXTS), TRUE[:, None])
    follows = counts / counts.sum(1, keepdims=True)
    return np.log((1 - noise) * follows + noise / V) + np.random.default_rng(1).normal(0, 0.1, follows.shape)


def draw(theta: np.ndarray, shape: int | tuple, random: np.random.Generator) -> np.ndarray:
    """Indices of texts that the policy writes, of that shape."""
    return random.choice(len(TEXTS), shape, p=chances(theta) / chances(theta).sum())


def stories_told(theta: np.ndarray) -> float:
    """How many stories it tells, had it told each equally often: exp of their entropy, 1 to 8. (Its perplexity)"""
    p = (chances(theta) * REWARD)[REWARD > 0] / expected(theta)
    return float(np.exp(-p @ np.log(np.maximum(p, 1e-300))))
