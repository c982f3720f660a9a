"""Every picture of the course, and the only room that knows matplotlib.

    plots.loss_curve(log, floor, bigram)      plots.compare_losses({name: log})
    plots.graph(tensor)                       how a tensor was made, drawn from its tape
    plots.memory(view)                        a view, and the indices of the buffer that it reads
    plots.strides(view)                       the same, element after element, with the sum that gives each index
    plots.memories()                          the memories of a GPU: how large, how fast
    plots.attention_map(weights, tokens)      who looks at whom
    plots.attention_steps(q, k, v, tokens)    one head, query after query: scores, weights, weighted sum
    plots.attention_tiles(T, queries, keys)   which tiles of the scores a masked kernel computes
    plots.flash_loop(queries, keys)           the loop of flash attention: what stays, what streams past, in which memory
    plots.tokens(tokenizer, text)             a text cut into tokens, as HTML
    plots.parameter_table(config)             where the parameters are, as HTML;  plots.parameter_bars: the same as a picture
    plots.judged(text)                        a sampled story and its first fault, as HTML
    plots.model_map(highlight="attention")    the picture of the model that each chapter comes back to
    plots.shape_map(config, batch)            the shape of what each step of a model makes
    plots.lines(x, {name: values}, finding)   curves over numbers
    plots.slope(function, at, steps)          lines through a point of a curve that approach its tangent
    plots.chain(values, steps)                a chain of operations: values go right, gradients come back
    plots.thread_map(kernel, grid, block, args)  which thread of a kernel touches which element
    plots.sectors(...), plots.banks(...)      a warp's addresses on 32-byte sectors, and on the banks of shared memory
    plots.play(kernel, grid, block, args)     a small launch to step through, with its threads, memory, barriers and races
    plots.row_times_column(a, b, i, j)        one number of a matrix product, with its terms
    plots.lane_map(rows, columns, lane)       which lane of a warp holds which element of a small matrix
    plots.product(M, N, K, rows, ...)         which numbers of A and B a part of C = A B needs
    plots.traffic({plan: [report]})           the bytes that kernels read and write
    plots.roofline({name: report.roofline()}) what kernels could reach on a machine
    plots.projection(x, gradient)             what normalising a row takes away from a gradient
    plots.exchange(values, "tree")            how threads bring their numbers together: one sum, or all prefix sums
    plots.state_steps(names, keys, values)    a memory that is a matrix, write after write, by two rules
    plots.arena(plan)                         where the arrays of a training step lie in one block, and for how long
    plots.ring(values)                        a ring all-reduce to step through
    plots.sliders(parts_of, choices, ...)     a stacked bar beside a limit, driven by a slider for each input
    plots.timeline({row: bars}, finding)      who works when
    plots.zero_stages(ranks)                  which shards of weights, gradients and AdamW's arrays each rank holds
    plots.split_mlp(ranks)                    an MLP cut into columns and rows
    plots.valley(loss, {name: points})        the way of an optimiser over a loss of two numbers
    plots.prompt_mask(tokenizer, idx, targets)  a row of fine-tuning: which targets are scored
    plots.low_rank(outputs, inputs, rank)     a frozen matrix beside its change of low rank
    plots.weight_grids(weights, {name: rounded})  weights of a row, and the grids that they were rounded to
    plots.estimators({name: (noise, bias)})   estimates of a gradient against the exact one
    plots.plot_frequencies({run: counts}, true)  how often each plot is told, by its true frequency
    plots.block_tables({text: (table, rows)}, ...)  which pages of a cache hold which text
    plots.cache_costs({name: (numbers, losses)})  what a smaller cache costs
    plots.accepted(target, draft, names)      what speculative decoding takes of a draft, and what it makes up for

Each returns something that shows itself when it stands last in a cell, with words that state what it shows.
"""

from course_lib.plots.arena import arena
from course_lib.plots.attention import attention_map
from course_lib.plots.attention_steps import attention_steps
from course_lib.plots.attention_tiles import attention_tiles
from course_lib.plots.chain import chain
from course_lib.plots.curves import compare_losses, loss_curve
from course_lib.plots.exchange import exchange
from course_lib.plots.expressions import graph
from course_lib.plots.flash_loop import flash_loop
from course_lib.plots.judged import judged
from course_lib.plots.kernels import banks, sectors, thread_map
from course_lib.plots.lane_map import lane_map
from course_lib.plots.lines import lines
from course_lib.plots.low_rank import low_rank
from course_lib.plots.memories import memories
from course_lib.plots.memory import memory
from course_lib.plots.model_map import PARTS, model_map
from course_lib.plots.parameters import parameter_bars, parameter_table
from course_lib.plots.picture import Page, Picture, picture
from course_lib.plots.play import play
from course_lib.plots.player import Player
from course_lib.plots.product import product
from course_lib.plots.projection import projection
from course_lib.plots.prompt_mask import prompt_mask
from course_lib.plots.rewards import estimators, plot_frequencies
from course_lib.plots.ring_steps import ring
from course_lib.plots.roofline import roofline
from course_lib.plots.row_times_column import row_times_column
from course_lib.plots.serving import accepted, block_tables, cache_costs
from course_lib.plots.shape_map import shape_map
from course_lib.plots.sharding import split_mlp, zero_stages
from course_lib.plots.sliders import sliders
from course_lib.plots.slopes import slope
from course_lib.plots.state_steps import state_steps
from course_lib.plots.strides import strides
from course_lib.plots.timeline import timeline
from course_lib.plots.token_colours import tokens
from course_lib.plots.traffic import traffic
from course_lib.plots.valley import valley
from course_lib.plots.weight_grids import weight_grids

__all__ = [
    "PARTS", "Page", "Picture", "Player", "accepted", "arena", "attention_map", "attention_steps", "attention_tiles",
    "banks", "block_tables", "cache_costs", "chain", "compare_losses", "estimators", "exchange", "flash_loop", "graph",
    "judged", "lane_map", "lines", "loss_curve", "low_rank", "memories", "memory", "model_map", "parameter_bars",
    "parameter_table", "picture", "play", "plot_frequencies", "product", "projection", "prompt_mask", "ring", "roofline",
    "row_times_column", "sectors", "shape_map", "sliders", "slope", "split_mlp", "state_steps", "strides", "thread_map",
    "timeline", "tokens", "traffic", "valley", "weight_grids", "zero_stages",
]  # fmt: skip
