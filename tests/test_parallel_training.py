"""Data parallel training on virtual ranks: the bits of one process, whatever is sharded; what is refused and what is found."""

import numpy as np
import pytest

from course_lib import checkpoint, metrics, parallel, progress, recipes
from course_lib.parallel import RankFailed
from course_lib.parallel.sharded import owners, state_bytes
from course_lib.parallel.training import ParallelRun, slices
from course_lib.run import Diverged, make_optimiser
from course_lib.training import train

TINY = {"layers": 2, "heads": 2, "channels": 16, "context": 32, "vocab_size": 300}
SETTINGS = {"model": TINY, "steps": 8, "batch": 2, "peak": 1e-2, "lowest": 1e-3, "device": "cpu"}


def alone(text, **given):
    return train("micro", text=text, **{**SETTINGS, "display": progress.Quiet(), **given})


def together(size, text, **given):
    """Each rank's Trained."""
    settings = {**SETTINGS, "text": text, "display": progress.Quiet(), **given}
    return parallel.virtual(size, lambda c: parallel.train("micro", communicator=c, **settings))


def same(a, b):
    a, b = a.model.state(), b.model.state()
    return all(a[name].tobytes() == b[name].tobytes() for name in a)


def losses(trained):
    return [(record["loss"], record["grad_norm"], record.get("val_loss")) for record in trained.records]


@pytest.mark.parametrize("size, accumulate", [(2, 2), (4, 4), (2, 4)])
@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_ranks_give_the_bits_of_one_process_that_accumulates(text, size, accumulate, optimiser):
    one = alone(text, accumulate=accumulate, optimiser=optimiser)
    many = together(size, text, accumulate=accumulate, optimiser=optimiser)
    assert losses(many[0]) == losses(one)
    assert all(same(rank, one) for rank in many)


def test_the_size_of_buckets_changes_no_bit(text):
    runs = [together(2, text, accumulate=2, bucket=size, steps=4)[0] for size in (1, 5_000, 10**9)]
    assert same(runs[0], runs[1]) and same(runs[0], runs[2])


@pytest.mark.parametrize("model", [{"dropout": 0.1}, {"positions": "learned", "bias": False}])
def test_other_models_give_the_same_bits_too(text, model):
    settings = {"model": TINY | model, "accumulate": 2, "steps": 4}
    assert same(together(2, text, **settings)[1], alone(text, **settings))


def test_a_batch_is_cut_where_there_are_fewer_batches_than_ranks(text):
    still = {"batch": 4, "recipe": "reference"}  # without dropout, whose masks are drawn for each part
    one, two, four = alone(text, **still), together(2, text, **still), together(4, text, **still)
    for many in (two, four):
        assert np.allclose(losses(many[0])[0][:2], losses(one)[0][:2], rtol=1e-6)
        assert np.allclose([row[0] for row in losses(many[0])], [row[0] for row in losses(one)], rtol=1e-5)
    settings = recipes.settings("micro", batch=6, accumulate=2)
    assert [slices(settings, n) for n in (1, 2, 4, 6, 12)] == [1, 1, 2, 3, 6]
    with pytest.raises(RankFailed, match="2 batches of 6 windows, which 8 processes cannot share evenly"):
        together(8, text, batch=6, accumulate=2)


def test_no_two_ranks_read_the_same_rows(text):
    def work(c):
        run = make_run(c, text, batch=4, accumulate=2)
        return [idx for idx, _ in run._batches()], run.corpus.train

    results = parallel.virtual(4, work)
    whole = np.concatenate([results[0][1].batch(part, 4)[0] for part in range(2)])
    rows = np.concatenate([batch for batches, _ in results for batch in batches])
    assert sorted(map(bytes, rows)) == sorted(map(bytes, whole))


def make_run(communicator, text, **changes):
    from course_lib import data
    from course_lib.model import GPT, GPTConfig

    shard = changes.pop("shard", None)
    settings = recipes.settings("micro", **{**SETTINGS, "text": text, **changes})
    corpus = data.prepare(text=text, vocab_size=300, context=32, seed=settings.seed)
    return ParallelRun(
        settings, corpus, GPT(GPTConfig.preset("micro", **TINY), seed=0), communicator=communicator, shard=shard
    )


def test_gradients_leave_while_the_backward_pass_still_runs(text):
    """When the last gradient, that of the embedding, is made, all other buckets are on their way."""

    def work(c):
        run = make_run(c, text, accumulate=2)
        buckets = run.buckets
        run.buckets = buckets = type(buckets)(c, list(run.model.named_parameters()), bucket=2000)
        seen = []
        embedding = run.model.tokens.weight.node
        finish = embedding.accumulated
        embedding.accumulated = lambda: (seen.append((buckets.started, len(buckets.buckets))), finish())
        run.step()
        return seen

    for [(started, of)] in parallel.virtual(2, work):
        assert started == of - 2 > 5  # behind the embedding's comes the head's bias, the first of all parameters


# Sharding


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_sharded_runs_have_the_losses_of_plain_ones(text, optimiser):
    plain = together(2, text, accumulate=2, optimiser=optimiser)
    first = together(2, text, accumulate=2, optimiser=optimiser, shard="optimizer")
    second = together(2, text, accumulate=2, optimiser=optimiser, shard="gradients")
    assert all(same(rank, plain[0]) for rank in first)
    assert losses(first[0]) == losses(plain[0])
    assert np.allclose([row[:2] for row in losses(second[0])], [row[:2] for row in losses(plain[0])], rtol=2e-6)


@pytest.mark.parametrize("preset", ["micro", "small", "12m", "modern-12m"])
def test_two_ranks_keep_at_most_0_55_of_the_moments_each(preset):
    from course_lib.model import GPT, GPTConfig
    from course_lib.parallel.sharded import Sharded

    model = GPT(GPTConfig.preset(preset))
    named, stacked = list(model.named_parameters()), model.stacked()
    for optimiser in ("adamw", "muon"):
        settings = recipes.settings(preset, optimiser=optimiser)
        whole = state_bytes(make_optimiser(settings, named, stacked))
        for size in (2, 4):
            each = parallel.virtual(size, lambda c, settings=settings: Sharded(settings, named, stacked, c, 1).bytes())
            assert sum(each) == whole
            largest = max(p.size for _, p in named) * 2 * 4  # no parameter is cut: micro's embedding is 0.56 of Muon's
            assert max(each) <= max(0.55 * whole, largest + 1024) if size == 2 else max(0.3 * whole, largest + 4096)


def test_a_rank_of_stage_2_keeps_the_gradients_of_its_own_parameters_alone(text):
    def work(c):
        run = make_run(c, text, accumulate=2, shard="gradients")
        kept = []
        step = run.optimiser.step
        run.optimiser.step = lambda rate: (
            kept.extend(p.node.gradient is not None for p in run.buckets.parameters),
            step(rate),
        )[1]
        run.step()
        return kept, run.owners

    for rank, (kept, of) in enumerate(parallel.virtual(2, work)):
        assert kept == [owner == rank for owner in of]


def test_owners_are_balanced():
    sizes = [(size, False) for size in (9, 1, 1, 1, 5, 3, 4)]
    found = owners(sizes, 2)
    loads = [sum(size for (size, _), owner in zip(sizes, found, strict=True) if owner == rank) for rank in (0, 1)]
    assert max(loads) <= 4 / 3 * 12 and set(found) == {0, 1}


# Checkpoints and other numbers of ranks


AGREE = ParallelRun.agree


def stopping(monkeypatch, after):
    """Runs on several ranks stop after this step, as if one of them had heard Ctrl-C."""

    def agreed(self, stop, save):
        return AGREE(self, self.done == after and self.communicator.rank == 1, save)

    monkeypatch.setattr(ParallelRun, "agree", agreed)


@pytest.mark.parametrize("shard", [None, "optimizer", "gradients"])
def test_a_run_goes_on_with_another_number_of_ranks(text, tmp_path, monkeypatch, shard):
    """2, then 4, then 1: where the batches divide among all of them, to the bit."""
    whole = alone(text, accumulate=4, steps=9)
    resumed = {"resume": True, "device": "cpu", "out": tmp_path / "run", "display": progress.Quiet()}
    stopping(monkeypatch, 3)
    together(2, text, accumulate=4, steps=9, out=tmp_path / "run", shard=shard)
    stopping(monkeypatch, 6)
    parallel.virtual(4, lambda c: parallel.train(communicator=c, shard=shard, **resumed))
    assert checkpoint.load(tmp_path / "run" / "last.safetensors").facts["step"] == 6
    last = train(**resumed)
    logged = [record["loss"] for record in metrics.read(tmp_path / "run")]
    expected = [record["loss"] for record in whole.records]
    assert len(logged) == 9 and np.allclose(logged, expected, rtol=1e-6 if shard == "gradients" else 0)
    assert shard == "gradients" or same(last, whole)


def test_a_run_whose_batches_are_cut_goes_on_with_the_same_losses(text, tmp_path, monkeypatch):
    still = {"batch": 4, "recipe": "reference"}  # without dropout, whose masks are drawn for each part
    whole = alone(text, **still)
    stopping(monkeypatch, 3)
    together(2, text, **still, out=tmp_path / "run")
    parallel.virtual(
        4,
        lambda c: parallel.train(
            communicator=c, resume=True, out=tmp_path / "run", device="cpu", display=progress.Quiet()
        ),
    )
    logged = [record["loss"] for record in metrics.read(tmp_path / "run")]
    assert np.allclose(logged, [record["loss"] for record in whole.records], rtol=1e-6)


def test_only_rank_0_writes_and_shows(text, tmp_path, capsys):
    together(2, text, accumulate=2, out=tmp_path / "run", display=progress.Terminal())
    said = capsys.readouterr().out
    assert said.count("parameters (2 layers") == 1 and "processes: 2, each on" in said
    assert len(metrics.read(tmp_path / "run")) == 8


# What is found


def test_a_rank_whose_parameters_differ_is_named(text):
    def work(c):
        run = make_run(c, text, accumulate=3)
        run.step()
        if c.rank == 2:
            run.model.tokens.weight.storage.array[5, 3] += 1e-6
        run.done = 20
        run.step()

    with pytest.raises(RankFailed, match="Before step 21 the parameters of rank 2 differ from those of the other"):
        parallel.virtual(3, work)


def test_ranks_that_read_the_same_data_are_named(text):
    def work(c):
        run = make_run(c, text, accumulate=3)
        run.own_parts = lambda: range(min(c.rank, 1), 3, 3)
        run.step()
        run.step()

    with pytest.raises(RankFailed, match="Ranks 1 and 2 read the same windows, in step 2 and before"):
        parallel.virtual(3, work)


def test_a_rank_whose_loss_is_not_finite_is_named(text):
    def work(c):
        run = make_run(c, text, accumulate=2)
        run.step()
        run.step()
        if c.rank == 1:
            run.model.norm.weight.storage.array[0] = np.nan
        run.step()

    with pytest.raises(RankFailed, match="The loss of rank 1 is nan at step 3") as caught:
        parallel.virtual(2, work)
    assert isinstance(caught.value.__cause__, Diverged)


def test_what_cannot_be_sharded_is_refused(text):
    with pytest.raises(RankFailed, match="nothing called 'weights' to shard: choose one of optimizer, gradients"):
        together(2, text, shard="weights")
    with pytest.raises(ValueError, match="4 ranks are too many to share this model's optimiser: it has only 1"):
        owners([(8, True), (8, False)], 4)
