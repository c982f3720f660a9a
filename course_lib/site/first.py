"""The pages that are no notebook: the first screen, free play, and what this browser keeps.

The first screen holds one sentence, a story, and a kernel with a race in it, which a button runs.
"""

from __future__ import annotations

import html

from course_lib import stories
from course_lib.paths import ROOT
from course_lib.site import chapters, staging
from course_lib.site.links import Links

# 64 threads are two warps: the second thread of a pair may read before the first has written. One line fixes it.
KERNEL = """\
__global__ void reverse(const float* x, float* y) {
    __shared__ float board[64];
    int i = threadIdx.x;
    board[i] = x[i];
    y[i] = board[63 - i];
}
"""
STORY = 6  # a seed of course_lib.stories

ADD = """\
__global__ void add(const float* x, const float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        z[i] = x[i] + y[i];
    }
}
"""
LAUNCH = """\
grid 4
block 32
x = float32 100: range
y = float32 100: 0.5
z = float32 100: empty
n = 100
"""


def index(links: Links, writing: bool) -> str:
    """The first screen, and the table of chapters under it. writing: the site has a trained model's page."""
    trees = [
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n"
        + "\n".join(f"notebooks/{row.stem}" for row in rows)
        + "\n```"
        for title, rows in chapters.parts().items()
    ]
    others = ["notebooks/maths", "notebooks/glossary", "exercises/index", "play", "storage", "licences"]
    trees.append("```{toctree}\n:hidden:\n:caption: Beside the chapters\n\n" + "\n".join(others) + "\n```")
    story = "".join(f"<p>{html.escape(line)}</p>" for line in next(iter(stories.write(STORY, 1))).splitlines())
    model = (
        '<p>A model that this course trains writes such stories: <a href="writing/index.html">let it write in your '
        "browser</a>.</p>"
        if writing
        else "<p>At the end of the course a model that you trained writes such stories.</p>"
    )
    screen = f"""
<p class="lead">Build a language model from a first GPU kernel up, and see each mistake named by its line: here, in this page,
with nothing installed.</p>
<div class="two">
<section aria-labelledby="try"><h2 id="try">This kernel is wrong. Run it.</h2>
<p>64 threads write numbers to shared memory, and each then reads one that another thread wrote, so that <code>y</code> becomes
<code>x</code> reversed. Press Run to see what is wrong, fix it, and run it again.</p>
<div class="exercise" data-first role="group" aria-label="A kernel in CUDA C++">
<div class="exercise-text">{staging.coloured(KERNEL, "cuda", "The kernel reverse")}</div></div>
<noscript><p>Running a kernel needs JavaScript. All pages can be read without.</p></noscript></section>
<section aria-labelledby="story"><h2 id="story">What it is for</h2><blockquote class="story">{story}</blockquote>{model}
<p><a class="go" href="notebooks/00_start_here.html">Start reading</a> or
<a href="notebooks/04_first_kernel.html">go to the first kernel</a></p></section>
</div>"""
    return (
        f"# From a first kernel to a language model\n\n{_raw(screen)}\n\n## The chapters\n\n{_table(links)}\n\n"
        + "\n\n".join(trees)
        + "\n"
    )


def play() -> str:
    """Any kernel, with a launch in a few lines."""
    return "# Free play\n\n" + _raw(f"""
<p>Any kernel in CUDA C++. Below it, the launch: the grid, the block, and one line for each parameter in their order.</p>
<div class="exercise" data-play role="group" aria-label="Free play">
<div class="exercise-text">{staging.coloured(ADD, "cuda", "The kernel")}</div></div>
<p><label for="launch">The launch</label></p>
<textarea id="launch" rows="7" spellcheck="false" autocomplete="off">{LAUNCH}</textarea>
<details><summary>How to write a launch</summary>
<pre tabindex="0">grid 4            blocks: 4, or 4 2, or 4 2 1
block 32 8        threads of a block, along x, y and z
shared 1024       bytes of dynamic shared memory, if the kernel uses any
x = float32 100   an array, zeros. Also 10x20; and float64 int32 uint32 int64 uint8 float16
x = float32 8: 1 2 3 4 5 6 7 8
x = float32 100: 0.5       each number 0.5
x = float32 100: range     0, 1, 2, ...
x = float32 100: random    from -1 to 1, always the same
x = float32 100: empty     not written yet: reading it is told
n = 100           a number</pre></details>
""") + "\n"  # fmt: skip


def storage() -> str:
    """What this browser keeps of the site and of the reader, with buttons that erase it."""
    return "# What your browser keeps\n\n" + _raw("""
<p>Nothing that you write here leaves your browser. There is no account, and no other site is asked for anything.</p>
<p>These pages are tested in Chromium and in Firefox, on Linux. In Safari nobody has tried them yet.</p>
<div data-storage><noscript><p>Without JavaScript nothing is kept.</p></noscript></div>
""") + "\n"  # fmt: skip


def exercises_index(stems: list[str]) -> str:
    """A page over the notebooks of exercises."""
    titles = {row.stem: f"{row.number} {row.title}" for rows in chapters.parts().values() for row in rows}
    tree = "\n".join(f"{titles.get(stem, stem)} <{stem}>" for stem in stems)
    return (
        "# Exercises\n\nThe longer exercises, chapter by chapter; the short ones stand in the lectures. Those in CUDA C++ are "
        "judged in this page; of those in WGSL your browser computes the values, where it has WebGPU. What you write is kept "
        "[in your browser](../storage.md), and can be taken along.\n\n"
        f"```{{toctree}}\n\n{tree}\n```\n"
    )


def _table(links: Links) -> str:
    """The section "The chapters" of README.md, where it has its home."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.split("## The chapters\n", 1)[1].split("\n## ", 1)[0]
    return links.rewrite(section.strip(), "README.md")


def _raw(content: str) -> str:
    return f"````{{raw}} html\n{content.strip()}\n````\n"
