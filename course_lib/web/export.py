"""A trained model becomes a folder of static files: a page that computes with it in the browser, on WebGPU or the processor.

Promises: the page holds the same WGSL files that the device `webgpu` runs. The folder is put together aside and moved into place
file by file, what describes the others last; a folder that holds anything but such a page is left alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from course_lib import run, whose
from course_lib.cuda.source import KERNELS
from course_lib.serving import quantised

PAGE = Path(__file__).resolve().parent / "page"
FORMAT = "course page 1"
WEIGHTS, TOKENIZER, DESCRIPTION = "weights.safetensors", "tokenizer.json", "model.json"
DTYPES = ("float32", "float16", *quantised.FORMATS)
Kernels = Mapping[tuple[str, str], Path]  # (file, function) -> the text that goes in the place of kernels/`file`


class ExportError(RuntimeError):
    """A page that could not be written, and what to do about it."""


def export(
    source: str | Path, out: str | Path, to: str = "web", dtype: str = "float32", kernels: Kernels | None = None
) -> Path:
    """Write the model of a run, or of one checkpoint, as a web page into the folder `out`; returns it.

    dtype: of the weights in the file: "float32"; "float16" (half the size, each weight rounded to 11 bits); "int8" or "int4" (a
    quarter or a seventh, by serving/quantise.py).
    kernels: of the learner, in the place of ours where the page launches them.
    Raises ValueError for what does not exist, CheckpointError for a run without a model, ExportError for a folder that cannot
    take the page.
    """
    if to != "web":
        raise ValueError(f"A model can be exported to 'web', a page for the browser, and not to {to!r}.")
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}, but must be one of {', '.join(DTYPES)}.")
    out = Path(out)
    _check_target(out)
    model, tokenizer, facts = run.load(source)
    if tokenizer.byte_order != "value":
        raise ExportError(
            f"The model in {source} writes GPT-2's tokens, which the page does not read. It is for models trained here; let this "
            "one write with course sample."
        )
    try:
        model.config.needs_attention("The page")
    except ValueError as error:
        raise ExportError(f"{error} Let this one write with course sample.") from error
    if model.config.positions == "none":
        raise ExportError(
            "The page knows learned positions and RoPE; this model has none. Let it write with course sample."
        )
    weights = _weights(model.state(), dtype)
    aside = out.absolute().with_name(f".{out.absolute().name}.{os.getpid()}")
    try:
        aside.mkdir(parents=True)
        shutil.copytree(PAGE, aside, dirs_exist_ok=True)
        for name, text in kernel_files(kernels).items():
            (aside / "kernels" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(text, aside / "kernels" / name)
        save_file(weights, aside / WEIGHTS)
        shutil.copymode(aside / "index.html", aside / WEIGHTS)  # or only its owner could read it, and no web server
        tokenizer.save(aside / TOKENIZER)
        described = {
            "format": FORMAT,
            "config": model.config.to_dict(),
            "dtype": dtype,
            "facts": {
                "preset": facts["settings"]["preset"],
                "source": _told(facts["settings"]),
                "step": facts["step"],
                "best": facts["best"],
                "parameters": model.parameter_count(),
                "whose": _whose(facts, kernels),
            },
            "files": {name: _sums(aside / name) for name in (WEIGHTS, TOKENIZER)},
        }
        (aside / DESCRIPTION).write_text(json.dumps(described, indent=1), encoding="utf-8")
        _move(aside, out)
    except (OSError, SafetensorError) as error:
        size = sum(values.nbytes for values in weights.values())
        raise ExportError(
            f"The page {out} could not be written: {_reason(error)}. It takes {size / 1e6:,.1f} MB for the weights, and a "
            "little more."
        ) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return out


def kernel_files(kernels: Kernels | None = None) -> dict[str, Path]:
    """The WGSL files that the page's JavaScript names, and what they include: path below kernels/ -> the file with its text."""
    yours = {file: text for (file, _), text in launched(kernels or {}).items()}
    found, waiting = {}, sorted({file for file, _ in _launches()})
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = yours.get(name, KERNELS / name)
            text = found[name].read_text(encoding="utf-8")
            waiting += [f"include/{included}" for included in re.findall(r'^// include "(\w+\.wgsl)"$', text, re.M)]
    return found


def launched(kernels: Kernels) -> Kernels:
    """Those of these kernels that the page launches. A file is another's only where the page takes nothing else from it."""
    pairs = _launches()
    files = [file for file, _ in pairs]
    return {key: text for key, text in kernels.items() if key in pairs and files.count(key[0]) == 1}


def _launches() -> set[tuple[str, str]]:
    """File and function of each kernel that the page's JavaScript launches."""
    scripts = "".join(path.read_text(encoding="utf-8") for path in sorted(PAGE.glob("*.js")))
    return set(re.findall(r"\.kernel\('(\w+\.wgsl)', '(\w+)'", scripts))


def whose_kernels(kernels: Kernels) -> str:
    """Whose kernels compute in the page, where it computes on a GPU."""
    yours = sorted(name for _, name in launched(kernels))
    return (
        f"On a GPU the page runs kernels of yours: {', '.join(yours)}." if yours else "No kernel of the page is yours."
    )


def is_page(folder: Path) -> bool:
    """Whether a folder holds a page that `export` wrote."""
    try:
        return json.loads((folder / DESCRIPTION).read_text(encoding="utf-8")).get("format") == FORMAT
    except (OSError, ValueError, AttributeError):
        return False


def _check_target(out: Path) -> None:
    if out.is_dir() and any(out.iterdir()) and not is_page(out):
        raise ExportError(
            f"{out} already holds something that is no page of this course, and nothing of it was touched: give the name of "
            "a new folder."
        )
    if out.exists() and not out.is_dir():
        raise ExportError(f"{out} is a file: give the name of a new folder.")


def _weights(state: dict[str, np.ndarray], dtype: str) -> dict[str, np.ndarray]:
    """The arrays of the file, by name."""
    if dtype in quantised.FORMATS:
        try:
            return quantised.arrays(quantised.weights(state, dtype))
        except ValueError as error:
            raise ExportError(f"{error} Export with --dtype float32.") from None
    return {name: _rounded(name, values, dtype) for name, values in state.items()}


def _rounded(name: str, values: np.ndarray, dtype: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        rounded = np.ascontiguousarray(values, dtype)
    if not np.isfinite(rounded).all():
        raise ExportError(
            f"The weights {name} reach {np.abs(values).max():,.0f}, more than float16 holds (65,504): export "
            "with --dtype float32."
        )
    return rounded


def _whose(facts: dict, kernels: Kernels | None) -> str:
    """Whose code trained the model and computes in the page, for people; nothing where all is the course's own."""
    record = facts.get("whose")
    trained = whose.sentences(record, facts["step"])[-1:] if record else []
    return " ".join([*trained, *([whose_kernels(kernels)] if launched(kernels or {}) else [])])


def _told(settings: dict) -> str:
    """What the model learned from, for people who see the page: of a file its name alone, since paths are private."""
    return settings["corpus"] if settings["text"] is None else Path(settings["text"]).name


def _sums(path: Path) -> dict[str, int]:
    content = path.read_bytes()
    return {"size": len(content), "crc32": zlib.crc32(content)}


def _move(aside: Path, out: Path) -> None:
    """Each file of `aside` to its place in `out`, the description last: what is not of this page stays."""
    names = sorted(path.relative_to(aside) for path in aside.rglob("*") if path.is_file())
    for name in sorted(names, key=lambda name: name.name == DESCRIPTION):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(aside / name, out / name)


def _reason(error: Exception) -> str:
    number = re.search(r"os error (\d+)", str(error))  # safetensors hides the errno in its text
    return os.strerror(int(number[1])) if number else getattr(error, "strerror", None) or str(error)
