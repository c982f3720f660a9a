"""`course prove`: twenty minutes on an NVIDIA card, one JSON and one page that say what our kernels do there.

    parts.py       the parts, how long each may take, and what their results mean
    runner.py      each part in a process of its own: one that fails or hangs is reported, and the others go on
    child.py       that process
    trajectory.py  ten steps of training on the card beside ten on the CPU
    counters.py    our counters beside those of Nsight Compute, where it is installed
    seal.py        SHA-256 over the sources and over the results
    page.py        the page: self-contained HTML, and a few lines to paste into an issue

Promises: what is done is kept, whatever comes after it, Ctrl-C or a crash. A part that was done for the same sources, card and
software is not done again, unless asked for. Nothing is sent anywhere.
Limits: one card, which nothing else should use meanwhile. The sums show that a file was not changed by accident; whoever wants to
forge one can.
"""
