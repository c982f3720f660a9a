"""How each preset is trained unless told otherwise, and the settings that make a run what it is.

A run is a function of its settings: the same settings on the same device give the same bits. They are stored in each
checkpoint, so a run can go on with nothing but its folder.
"""

import dataclasses
import os
from dataclasses import dataclass, field

from course_lib import data, devices, nvidia
from course_lib.model_config import PRESETS, GPTConfig

COMPUTE = ("float32", "bfloat16")
OPTIMISERS = ("adamw", "muon")
SCHEDULES = ("linear", "cosine")
CREDITS = ("facts", "fault", "group", "kept")
REQUESTS = "requests"  # what fine-tuning learns from unless a text is given


@dataclass(frozen=True)
class Settings:
    """Everything that decides how a run goes, apart from the device."""

    preset: str
    steps: int  # updates of the weights
    batch: int  # windows of one context each, per forward pass
    peak: float  # learning rate after the warm-up
    lowest: float  # learning rate at the end
    recipe: str = "best"  # where what is not given comes from: "best", or "reference", to compare with other projects
    optimiser: str = "muon"  # for the matrices of the blocks; all else is AdamW's
    matrix_peak: float = 0.02  # learning rate of Muon after the warm-up; it rises and falls as AdamW's
    momentum: float = 0.95  # of Muon: what a step keeps of the sum of earlier gradients
    schedule: str = "linear"  # how the learning rate falls from peak to lowest
    lookups: float = 1.0  # how much a token counts at first that must be looked up in its document; 1: as all others
    accumulate: int = 1  # batches whose gradients are added up for one step
    corpus: str = "stories"
    text: str | None = None  # a file or folder, instead of the corpus
    stories: int = 40_000  # how many to train on, of the corpus `stories`
    seed: int = 0  # of the first weights and of the order of the windows
    validation_rows: int = 64  # windows on which the loss is measured during the run
    compute: str = "float32"  # what products multiply in: "bfloat16" where GPU or processor can, and on the simulator
    model: dict = field(default_factory=dict)  # fields of the preset's GPTConfig that are changed
    start: str | None = None  # a run whose weights this one begins from: fine-tuning (tuning/)
    lora: int = 0  # rank of the changes that are trained in place of the weights; 0 trains the weights
    reward: str | None = None  # what texts are rewarded for, in place of being shown any (tuning/reward.py)
    credit: str = "group"  # to all tokens; "kept": of the best texts; "fault": to the wrong one; "facts": to a fact's
    temperature: float = 1.0  # at which texts are written to be judged
    kl: float = 0.0  # weight of KL(model || start) beside the reward
    passes: int = 1  # updates from the same texts, with PPO's clipped ratio from the second on
    pretraining: float = 0.0  # weight of the loss on true stories beside the reward: InstructGPT's PPO-ptx
    window: int = 0  # tokens of a training window where fewer than the model's context; 0 means all of it

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "accumulate", "stories", "validation_rows", "passes"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}, but must be a whole number from 1 on.")
        if not 0 <= self.lowest <= self.peak or self.peak == 0 or self.matrix_peak <= 0:
            raise ValueError(
                f"The learning rate goes from peak {self.peak} down to lowest {self.lowest}, Muon's from {self.matrix_peak}: "
                "they must be positive, and only the lowest may be 0."
            )
        if self.lookups < 1 or (self.lookups > 1 and self.start is not None):
            raise ValueError(
                f"lookups is {self.lookups}: what must be looked up counts as much as all else or more, so it is 1 or more; for "
                "fine-tuning it is 1."
            )
        if not 0 <= self.momentum < 1:
            raise ValueError(
                f"momentum is {self.momentum}: of earlier gradients a step keeps at least 0 and less than 1."
            )
        for name, known in (("optimiser", OPTIMISERS), ("schedule", SCHEDULES)):
            if getattr(self, name) not in known:
                raise ValueError(f"There is no {name} {getattr(self, name)!r}: choose one of {', '.join(known)}.")
        if self.compute not in COMPUTE:
            raise ValueError(f"compute is {self.compute!r}, but must be one of {', '.join(COMPUTE)}.")
        known = data.NAMES if self.start is None or self.reward else (REQUESTS,)
        if self.corpus not in known:
            raise ValueError(f"There is no corpus {self.corpus!r}: choose one of {', '.join(known)}, or give a text.")
        if self.credit not in CREDITS:
            raise ValueError(f"There is no credit {self.credit!r}: choose one of {', '.join(CREDITS)}.")
        if self.reward is not None and (self.start is None or self.lora or self.text):
            raise ValueError(
                "A reward teaches a model that writes already: give the run that it is in, as `start`, and neither lora nor text."
            )
        if self.window < 0 or (self.window and (self.start is None or self.reward)):
            raise ValueError(
                f"window is {self.window}: it cuts windows of fine-tuning, from a run as `start`, to so many tokens, 1 or more."
            )
        if self.lora < 0 or (self.lora and self.start is None):
            raise ValueError(
                f"lora is {self.lora}: it is the rank of changes to weights that are there, so it needs the run that they are "
                "in, as `start`, and a rank from 1 on."
            )

    @property
    def warmup(self) -> int:
        """Steps of warm-up."""
        return min(200, self.steps // 10)

    @property
    def validate_every(self) -> int:
        """Steps between two measurements of the validation loss: about twenty in a run, not more often than each 50."""
        return max(50, self.steps // 20)

    @property
    def log_every(self) -> int:
        """Steps between two lines of the log: some hundreds to a thousand lines for any run."""
        return max(1, self.steps // 1000)

    @property
    def source(self) -> str:
        """What the run learns from, for people."""
        return self.corpus if self.text is None else self.text

    def to_dict(self) -> dict:
        return dataclasses.asdict(self)


TWELVE = ("12m", "modern-12m", "latent-12m", "linear-12m", "hybrid-12m")  # 12.3 million parameters each
LARGE_RECIPE = {"steps": 2000, "batch": 16, "peak": 6e-3, "lowest": 0.0, "matrix_peak": 0.012, "momentum": 0.98,
                "stories": 80_000}  # fmt: skip
# What each recipe was chosen from, and what each change gained: notebooks/runs/trials.md
RECIPES: dict[str, dict[str, dict]] = {
    "best": {
        "micro": {"steps": 1600, "batch": 2, "peak": 2e-2, "lowest": 0.0, "matrix_peak": 0.012},
        "small": {
            "steps": 3000,
            "batch": 8,
            "peak": 6e-3,
            "lowest": 0.0,
            "matrix_peak": 0.012,
            "momentum": 0.98,
            "validation_rows": 128,
        },
        # latent, linear and hybrid as 12m, so that they compare; nothing was searched.
        **dict.fromkeys(TWELVE, LARGE_RECIPE),
        # These two are for a GPU; a guess, not a search.
        "116m": {"steps": 5000, "batch": 16, "peak": 6e-4, "lowest": 0.0, "stories": 240_000},
        "gpt2": {"steps": 5000, "batch": 8, "peak": 6e-4, "lowest": 0.0},
    },
    "reference": {
        "micro": {"steps": 2000, "batch": 2, "peak": 5e-3, "lowest": 5e-4},
        "small": {"steps": 4500, "batch": 4, "peak": 3e-3, "lowest": 1e-4, "validation_rows": 128},
        **{name: {"steps": 5000, "batch": 8, "peak": 3e-4, "lowest": 6e-5} for name in TWELVE},
        "116m": {"steps": 5000, "batch": 16, "peak": 6e-4, "lowest": 6e-5, "stories": 240_000},
        "gpt2": {"steps": 5000, "batch": 8, "peak": 6e-4, "lowest": 6e-5},
    },
}
# Fine-tuning: whole, or by LoRA, whose factors are no matrices that Muon should make orthogonal.
TUNING = {
    "corpus": REQUESTS,
    "stories": 20_000,
    "batch": 8,
    "steps": 1600,
    "peak": 4e-3,
    "lowest": 0.0,
    "validation_rows": 128,
}
WHOLE, BY_LORA = {"optimiser": "muon", "matrix_peak": 8e-3, "momentum": 0.95}, {"optimiser": "adamw"}
REWARDED = {"corpus": "stories", "optimiser": "adamw", "batch": 32, "steps": 24, "peak": 8e-4, "lowest": 0.0,
            "validation_rows": 128}  # fmt: skip
BY_REWARD = {  # what is another: the rewards that are there to be hacked take some steps only
    "stories": {"credit": "facts", "batch": 48, "steps": 160, "peak": 1e-3, "pretraining": 0.3},
    "possible": {"credit": "fault", "batch": 64, "steps": 250, "temperature": 0.8, "pretraining": 0.1},
}
for _recipe in RECIPES["reference"].values():
    _recipe |= {"optimiser": "adamw", "schedule": "cosine"}

# What a story says again is learned sooner where it counts more (data/lookups.py); for `small` that was tried at half of Muon's
# rate only, and `modern-12m` ends lower at it.
ON_STORIES = {
    "small": {"lookups": 30.0, "matrix_peak": 0.006},
    **{name: {"lookups": 30.0} for name in TWELVE},
    "modern-12m": {"lookups": 30.0, "matrix_peak": 0.006},
}
# A text, unlike the stories, is short as a rule: it is read many times over, and learned by heart without dropout.
ON_TEXT = {"dropout": 0.1}
LARGE = (*TWELVE, "116m", "gpt2")
# What multiplies in bfloat16 where that is faster. (On a processor with AMX a step of `small` takes 0.7 of its time then, one of
# `micro` all of it.)
IN_BFLOAT16 = {"cuda": LARGE, "cpu": ("small", *LARGE)}
TENSOR_CORES = (8, 0)  # compute capability
# On the simulator a step takes some ten times as long, so a run there has fewer: still far below a bigram model's loss.
ON_SIMULATOR: dict[str, dict] = {"micro": {"steps": 1000, "validation_rows": 32}}


def settings(preset: str, device: str = "cpu", **changes) -> Settings:
    """The recipe of a preset, with fields of `Settings` changed; a change that is None is none. Raises ValueError."""
    if preset not in PRESETS:
        raise ValueError(f"There is no preset named {preset!r}. Choose one of: {', '.join(PRESETS)}.")
    given = {name: value for name, value in changes.items() if value is not None}
    known = {one.name for one in dataclasses.fields(Settings)}
    if unknown := sorted(given.keys() - known):
        raise ValueError(f"A run has no setting named {unknown[0]!r}; it has {', '.join(sorted(known))}.")
    if given.get("text") is not None:
        given["text"] = os.path.abspath(given["text"])  # a resumed run may start from another folder
    if (name := given.setdefault("recipe", "best")) not in RECIPES:
        raise ValueError(f"There is no recipe {name!r}: choose one of {', '.join(RECIPES)}.")
    recipe = dict(RECIPES[name][preset])
    if given.get("start") is not None:
        given["start"] = os.path.abspath(given["start"])
        if reward := given.get("reward"):
            recipe |= REWARDED | BY_REWARD.get(reward, {})
        else:
            recipe |= TUNING | (BY_LORA if given.get("lora") else WHOLE)
    elif name == "best" and given.get("text") is None and given.get("corpus", "stories") == "stories":
        recipe |= ON_STORIES.get(preset, {})
    if device == "simulator":
        recipe |= ON_SIMULATOR.get(preset, {})
    if "compute" not in given and preset in IN_BFLOAT16.get(device, ()) and not why_not_bfloat16(device):
        faster = devices.bfloat16_is_faster(device, GPTConfig.preset(preset).channels)
        recipe["compute"] = "bfloat16" if faster else "float32"
    if name == "best" and not given.get("start") and (given.get("text") or given.get("corpus") == "shakespeare"):
        recipe["model"] = ON_TEXT | given.pop("model", {})
    if given.get("compute") == "bfloat16" and (refusal := why_not_bfloat16(device)):
        raise ValueError(f"{refusal} Leave --compute out.")
    return Settings(preset, **{**recipe, **given})


def why_not_bfloat16(device: str) -> str:
    """A sentence that says why products on a device are float32; empty if they can multiply in bfloat16."""
    if device == "simulator" or devices.bfloat16_instruction(device):
        return ""
    gpu = nvidia.gpu() if device == "cuda" else None
    if gpu is not None and gpu.capability >= TENSOR_CORES:
        return ""
    name = f"The {gpu.name}" if gpu else f"The device {device}"
    can = (
        "processors with AMX, AVX-512 BF16 or NEON BF16"
        if device == "cpu"
        else "cards of compute capability 8.0 or newer"
    )
    return f"{name} computes in float32 here: bfloat16 is for {can} (and for the simulator)."
