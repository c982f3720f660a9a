"""The number of parameters of a GPT, from four numbers."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the smallest model", 1, 1, 1, 1)
    yield Case("one layer, two channels", 1, 2, 3, 5)
    yield Case("a context of one token", 2, 4, 1, 3)
    yield Case("the model 12m", 6, 384, 256, 4096)
    yield Case("GPT-2, small, with a bias on its head", 12, 768, 1024, 50257)


def right(layers, channels, context, vocab):
    """The count of the library's own configuration."""
    from course_lib.model import GPTConfig

    config = GPTConfig(layers=layers, heads=1, channels=channels, context=context, vocab_size=vocab)
    return sum(count for _, count in config.parameter_table())


exercise = Exercise(
    title="Count the parameters",
    minutes=10,
    core=False,
    defines="count_parameters",
    cases=cases,
    reference=right,
    hints=(
        "One block first: two norms; attention has two matrices (C to 3 C, and C to C), the MLP two (C to 4 C, and 4 C to C).",
        "A matrix from A to B channels has A B weights and B biases. A norm has 2 C. How many of each are in a block?",
        "V C + T C + L (12 C C + 13 C) + 2 C + V: embedding, positions, blocks, the last norm, the bias of the head.",
    ),
    example='''def count_mlp_parameters(widths):
    """The same count for layers one after the other, as [4, 16, 16, 1]: weights and biases of each, from A to B channels."""
    return sum(a * b + b for a, b in zip(widths, widths[1:]))
''',
    wrong=[
        Wrong(Changed(("+ vocab  #", "+ vocab * channels + vocab  #")),
              "There are V C too many: the head uses the rows of the embedding. It is tied, and has only a bias of its own."),
        Wrong(Changed(("+ vocab  #", "+ vocab * channels  #")),
              "There are V C - V too many: the tied head has a bias and no matrix of its own; yours has a matrix and no bias."),
        Wrong(Changed((" + 2 * channels + vocab  #", " + 2 * channels  #")),
              "The bias of the head is missing: one number for each token of the vocabulary."),
        Wrong(Changed((" + 2 * channels + vocab  #", " + vocab  #")), "One norm is missing: the last one, after all blocks."),
        Wrong(Changed(("(vocab + context)", "vocab")), "T C are missing: each position has a row of its own."),
        Wrong(Changed(("13 * channels", "11 * channels"), ("+ 2 * channels", "+ channels")),
              "A norm has a weight and a bias for each channel. Half of them are missing."),
        Wrong("""def count_parameters(layers, channels, context, vocab):
    C = channels
    block = 2 * C + C * 3 * C + C * C + 2 * C + C * 4 * C + 4 * C * C
    return vocab * C + context * C + layers * block + 2 * C + vocab
""", "In each block 9 C are missing, as many as the biases of its four matrices: 3 C, C, 4 C and C."),
        Wrong(Changed(("12 * channels * channels + 13 * channels", "11 * channels * channels + 12 * channels")),
              "In each block C C + C are missing, as many as attention's matrix `out`, C to C, with its bias."),
        Wrong(Changed(("layers * block", "block")), "The layers are counted once. Each block has parameters of its own."),
        Wrong("""def count_parameters(layers, channels, context, vocab):
    C = channels
    return vocab * C + context * C + layers * 12 * C * C
""", "All biases and norms are missing: every matrix has a bias, every norm a weight and a bias."),
    ],
)  # fmt: skip
