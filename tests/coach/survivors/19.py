"""Mutants of chapter 19 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "logged_means": {
        "log.append(float(mean)) -> log.append(mean)": "a NumPy number is as good as a Python one",
    },
    "ring_all_reduce": {
        "chunks = np.array_split(x.reshape(-1), communicator.size) -> chunks = np.array_split(x, communicator.size)": "chunks of whole rows are chunks too: the same sums, the same bytes",
    },
}
