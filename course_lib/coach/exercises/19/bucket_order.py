"""Buckets of gradients, in the order in which the backward pass fills them."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one layer", [("head", 3)], 2)
    yield Case("two layers, each a bucket", [("block", 3), ("head", 4)], 2)
    yield Case("two layers in one bucket", [("block", 3), ("head", 4)], 7)
    yield Case("the last bucket is not full", [("embedding", 1), ("block", 3), ("head", 4)], 7)
    yield Case("a large layer in the middle", [("a", 1), ("b", 9), ("c", 1), ("d", 2)], 4)
    sizes = random.integers(1, 9, 12).tolist()
    yield Case("twelve layers", [(f"layer {i}", size) for i, size in enumerate(sizes)], 12)


def buckets(layers, least):
    found, open_ = [], []
    for name, size in layers[::-1]:
        open_.append((name, size))
        if sum(size for _, size in open_) >= least:
            found.append([name for name, _ in open_])
            open_ = []
    return found + ([[name for name, _ in open_]] if open_ else [])


exercise = Exercise(
    title="Bucket order",
    minutes=4,
    core=False,
    defines="bucket_order",
    cases=cases,
    reference=buckets,
    hints=(
        "Loop over reversed(layers). Append the name, add the size; if that is `least` or more, append the list of names to "
        "the buckets and begin a new one, with 0 bytes. After the loop, do not forget an open one.",
    ),
    wrong=[
        Wrong(Changed(("reversed(layers)", "layers")),
              "This is the order of the forward pass. The backward pass begins at the last layer, so its gradients are "
              "ready first."),
        Wrong("""def bucket_order(layers, least):
    buckets, names, held = [], [], 0
    for name, size in layers:
        names.append(name)
        held += size
        if held >= least:
            buckets.append(names)
            names, held = [], 0
    return (buckets + [names] * bool(names))[::-1]
""", "You filled buckets in the forward pass's order and then reversed their order. They must be filled from the last "
              "layer on: the first bucket is full as soon as the backward pass has made enough bytes."),
        Wrong(Changed((" + [names] * bool(names)", "")), "The last bucket is lost if it is not full: these layers would "
                                                         "never be added up."),
        Wrong(Changed((" + [names] * bool(names)", " + [names]")),
              "If nothing is left after the last full bucket, there is no further bucket: yours ends with an empty one."),
        Wrong(Changed(("held >= least", "held > least")), "A bucket that holds exactly `least` bytes is closed."),
    ],
)  # fmt: skip
