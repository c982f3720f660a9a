"""Pictures: alt texts that state what the data say, colours that the colour-blind tell apart, layouts without collisions."""

import base64
import io
import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from course_lib import Tensor, notebook, plots, stories
from course_lib.autograd import topological_order
from course_lib.model import GPT, GPTConfig
from course_lib.plots import expressions, style
from course_lib.plots.curves import smoothed
from course_lib.plots.lines import place_labels
from course_lib.tokenizer import Tokenizer

# Linear RGB as seen without green-sensitive or without red-sensitive cones: Machado, Oliveira and Fernandes 2009, table 1.
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]


def lab(rgb: np.ndarray) -> np.ndarray:
    """Linear sRGB -> CIE L*a*b*, in which distances are about what eyes see."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ rgb / [0.9505, 1.0, 1.089], 1e-4))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def seen(color: str, matrix=None) -> np.ndarray:
    linear = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)])
    return lab(np.clip(linear if matrix is None else np.array(matrix) @ linear, 0, 1))


@pytest.mark.parametrize("matrix", [None, DEUTERANOPIA, PROTANOPIA], ids=["all cones", "deuteranopia", "protanopia"])
def test_any_two_line_colours_can_be_told_apart(matrix):
    for one, other in itertools.combinations(style.CYCLE, 2):
        assert np.linalg.norm(seen(one, matrix) - seen(other, matrix)) > 14, (one, other)


@pytest.mark.parametrize("color", [*style.CYCLE])
def test_lines_stand_out_from_the_paper(color):
    assert abs(seen(color)[0] - seen(style.PAPER)[0]) > 25


def test_the_colour_test_can_fail():
    red, green = "#D40000", "#5A7A00"
    assert np.linalg.norm(seen(red) - seen(green)) > 60
    assert np.linalg.norm(seen(red, DEUTERANOPIA) - seen(green, DEUTERANOPIA)) < 25


def test_a_picture_carries_its_alt_text_and_its_own_paper():
    shown = plots.parameter_bars(GPTConfig.preset("micro"))
    data, metadata = shown._repr_mimebundle_()
    assert metadata["image/png"]["alt"] == shown.alt
    assert f'alt="{shown.alt}"' in data["text/html"]
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("RGBA")
    assert image.getpixel((0, 0)) == (255, 255, 255, 255)
    assert (shown.width, shown.height) == tuple(round(side / 1.6) for side in image.size)


def test_an_alt_text_must_say_something():
    with pytest.raises(ValueError, match="at least 40"):
        plots.picture(style.figure(1, 1), "a plot")


def log(losses, validation=()):
    records = [{"step": step, "loss": loss} for step, loss in enumerate(losses, 1)]
    for step, loss in validation:
        records[step - 1]["val_loss"] = loss
    return records


def test_the_loss_curve_states_where_the_run_ends():
    shown = plots.loss_curve(log(np.linspace(6.2, 2.0, 400), [(200, 4.0), (400, 2.1)]), floor=1.9, bigram=2.8)
    assert "from 6.20 to 2.0" in shown.alt and "in 400 steps" in shown.alt
    assert "ends at 2.10, 0.20 above the floor of 1.90 and below the 2.80 of a bigram model" in shown.alt
    assert "not yet below" in plots.loss_curve(log([6.0, 5.0, 4.0]), bigram=2.8).alt


def test_an_empty_log_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="train for a few steps"):
        plots.loss_curve([])


def test_runs_are_compared_by_their_last_validation_loss():
    shown = plots.compare_losses({"slow": log([6, 5, 4], [(3, 4.5)]), "fast": log([6, 4, 2], [(3, 2.5)])}, floor=2.0)
    assert "slow 4.50, fast 2.50" in shown.alt and "lowest is that of fast, 0.50 above" in shown.alt


def test_a_run_that_leaps_away_can_be_cut_off_and_its_end_is_still_told():
    logs = {"wild": log([6, 900, 5]), "tame": log([6, 4, 2])}
    cut = plots.compare_losses(logs, top=10)
    assert "wild 5.0" in cut.alt and "tame 2.0" in cut.alt
    assert cut.png != plots.compare_losses(logs).png


@pytest.mark.parametrize("count", [1, 2, 39, 40, 1000])
def test_smoothing_keeps_a_straight_line_and_its_length(count):
    line = np.linspace(3.0, 1.0, count)
    smooth = smoothed(line)
    half = count // 40
    assert smooth.shape == line.shape
    np.testing.assert_allclose(smooth[: count - half], line[: count - half], atol=1e-12)


def expression():
    x = Tensor([2.0, -1.0], device="reference", requires_grad=True, name="x")
    w = Tensor([0.5, 3.0], device="reference", requires_grad=True, name="w")
    return x, w, ((x * w).sum().tanh() + x.sum()) * 2.0


def test_the_graph_tells_operations_leaves_value_and_gradients():
    _x, _w, result = expression()
    result.backward(keep_gradients=True)
    shown = plots.graph(result)
    assert "6 operations (multiply, sum, tanh, sum, add, multiply) on 2 leaves (x, w)" in shown.alt
    slope = 2 * (1 - np.tanh(-2.0) ** 2)
    assert f"w [{slope * 2:.3g}, {slope * -1:.3g}]" in shown.alt
    assert f"the value {result.item():.2f}" in shown.alt


def test_the_graph_points_forward_and_no_two_boxes_share_a_place():
    _, _, result = expression()
    nodes = topological_order(result.node)
    layers = expressions.arrange(nodes)
    depth = {slot: number for number, layer in enumerate(layers) for slot in layer}
    assert set(nodes) <= depth.keys()
    for node in nodes:
        assert all(depth[parent[0]] < depth[node] for parent in node.parents if parent is not None)
    tall = dict.fromkeys(depth, 0.5)
    places = expressions.positions(layers, [1.0] * len(layers), tall, 4.0)
    for layer in layers:
        heights = [places[slot][1] for slot in layer]
        assert all(above - below > 0.5 for above, below in itertools.pairwise(heights))


def test_the_graph_refuses_what_it_cannot_draw():
    with pytest.raises(ValueError, match="requires_grad=True"):
        plots.graph(Tensor([1.0], device="reference"))
    long = Tensor(1.0, device="reference", requires_grad=True)
    for _ in range(expressions.MOST):
        long = long + 1.0
    with pytest.raises(ValueError, match="too many"):
        plots.graph(long)


def test_a_whole_small_model_can_be_drawn():
    config = GPTConfig(layers=1, heads=1, channels=4, context=4, vocab_size=8)
    model = GPT(config, device="reference")
    loss = model.loss(np.array([[1, 2]]), np.array([[2, 3]]))
    assert "attention" in plots.graph(loss).alt


def test_the_attention_map_finds_the_strongest_look_and_the_mask():
    weights = [[1, 0, 0], [0.9, 0.1, 0], [0.2, 0.7, 0.1]]
    shown = plots.attention_map(weights, ["the", "cat", "sat"])
    assert "`cat` gives `the` the weight 0.90" in shown.alt and "No token attends to a later one" in shown.alt
    unmasked = plots.attention_map([weights, np.full((3, 3), 1 / 3)], ["the", "cat", "sat"])
    assert "Some tokens attend to later ones" in unmasked.alt and "in head 2" in unmasked.alt
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        plots.attention_map(weights, ["the", "cat"])


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train("the cat and the hat and the bat " * 20, 270)


def test_tokens_are_shown_whole_and_can_be_read_without_colours(tokenizer):
    text = "the cat <b>\né"
    page = plots.tokens(tokenizer, text)
    assert "<b>" not in page.html.replace("<br>", "")
    parts = page.text.split("\n", 1)[1].split("|")
    assert "".join(parts) == "the·cat·<b>⏎\\xc3\\xa9"
    assert f"{len(text)} characters become {len(parts)} tokens" in page.text


def test_neighbouring_tokens_differ_in_tint(tokenizer):
    page = plots.tokens(tokenizer, "abcdef")
    tints = [part[:7] for part in page.html.split("background:")[1:]]
    assert len(tints) == 6 and all(one != other for one, other in itertools.pairwise(tints))


def test_an_empty_text_has_no_tokens_to_show(tokenizer):
    with pytest.raises(ValueError, match="empty"):
        plots.tokens(tokenizer, "")


def test_the_parameter_table_adds_up():
    config = GPTConfig.preset("12m")
    page = plots.parameter_table(config)
    assert "12,322,816" in page.text and "12,322,816" in page.html
    assert "12,322,816" in plots.parameter_bars(config).alt


def test_the_map_highlights_each_part_and_says_which():
    blank = plots.model_map()
    alts = {blank.alt}
    for part, words in plots.PARTS.items():
        shown = plots.model_map(part)
        assert words in shown.alt and shown.png != blank.png
        alts.add(shown.alt)
    assert len(alts) == 1 + len(plots.PARTS)
    with pytest.raises(ValueError, match="no part named 'attentoin'"):
        plots.model_map("attentoin")


def test_a_judged_story_marks_its_fault():
    story = next(stories.write(seed=3, count=1))
    assert plots.judged(story).text.startswith("Possible")
    broken = story.replace(stories.sentences(story)[1], "Zzz went the moon.")
    page = plots.judged(broken)
    assert page.text.startswith("Not well-formed") and "<mark" in page.html and ">>>" in page.text
    assert "did not come to an end" in plots.judged(None).text


def test_told_text_breaks_between_words_however_it_comes(capsys):
    text = "One two three four five.\nSix seven  eight nine ten eleven twelve"
    notebook.tell(text, width=12)
    whole = capsys.readouterr().out
    notebook.tell(list(text), width=12)
    assert capsys.readouterr().out == whole
    assert all(len(line) <= 12 for line in whole.splitlines())
    assert whole.split() == text.split()
    assert "five.\nSix" in whole


def test_a_shown_kernel_leaves_out_what_an_exercise_asks_for(capsys):
    notebook.show_kernel("flash_attention_forward.cu", "flash_attention_forward", block="for (int start")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip().startswith("for (int start") and lines[-1] == "    }"
    text = "\n".join(lines)
    assert "// Your part: scores to weights" in text and "yours" not in text and "l[r] = l[r] * rescale" not in text
    with pytest.raises(ValueError, match=r"0 lines of sum_2_tree in sum\.cu begin with 'while'"):
        notebook.show_kernel("sum.cu", "sum_2_tree", block="while")


def test_labels_of_near_points_leave_room_for_one_another():
    near = {"b": (0.0, 0.0), "t": (0.01, 0.0), "far": (1.0, 1.0)}
    made = style.figure(7.6, 3.9)
    axes = made.add_subplot()
    axes.plot(*zip(*near.values(), strict=True), "o")
    place_labels(axes, near)
    made.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert [text.get_text() for text in axes.texts] == list(near)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
