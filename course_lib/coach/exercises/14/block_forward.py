"""One block, with each addition fused with the norm that reads the sum."""

import numpy as np

from course_lib.coach.compare import plain
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the first block: no branch yet", random.normal(size=(1, 1, 4)), None, {})
    yield Case("a branch arrives", random.normal(size=(1, 2, 4)), random.normal(size=(1, 2, 4)), {})
    yield Case("two texts", random.normal(size=(2, 3, 8)), random.normal(size=(2, 3, 8)), {})
    yield Case(
        "rotary positions (RoPE)", random.normal(size=(1, 4, 8)), random.normal(size=(1, 4, 8)), {"positions": "rope"}
    )
    yield Case("RMSNorm and SwiGLU", random.normal(size=(1, 3, 8)), random.normal(size=(1, 3, 8)),
               {"norm": "rmsnorm", "activation": "swiglu"})  # fmt: skip
    yield Case("with a cache", random.normal(size=(1, 3, 8)), None, {"cache": True})
    yield Case("with dropout", random.normal(size=(1, 3, 8)), random.normal(size=(1, 3, 8)), {"dropout": 0.5})


def call(answer, stream, branch, settings):
    """Build a block with weights of moderate size, run the answer as its forward; its result, and the entries in the cache."""
    from course_lib import Tensor, model, nn

    settings = dict(settings)
    cache = [] if settings.pop("cache", False) else None
    config = model.GPTConfig(layers=2, heads=2, channels=stream.shape[-1], context=8, vocab_size=8, **settings)
    made = {"rng": np.random.default_rng(7), "device": "cpu", "dtype": "float64"}
    block = model.Block(config, 0, nn.RandomBits("cpu", 3), **made)
    random = np.random.default_rng(11)
    block.load_state({name: random.normal(0.3, 0.7, value.shape) for name, value in block.state().items()})
    rotation = None
    if config.positions == "rope":
        rotation = tuple(table[: stream.shape[1]] for table in model.rope_tables(config, "cpu", "float64"))
    branch = None if branch is None else Tensor(branch, "float64")
    result = answer(block, Tensor(stream, "float64"), branch, rotation, cache)
    return (*result, len(cache)) if isinstance(result, tuple | list) and cache is not None else result


def same_sum(seen):
    """Whether the two parts have the right sum, though they are not the right parts."""
    got, expected = seen.got, seen.expected
    if not isinstance(got, tuple) or len(got) != len(expected):
        return False
    got, expected = ([plain(part) for part in parts[:2]] for parts in (got, expected))
    same = all(np.shape(part) == np.shape(want) for part, want in zip(got, expected, strict=True))
    exchanged = same and np.allclose(got[0], expected[1])
    return same and not exchanged and np.allclose(got[0] + got[1], expected[0] + expected[1])


exercise = Exercise(
    title="A block",
    minutes=15,
    core=False,
    defines="forward",
    target="course_lib.model.Block.forward",
    given="from course_lib import Tensor",
    cases=cases,
    results=("the stream", "the branch"),
    call=call,
    hints=(
        "Write the two lines of the lecture first: x + attend(norm(x)), then x + mlp(norm(x)). Where in them are the "
        "additions?",
        "self.norm2(branch, stream) does two things at once: it adds, and it normalises the sum. It returns (normalised, sum), "
        "in this order.",
        "x = self.norm1(stream) if there is no branch, else x, stream = self.norm1(branch, stream). Then branch = "
        "self.dropout1(self.attention(x, rotation, cache)); x, stream = self.norm2(branch, stream); return stream, "
        "self.dropout2(self.mlp(x)).",
    ),
    example='''def mlp_only_block(self, stream, branch):
    """A block without attention, in the same style: add the branch, and leave the next addition to the next block."""
    x, stream = self.norm2(branch, stream)
    return stream, self.mlp(x)
''',
    wrong=[
        Wrong("""def forward(self, stream, branch, rotation, cache):
    stream = stream + self.dropout1(self.attention(self.norm1(stream), rotation, cache))
    return stream, self.dropout2(self.mlp(self.norm2(stream)))
""", "The incoming branch is lost: it must be added to the stream before anything else."),
        Wrong(Changed(("self.norm1(branch, stream)", "self.norm1(branch), stream + branch")),
              "norm1 reads the branch alone. It must read the sum of the branch and the stream."),
        Wrong(Changed(("x, stream = self.norm2(branch, stream)", "x = self.norm2(branch)")),
              "norm2 reads the output of attention alone, and it is never added to the stream: norm2(branch, stream) returns "
              "both."),
        Wrong(Changed(("self.mlp(x)", "self.mlp(stream)")),
              "The MLP reads the stream itself. It must read the normalised stream, from norm2."),
        Wrong(Changed(("self.attention(x,", "self.attention(stream,")),
              "Attention reads the stream itself. It must read the normalised stream, from norm1."),
        Wrong(Changed(("(x, rotation, cache)", "(x, None, cache)")),
              "Attention does not get `rotation`, so it knows no positions."),
        Wrong(Changed(("(x, rotation, cache)", "(x, rotation, None)")),
              "Attention does not get `cache`, so no keys are cached."),
        Wrong(Changed(("self.dropout2(self.mlp(x))", "self.mlp(x)"),
                      ("self.dropout1(self.attention(x, rotation, cache))", "self.attention(x, rotation, cache)")),
              "Dropout is missing: self.dropout1 after attention, self.dropout2 after the MLP."),
        Wrong("""def forward(self, stream, branch, rotation, cache):
    x = stream if branch is None else stream + branch
    x = x + self.dropout1(self.attention(self.norm1(x), rotation, cache))
    x = x + self.dropout2(self.mlp(self.norm2(x)))
    return x, x * 0
""",
              "The two results have the right sum, but they must be the stream after attention, and the output of the MLP, not "
              "yet added to it.", when=same_sum),
        Wrong("""def forward(self, stream, branch, rotation, cache):
    x, stream = self.norm1(branch, stream)
    branch = self.dropout1(self.attention(x, rotation, cache))
    x, stream = self.norm2(branch, stream)
    return stream, self.dropout2(self.mlp(x))
""", "In the first block `branch` is None: then norm1 gets the stream alone, and returns one result.",
              when=lambda seen: seen.inputs[1:2] == (None,) and "NoneType" in seen.error),
    ],
)  # fmt: skip
