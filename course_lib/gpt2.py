"""GPT-2's published weights in our own model: the same logits, the same tokens.

    model, tokenizer = gpt2.read("gpt2")                  by name, downloaded once (548 MB), or a folder that holds the files
    gpt2.make_run("gpt2", "runs/gpt2")                    as a run, for course sample, chat and tune

The format is that of the `transformers` library (Wolf et al. 2020), in which OpenAI's weights (Radford et al. 2019) are
published: `config.json`, `model.safetensors`, `vocab.json`, `merges.txt`. Its linear layers hold their weights as (inputs,
outputs), ours as (outputs, inputs); all else is a matter of names.

Limit: only the GPT-2 family, whole: one file of weights in float32 or float16, the activation `gelu_new`.
"""

import json
import re
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from course_lib import checkpoint
from course_lib.data import downloads
from course_lib.model import GPT, GPTConfig
from course_lib.run_folder import LAST
from course_lib.tokenizer import END_OF_TEXT, Tokenizer, TokenizerError, read_merges

FILES = "config.json", "vocab.json", "merges.txt", "model.safetensors"
NAMES = ("gpt2",)  # what can be downloaded by name

# theirs -> ours, in a block and outside of one; True where the matrix is to be transposed
IN_BLOCK = {
    "ln_1.weight": ("norm1.weight", False), "ln_1.bias": ("norm1.bias", False),
    "attn.c_attn.weight": ("attention.qkv.weight", True), "attn.c_attn.bias": ("attention.qkv.bias", False),
    "attn.c_proj.weight": ("attention.out.weight", True), "attn.c_proj.bias": ("attention.out.bias", False),
    "ln_2.weight": ("norm2.weight", False), "ln_2.bias": ("norm2.bias", False),
    "mlp.c_fc.weight": ("mlp.up.weight", True), "mlp.c_fc.bias": ("mlp.up.bias", False),
    "mlp.c_proj.weight": ("mlp.down.weight", True), "mlp.c_proj.bias": ("mlp.down.bias", False),
}  # fmt: skip
OUTSIDE = {
    "wte.weight": "tokens.weight",
    "wpe.weight": "positions.weight",
    "ln_f.weight": "norm.weight",
    "ln_f.bias": "norm.bias",
}
NOT_NEEDED = re.compile(r"h\.\d+\.attn\.(masked_)?bias|lm_head\.weight")  # causal masks; the token embedding again


class WeightsError(ValueError):
    """Files that are no GPT-2, or not all there, and what to do."""


def read(source: str | Path, device: str = "cpu", progress: bool = False) -> tuple[GPT, Tokenizer]:
    """The model and its tokenizer, from a folder or by a name of NAMES. Raises WeightsError, DownloadError or TokenizerError."""
    paths = find(source, progress)
    settings = _read_json(paths["config.json"])
    tokenizer = read_tokenizer(paths["merges.txt"], paths["vocab.json"])
    config = read_config(settings, paths["config.json"])
    model = GPT(config, device=device)
    model.load_state(read_weights(paths["model.safetensors"]))
    return model, tokenizer


def make_run(source: str | Path, out: str | Path, progress: bool = False) -> Path:
    """Write what `read` gives as the checkpoint of a run with no steps; the file."""
    path = Path(out) / LAST
    if path.exists():
        raise WeightsError(f"{path.parent} holds a run already. Give another --out, or remove that folder.")
    model, tokenizer = read(source, progress=progress)
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"step": 0, "best": None, "config": model.config.to_dict(), "tokenizer": tokenizer.to_json()}
    checkpoint.save(path, model.state(), {}, facts | {"imported": str(source), "settings": {"preset": "gpt2"}})
    return path


def find(source: str | Path, progress: bool = False) -> dict[str, Path]:
    """Where each of FILES lies."""
    folder = Path(source)
    if folder.is_dir():
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise WeightsError(
                f"{folder} lacks {', '.join(missing)}: GPT-2 is published as {', '.join(FILES)}, all in one folder."
            )
        return {name: folder / name for name in FILES}
    if source not in NAMES:
        raise WeightsError(
            f"There is no folder {source}, and no weights go by that name here. Give the folder that holds "
            f"{', '.join(FILES)}, or one of the names: {', '.join(NAMES)}."
        )
    return {name: downloads.fetch(f"{source}/{name}", progress) for name in FILES}


def read_config(settings: dict, path: Path) -> GPTConfig:
    """Our configuration for theirs."""
    activation = settings.get("activation_function", "gelu_new")
    if settings.get("model_type", "gpt2") != "gpt2" or activation not in ("gelu_new", "gelu_pytorch_tanh"):
        raise WeightsError(
            f"{path} describes a model of type {settings.get('model_type')!r} with the activation {activation!r}. Only "
            "GPT-2 and its kin can be imported: type 'gpt2', activation 'gelu_new'."
        )
    try:
        return GPTConfig(
            layers=settings["n_layer"], heads=settings["n_head"], channels=settings["n_embd"],
            context=settings.get("n_positions") or settings["n_ctx"], vocab_size=settings["vocab_size"],
            hidden=settings.get("n_inner") or 0, eps=settings.get("layer_norm_epsilon", 1e-5), head_bias=False,
        )  # fmt: skip
    except KeyError as error:
        raise WeightsError(
            f"{path} does not say {error}, which a GPT-2 has. Is it the file of another model?"
        ) from None


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Their arrays under our names, in our layout, as float32."""
    weights = {}
    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():
                plain = name.removeprefix("transformer.")
                if ours := _our_name(plain):
                    values = file.get_tensor(name).astype(np.float32)
                    weights[ours[0]] = np.ascontiguousarray(values.T) if ours[1] else values
                elif not NOT_NEEDED.fullmatch(plain):
                    raise WeightsError(f"{path} holds {name!r}, which no GPT-2 has. Is it the file of another model?")
    except (SafetensorError, TypeError, OSError) as error:  # TypeError: a dtype that NumPy lacks
        raise WeightsError(
            f"{path} could not be read ({error}): it is damaged, or its weights are neither float32 nor float16. Get it again."
        ) from None
    return weights


def _our_name(theirs: str) -> tuple[str, bool] | None:
    if theirs in OUTSIDE:
        return OUTSIDE[theirs], False
    block = re.fullmatch(r"h\.(\d+)\.(.+)", theirs)
    if block is None or block[2] not in IN_BLOCK:
        return None
    name, transposed = IN_BLOCK[block[2]]
    return f"blocks.{block[1]}.{name}", transposed


def read_tokenizer(merges: Path, vocabulary: Path) -> Tokenizer:
    """The tokenizer of `merges.txt`, numbered as `vocab.json` has it. Raises TokenizerError where the two do not agree."""
    lines = [
        line for line in merges.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#version")
    ]
    try:
        tokenizer = Tokenizer(read_merges(lines), (END_OF_TEXT,), byte_order="gpt2")
    except (KeyError, ValueError):
        raise TokenizerError(
            f"{merges} is no list of merges: a line must hold two tokens that the lines above it make."
        ) from None
    ours = {tokenizer.visible(token): token for token in range(tokenizer.vocab_size)}
    theirs = _read_json(vocabulary)
    if wrong := [name for name in {**theirs, **ours} if ours.get(name) != theirs.get(name)]:
        raise TokenizerError(
            f"By {merges.name} the token {wrong[0]!r} has the id {ours.get(wrong[0])}, by {vocabulary.name} "
            f"{theirs.get(wrong[0])}: the two files belong to different models, or to none of the GPT-2 family."
        )
    return tokenizer


def _read_json(path: Path) -> dict:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise WeightsError(f"{path} is damaged: it is not valid JSON ({error}). Get it again.") from None
    if not isinstance(content, dict):
        raise WeightsError(f"{path} holds a {type(content).__name__}, but must hold an object with names.")
    return content
