"""How many parameters LoRA trains in a GPT."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one layer, one channel, rank 1", 1, 1, 1)
    yield Case("one layer of 4 channels, rank 2", 1, 4, 2)
    yield Case("the model small at rank 8", 3, 96, 8)
    yield Case("the model 12m at rank 4", 6, 384, 4)
    yield Case("GPT-2 at rank 8", 12, 768, 8)


def trained(layers, channels, rank):
    shapes = [(3 * channels, channels), (channels, channels), (4 * channels, channels), (channels, 4 * channels)]
    return layers * sum(rank * (outputs + inputs) for outputs, inputs in shapes)


exercise = Exercise(
    title="How many are trained?",
    minutes=4,
    core=False,
    defines="lora_parameters",
    cases=cases,
    reference=trained,
    hints=(
        "A matrix (outputs, inputs) gets B (outputs, rank) and A (rank, inputs): rank * (outputs + inputs) numbers. For C to 3 C "
        "that is rank * 4 C. Add up the four matrices of a layer, times `layers`.",
    ),
    wrong=[
        Wrong("def lora_parameters(layers, channels, rank):\n    return layers * 12 * channels * channels\n",
              "These are the parameters of the frozen matrices. Of each, LoRA trains rank * (outputs + inputs)."),
        Wrong(Changed(("16 * rank * channels", "12 * rank * channels**2")),
              "You multiply the sides of each matrix. B has rank * outputs numbers and A rank * inputs, which are added up."),
        Wrong(Changed(("16 *", "9 *")),
              "You count B alone, rank * outputs. A has rank * inputs more."),
        Wrong(Changed(("16 *", "7 *")), "You count A alone, rank * inputs. B has rank * outputs more."),
        Wrong(Changed(("layers * ", "")), "This is one layer. Each layer has four matrices of its own."),
        Wrong(Changed(("16 *", "8 *")),
              "Half of them are missing: the MLP has two matrices, C to 4 C and 4 C to C, with 5 C each; attention has C to 3 C "
              "and C to C.", when=lambda seen: 2 * seen.got == seen.expected),
        Wrong(Changed(("rank * channels", "channels * rank**2")), "Each of the two matrices has the rank as one side, once."),
    ],
)  # fmt: skip
