"""Commands for models: train one, let it write and answer, give it away."""

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer


def train(
    preset: Annotated[
        str | None,
        typer.Option(
            help="micro, small, 12m, modern-12m, latent-12m, linear-12m, hybrid-12m or 116m.", show_default="small"
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, simulator, cuda or webgpu.")] = "auto",
    steps: Annotated[int | None, typer.Option(help="Updates of the weights.")] = None,
    batch: Annotated[int | None, typer.Option(help="Windows of one context in a batch.")] = None,
    accumulate: Annotated[int | None, typer.Option(help="Batches for one update.", show_default="1")] = None,
    corpus: Annotated[
        str | None, typer.Option(help="stories, tinystories or shakespeare.", show_default="stories")
    ] = None,
    text: Annotated[str | None, typer.Option(help="A UTF-8 file or a folder of them, instead of a corpus.")] = None,
    stories: Annotated[
        int | None, typer.Option(help="How many stories to train on.", show_default="of the recipe")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder of the run.", show_default="runs/PRESET, or START-chat")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in that folder.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the initial weights and of the batches.", show_default="0")
    ] = None,
    compute: Annotated[
        str | None,
        typer.Option(help="float32 or bfloat16, for products on cuda or cpu.", show_default="what is faster there"),
    ] = None,
    lookups: Annotated[
        float | None,
        typer.Option(
            help="How much a token counts at first that must be looked up in its story; 1 is as all others.",
            show_default="of the recipe",
        ),
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(help="best, or reference to compare with other projects.", show_default="best")
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="A run to begin from: fine-tune it to answer requests, or on --text.")
    ] = None,
    lora: Annotated[
        int | None, typer.Option(help="Rank of LoRA: train changes of that rank, not the weights.", show_default="0")
    ] = None,
    window: Annotated[
        int | None, typer.Option(help="With --start: tokens of a window, if fewer than the model's context.")
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(help="With --start: learn from a judge's word: stories, possible, form, length or word."),
    ] = None,
    mine: Annotated[bool, typer.Option("--mine", help="With your passed answers in place of ours.")] = False,
    processes: Annotated[
        int | None, typer.Option(help="Train with so many processes on this machine.", show_default="1")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            help="optimizer (ZeRO 1) or gradients (ZeRO 2): spread over the processes.", show_default="nothing"
        ),
    ] = None,
) -> None:
    """Train a model; Ctrl-C saves, and --resume goes on. What is not given comes from the preset's recipe."""
    from course_lib import tuning
    from course_lib.parallel import launch

    if out is None:
        kind = "rewarded" if reward else "tuned" if text else "chat"
        out = f"{start.rstrip('/')}-{kind}" if start else f"runs/{preset or 'small'}"
    settings = {
        "out": out, "resume": resume, "steps": steps, "batch": batch, "accumulate": accumulate, "corpus": corpus,
        "text": text, "stories": stories, "seed": seed, "compute": compute, "recipe": recipe, "device": device,
        "lookups": lookups,
    }  # fmt: skip
    many = launch.launched() if processes is None else processes
    if many != 1 and start is not None:
        raise ValueError("Fine-tuning takes one process: leave --processes out.")
    if many == 1 and shard is not None:
        raise ValueError("One process has nobody to shard with: give --processes 2 or more, or leave --shard out.")
    if launch.launched() > 1:
        _be_a_rank(preset, processes, shard, mine, settings)
        return
    if many != 1:
        resuming = f"course train --out {shlex.quote(out)} --resume --processes {many}"
        raise typer.Exit(launch.start(many, sys.argv[1:], resuming))
    if mine:
        print(_answers(device), flush=True)
    trained = tuning.train(preset, start=start, lora=lora, reward=reward, window=window, **settings)
    if trained.stopped:
        raise typer.Exit(128 + trained.stopped)  # as the shell has it, so that `train && sample` stops here


def _be_a_rank(preset: str | None, processes: int | None, shard: str | None, mine: bool, settings: dict) -> None:
    """What each process does that a launcher started; an error on one ends all."""
    from course_lib.parallel import job

    with job.rank(processes):
        answers = _answers(settings["device"]) if mine else None
        job.train(preset, shard, settings, answers)


def sample(
    run: Annotated[str, typer.Option(help="Folder of a run, or one checkpoint.")],
    prompt: Annotated[str, typer.Option(help="How the text begins.")] = "",
    tokens: Annotated[int, typer.Option(help="Length, at most.")] = 256,
    temperature: Annotated[float, typer.Option(help="0: the likeliest token; 1: the model's own probabilities.")] = 0.8,
    top_k: Annotated[int | None, typer.Option(help="Choose among the K likeliest tokens.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Choose among the likeliest that reach P together.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed writes the same text.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, simulator, cuda or webgpu.")] = "auto",
    mine: Annotated[bool, typer.Option("--mine", help="With your passed answers in place of ours.")] = False,
) -> None:
    """Let a trained model write; the text appears as it comes."""
    from course_lib import generation, training, whose
    from course_lib.serving.quantised import load

    device, _ = training.choose_device(device)
    if mine:
        _answers(device)
    tally = whose.Tally(device)
    model, tokenizer, _ = load(run, device)
    sys.stdout.write(prompt)
    for piece in generation.generate(model, tokenizer, prompt, tokens, temperature, top_k, top_p, seed):
        sys.stdout.write(piece)
        sys.stdout.flush()
    sys.stdout.write("\n")
    if mine:
        sys.stdout.flush()
        print("\n".join(whose.sentences(tally.record(0))), file=sys.stderr)  # the text alone goes into a pipe


def chat(
    run: Annotated[str, typer.Option(help="Folder of a fine-tuned run.")],
    tokens: Annotated[int, typer.Option(help="Length of an answer, at most.")] = 256,
    temperature: Annotated[float, typer.Option(help="0: the likeliest token; 1: the model's own probabilities.")] = 0.7,
    top_p: Annotated[float | None, typer.Option(help="Choose among the likeliest that reach P together.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed answers the same.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, simulator, cuda or webgpu.")] = "auto",
) -> None:
    """Ask a fine-tuned model, line by line; an empty line ends it."""
    from course_lib import training
    from course_lib.tuning import conversation

    conversation.hold(run, training.choose_device(device)[0], tokens, temperature, top_p, seed)


def import_(
    source: Annotated[str, typer.Argument(help="gpt2, which is downloaded; or a folder with a GPT-2's files.")],
    out: Annotated[str | None, typer.Option(help="Folder of the run.", show_default="runs/NAME")] = None,
) -> None:
    """Make a run of published weights, in the format of GPT-2."""
    from course_lib import gpt2

    out = out or f"runs/{Path(source).resolve().name}"
    gpt2.make_run(source, out, progress=True)
    print(f"Wrote {out}. To let it write: course sample --run {shlex.quote(out)} --prompt 'The capital of France is'")


def export(
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    run: Annotated[str, typer.Option(help="Folder of a run, or one checkpoint.")],
    to: Annotated[
        str | None,
        typer.Option(
            help="web: a page that computes in the browser; run: a folder for course sample, quantised.",
            show_default="web, with --quantise run",
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(help="Of a page's weights: float32, or float16 for half the size.", show_default="float32"),
    ] = None,
    quantise: Annotated[str | None, typer.Option(help="int8 or int4: a quarter or a seventh of the size.")] = None,
    mine: Annotated[bool, typer.Option("--mine", help="With your passed WGSL kernels in place of ours.")] = False,
) -> None:
    """Write a trained model as a web page, which needs no Python; or smaller, as a run that writes text."""
    if dtype and quantise:
        raise ValueError("Weights are of one kind: give --dtype or --quantise, and not both.")
    if (to or ("run" if quantise else "web")) == "run":
        _export_run(run, out, quantise, mine)
    else:
        _export_page(run, out, to or "web", quantise or dtype or "float32", mine)


def _export_run(run: str, out: Path, quantise: str | None, mine: bool) -> None:
    from tqdm import tqdm

    from course_lib.serving import quantised

    if quantise is None or mine:
        raise ValueError(
            "--to run is for a quantised model, which our own kernels compute with: give --quantise int8 or int4, and no --mine."
        )
    file = quantised.make_run(run, out, quantise, partial(tqdm, desc="Quantising", leave=False, disable=None))
    print(
        f"Wrote {file}, {file.stat().st_size / 1e6:,.1f} MB. To let it write: course sample --run {shlex.quote(str(out))} "
        "--prompt 'Once upon a time'"
    )


def _export_page(run: str, out: Path, to: str, dtype: str, mine: bool) -> None:
    from course_lib.web import export

    kernels = {}
    if mine:
        from course_lib.coach.swapping import shaders

        kernels, refused = shaders()
        print("\n".join([*refused, export.whose_kernels(kernels)]))
    written = export.export(run, out, to, dtype, kernels)
    size = sum(path.stat().st_size for path in written.rglob("*") if path.is_file())
    print(f"Wrote {written}, {size / 1e6:,.1f} MB. To open it: course serve {shlex.quote(str(written))}")


def serve(
    folder: Annotated[Path, typer.Argument(help="What `course export --to web` wrote.")],
    browser: Annotated[bool, typer.Option(help="Open a browser where there is one.")] = True,
) -> None:
    """Serve an exported page to this machine, and open it."""
    from course_lib.web import serve

    serve.serve(folder, browser)


def serve_api(
    run: Annotated[str, typer.Option(help="Folder of a run, or one checkpoint.")],
    host: Annotated[
        str, typer.Option(help="Address; one that others reach needs a token in COURSE_API_TOKEN.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any that is free.")] = 8000,
    batch: Annotated[int, typer.Option(help="Texts that are written at once.")] = 16,
    queue: Annotated[int, typer.Option(help="Requests that may wait; one more is told to come back later.")] = 64,
    pages: Annotated[
        int | None, typer.Option(help="Pages of 8 tokens in the cache.", show_default="what the texts can fill")
    ] = None,
    cache: Annotated[
        str, typer.Option(help="Keys and values as float, or as int8 in little more than a quarter of the memory.")
    ] = "float",
    draft: Annotated[
        str | None,
        typer.Option(
            help="What proposes tokens, which the model verifies: lookup (what followed in the same text), or a run of the same "
            "tokens.",
            show_default="none",
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, simulator, cuda or webgpu.")] = "auto",
    mine: Annotated[bool, typer.Option("--mine", help="With your passed answers in place of ours.")] = False,
) -> None:
    """Serve a trained model over HTTP, to OpenAI's clients; Ctrl-C stops it."""
    from course_lib import training
    from course_lib.paths import require

    require("serve", ("starlette", "uvicorn"), "Serving over HTTP")
    from course_lib.serving import server

    if mine:
        print(_answers(device), flush=True)
    server.serve(run, training.choose_device(device)[0], host, port, batch, queue, pages, cache, draft)


def speedrun(
    entry: Annotated[Path | None, typer.Argument(help="A file with a function train.", show_default="our best")] = None,
    new: Annotated[Path | None, typer.Option(help="Write our best entry to this file, to be changed.")] = None,
) -> None:
    """Come as near to the floor as possible in three minutes of training."""
    from course_lib.speedrun import compete

    if new is not None:
        print(f"Wrote {compete.write_copy(new)}. Change it, then: course speedrun {shlex.quote(str(new))}")
        return
    compete.compete(entry)


def _answers(device: str):
    """Put the learner's answers in their places for this command."""
    from course_lib import training
    from course_lib.coach.swapping import use

    return use(steps=0, device=training.choose_device(device)[0])
