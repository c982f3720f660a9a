"""Reinforcement learning from the judge: write texts, have them judged, make what was right more likely.

    train(start="runs/small", reward="stories", out="runs/small-rewarded")      course train --start ... --reward stories

One step: `batch` texts from the model as it is, their rewards, `passes` updates. All else is training.py's, so the run is
logged, saved, stopped and resumed as any other. Validation is the loss on true stories: less the floor it is
KL(true stories || model), so it says at once if a model became right by saying little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from course_lib import data, devices, generation, native, optim, run, whose
from course_lib.model import GPT
from course_lib.recipes import Settings
from course_lib.stories.reading import Span
from course_lib.tensor import no_grad
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import policy, reward

KL_ROWS = 8  # texts from which KL to the start is estimated for the log, where it is no part of the loss
SHOWN = 2  # texts that are written for each window of true stories, where these are part of the loss


@dataclass
class Rollouts:
    """Texts that a model wrote. idx, tokens: int32 (B, T), what it read and what it then wrote, IGNORE behind the end.

    lengths (B,): tokens of each, its end token included. texts: None for one that has no end."""

    idx: np.ndarray
    tokens: np.ndarray
    lengths: np.ndarray
    texts: list[str | None]


def write(model: GPT, tokenizer: Tokenizer, count: int, seed: int, temperature: float = 1.0) -> Rollouts:
    """`count` texts from nothing but the end token, each with a seed of its own."""
    choice = generation.Choice(temperature)
    seeds = [seed + i for i in range(count)]
    context = model.config.context
    written = generation.complete(model, tokenizer, [[]] * count, context, choice, seeds, batch=count)
    width = max(len(ids) for ids, _ in written)
    idx = np.full((count, width), tokenizer.end_id, np.int32)
    tokens = np.full((count, width), data.IGNORE, np.int32)
    for row, (ids, _) in enumerate(written):
        idx[row, 1 : len(ids)], tokens[row, : len(ids)] = ids[:-1], ids
    texts = [tokenizer.decode(ids[:-1]) if ended else None for ids, ended in written]
    return Rollouts(idx, tokens, np.array([len(ids) for ids, _ in written]), texts)


class Tokens:
    """Where the characters of a text are: at(c) is the token that character c is in, the last one for those behind the end."""

    def __init__(self, tokenizer: Tokenizer, ids: list[int]):
        self.ends = np.cumsum([len(tokenizer.token_bytes(token).decode("utf-8", "ignore")) for token in ids])

    def at(self, character: int) -> int:
        return min(int(np.searchsorted(self.ends, character, side="right")), len(self.ends) - 1)


def mention(span: Span, tokens: Tokens) -> reward.Mention:
    """A span of characters as tokens; of a wrong one only the token from which on it is wrong. Words drawn and words said again
    are kinds of their own: else who draws a wrong word and then says it three times, each time rightly, gains by it."""
    right = span.wrong is None
    first, last = (span.start, span.end - 1) if right else (span.wrong, span.wrong)
    return reward.Mention(f"{span.word.kind} {span.kind}", range(tokens.at(first), tokens.at(last) + 1), right)


class RewardRun(run.Run):
    """A run whose steps write, judge and update."""

    def __init__(self, settings: Settings, corpus: data.Corpus, model: GPT, tally: whose.Tally):
        super().__init__(settings, corpus, model, tally)
        self.judge = reward.REWARDS[settings.reward]
        self.reference = run.load(settings.start, model.device)[0].eval()

    def step(self) -> dict:
        """`passes` updates from `batch` fresh texts."""
        s, number = self.settings, self.done
        rate = optim.warmup_linear(number, s.steps, s.peak, s.lowest, s.warmup)
        seed = (s.seed * 1_000_003 + number) * s.batch  # texts of other steps and runs have other seeds
        with native.step(), devices.computing(self.model.device, s.compute, self.copies, backward=True):
            rolled = write(self.model, self.corpus.tokenizer, s.batch, seed, s.temperature)
            self.model.train()
            earned = [self.judge(text) for text in rolled.texts]
            credit = self.credit(rolled, earned).reshape(-1)  # (n,)
            start = self.start_log_probabilities(rolled, s.batch if s.kl else KL_ROWS)
            shown, before = {}, None
            for _ in range(s.passes):
                told, before = self.update(rolled, credit, start, before)
                norm = float(self.optimiser.step(rate))
                shown = shown or told
        self.done += 1
        return {"step": self.done, "loss": shown["loss"], "lr": rate, "grad_norm": norm,
                "reward": float(np.mean(earned)), "entropy": shown["entropy"], "kl": shown["kl"],
                "credited": int(np.isfinite(credit).sum()), "tokens": int(rolled.lengths.sum())}  # fmt: skip

    def credit(self, rolled: Rollouts, earned: list[float]) -> np.ndarray:
        """What each token earned, (B, T)."""
        lengths, width, credit = rolled.lengths, rolled.tokens.shape[1], self.settings.credit
        of_texts = {"group": reward.group_credit, "kept": reward.kept_credit}
        if credit in of_texts:
            return of_texts[credit](earned, lengths, width)
        faults, mentions = [], []
        for row, text in enumerate(rolled.texts):
            ids = rolled.tokens[row, : lengths[row]].tolist()
            tokens = Tokens(self.corpus.tokenizer, ids)
            if text is None:  # no end: where it first goes wrong, as far as it goes
                text = self.corpus.tokenizer.decode(ids)
            facts, fault = reward.told(text) if credit == "facts" else ([], reward.first_fault(text))
            faults.append(None if fault is None else tokens.at(fault))
            mentions.append([mention(one, tokens) for one in facts])
        if credit == "fault":
            return reward.fault_credit(faults, lengths, width)
        return reward.fact_credit(mentions, faults, lengths, width)

    def update(
        self, rolled: Rollouts, credit: np.ndarray, start: np.ndarray, before: np.ndarray | None
    ) -> tuple[dict, np.ndarray]:
        """Leave gradients -> what the log shows, and log P of the tokens as they were written (n,): `before`, if given."""
        s, model, v = self.settings, self.model, self.model.config.vocab_size
        flat, counted = rolled.tokens.reshape(-1), rolled.tokens.reshape(-1) != data.IGNORE
        self.optimiser.zero_grad()
        logits = model(rolled.idx).reshape(-1, v) * (1 / s.temperature)  # (n, V)
        log_p = policy.log_probabilities(logits, flat)  # (n,)
        before = log_p.numpy() if before is None else before
        loss = policy.clipped(log_p, before, credit)
        known = counted & np.isfinite(start)
        kl = policy.kl_to_start(log_p, start, known)
        if s.kl:
            loss = loss + kl * s.kl
        with no_grad():
            unsure = policy.entropy(logits).numpy()[counted].mean()
        value = loss.item()
        if not math.isfinite(value):
            raise run.Diverged(f"The loss is {value} at step {self.done + 1}.")
        loss.backward()
        if s.pretraining:
            rows = max(s.batch // SHOWN, 1)
            (model.loss(*self.corpus.train.batch(self.done, rows)) * s.pretraining).backward()
        value = policy.policy_gradient(log_p.detach(), credit).item()  # the ratio is 1, so its loss says nothing
        return {"loss": value, "entropy": float(unsure), "kl": kl.item()}, before

    @no_grad()
    def start_log_probabilities(self, rolled: Rollouts, rows: int) -> np.ndarray:
        """What the model that the run began from gives to the same tokens, (n,); nan but for the first rows."""
        found = np.full(rolled.tokens.shape, np.nan, np.float32)  # (B, T)
        logits = self.reference(rolled.idx[:rows]).reshape(-1, self.model.config.vocab_size) * (
            1 / self.settings.temperature
        )
        found[:rows] = policy.log_probabilities(logits, rolled.tokens[:rows]).numpy().reshape(-1, found.shape[1])
        return found.reshape(-1)
