"""The map of the arena: where each array of a training step lies, and for how long."""

from matplotlib.patches import Rectangle

from course_lib.devices.gpu.arena import Plan, rounded
from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import CYCLE, INK, figure, styled


@styled()
def arena(plan: Plan, title: str = "") -> Picture:
    """plan: of `course_lib.devices.gpu.arena`. Time goes right, one step for each array made or freed; addresses go up."""
    if not plan.lives:
        raise ValueError("arena() draws the plan of a step; this one has no arrays yet: run two training steps first.")
    moments = [life.begins for life in plan.lives] + [life.ends for life in plan.lives if life.ends < 1 << 59]
    end = max(moments) + 1
    unit, word = (1e6, "MB") if plan.bytes >= 1e6 else (1e3, "KB")
    made = figure(8.2, 4.6)
    axes = made.add_subplot()
    for number, (life, offset) in enumerate(zip(plan.lives, plan.offsets, strict=True)):
        width = min(life.ends, end) - life.begins
        axes.add_patch(
            Rectangle((life.begins, offset / unit), width, rounded(life.size) / unit,
                      facecolor=CYCLE[number % len(CYCLE)], edgecolor=INK, linewidth=0.4, alpha=0.75)
        )  # fmt: skip
    axes.set(xlim=(0, end), ylim=(0, plan.bytes / unit * 1.04), ylabel=f"offset in the block, {word}",
             xlabel="moments of a step: an array is made, or freed",
             title=title or "Each array of a training step: its offset, and its lifetime")  # fmt: skip
    axes.axhline(plan.bytes / unit, color=INK, linewidth=1.2, linestyle="--")
    saved = plan.apart / plan.bytes
    alt = (
        f"{len(plan.lives)} arrays of a training step lie in a block of {plan.bytes / unit:.1f} {word}; side by side they "
        f"would take {plan.apart / unit:.1f} {word}, {saved:.1f} times as much. At the fullest moment "
        f"{plan.least / unit:.1f} {word} are alive."
    )
    return picture(made, alt)
