# %% [markdown]
# # 01 Tensors: exercises
#
# The lecture: [01 Tensors](../notebooks/01_tensors.ipynb).

# %% [markdown]
# ## Back from the index
#
# The other way round: an element of a matrix with `columns` columns has the index `index` in the buffer. In which row and which
# column does it stand? Return the two as a tuple: `row_and_column(6, 4)` is `(1, 2)`.


# %% exercise="row_and_column" lecture=true
def row_and_column(index, columns):
    # yours: the row and the column, as a tuple
    return index // columns, index % columns
    # end


# %% [markdown]
# ## The last row first
#
# A matrix lies in the buffer with this `shape`, `strides` and `offset`. Read it with its rows in reverse order, the last one
# first, and copy nothing: return the strides and the offset for that. `reversed_rows((3, 4), (4, 1), 0)` is `((-4, 1), 8)`.


# %% exercise="reversed_rows" lecture=true
def reversed_rows(shape, strides, offset):
    # yours: two strides in a tuple, and the new offset
    return (-strides[0], strides[1]), offset + (shape[0] - 1) * strides[0]
    # end


# %% [markdown]
# ## Repeat a column
#
# A column stands in the buffer, and from each number to the next it is `stride`. Show it as a matrix that repeats it to the
# right: a column of 5 and 6 becomes `[[5, 5, 5], [6, 6, 6]]`. Which two strides do that?


# %% exercise="repeat_column" lecture=true
def repeat_column(stride):
    # yours: two strides, as a tuple
    return stride, 0
    # end


# %% [markdown]
# ## A row times a column
#
# `a` and `b` are matrices as lists of lists, and they fit. Compute one element of their product, the one in row `i` and column
# `j`. With `a = [[1, 2], [3, 4]]` and `b = [[5, 6], [7, 8]]`, `product_element(a, b, 0, 1)` is 1 · 6 + 2 · 8 = 22.


# %% exercise="product_element" lecture=true
def product_element(a, b, i, j):
    # yours: row i of a times column j of b
    return sum(a[i][k] * b[k][j] for k in range(len(b)))
    # end


# %% [markdown]
# ## Find the fault: rows with mean 0
#
# Somebody wants to subtract from each row its own mean: a first step of the normalisation that each layer of the model does.
# `x` is a NumPy array `(..., rows, columns)`, a matrix or a stack of matrices; the rows lie along the last axis. For
# `[[1, 3], [10, 30]]` the result should be `[[-1, 1], [-10, 10]]`.
#
# It was tried on a square matrix, and no error came. Run the cell and look.


# %% exercise="centre_rows" lecture=true
def centre_rows(x):
    """x with the mean of each row subtracted, same shape."""
    # yours: fix the line below
    means = x.mean(axis=-1, keepdims=True)
    # instead
    # means = x.mean(axis=-1)
    # end
    return x - means


# %% [markdown]
# ## 1. In order, without gaps?
#
# A [reshape](../notebooks/glossary.md#reshape) is free if the elements lie in
# [row-major order](../notebooks/glossary.md#row-major) without gaps. The Tensor checks this before each operation. Shape and
# strides alone give the answer: `True` or `False`.
#
# `shape` and `strides` are tuples of the same length, perhaps `()`. `is_contiguous((2, 2), (2, 1))` is `True`, and with the
# strides `(1, 2)`, a transpose, it is `False`. Take care of axes of length 1: does the stride matter if no step is ever taken
# along the axis?

# %% exercise="is_contiguous"
# include course_lib/tensor/shapes.py is_contiguous: compare each stride with what it must be

# %% [markdown]
# ## 2. Repeat without copying
#
# A tensor of shape `shape` and with strides `strides` is to be [broadcast](../notebooks/glossary.md#broadcasting) to the larger
# shape `to`. No number is copied: an axis along which it is repeated gets the stride 0. Give the strides of the larger view,
# one for each axis of `to`.
#
# `broadcast_strides((2,), (1,), (2, 2))` is `(0, 1)`: a row, repeated twice. Shapes that do not fit, would have to shrink, or
# have more axes than `to` are refused with `raise ValueError(...)`. You may call `broadcast_shape(a, b)` of the lecture; it is
# there. `broadcast_to` of the Tensor will use your function.

# %% exercise="broadcast_strides"
# include course_lib/tensor/shapes.py broadcast_strides: refuse what does not fit; else give the strides

# %% [markdown]
# ## 3. Write a view out in order
#
# Some operations need their numbers in order. So write a view out: a new NumPy array of shape `shape`, whose element
# `(i, j, ...)` is that at index `offset + i * strides[0] + j * strides[1] + ...` of `x`, read as one row (`x.reshape(-1)`).
#
# `x` is a contiguous array, perhaps with axes of its own, and of any dtype; the result has the same dtype and shares no memory
# with `x`. There may be any number of axes, and a stride may be 0 or negative. For x = 1 2 3 4,
# `strided_copy(x, (2, 2), (1, 2))` is `[[1, 3], [2, 4]]`. `np` is NumPy. When a Tensor is transposed and then copied, your
# function will do it.


# %% exercise="strided_copy"
def strided_copy(x, shape, strides, offset=0):
    """A contiguous array of shape `shape`: element (i, j, ...) is x.reshape(-1)[offset + i * strides[0] + ...]."""
    # yours: find the index of each element in the row, and copy the elements
    places = np.array(offset)
    for length, stride in zip(shape, strides, strict=True):
        places = places[..., None] + np.arange(length) * stride  # one more axis: (...) -> (..., length)
    return x.reshape(-1)[places].reshape(shape)
    # end


# %% [markdown]
# ## 4. A stack of products (stretch)
#
# Two stacks of B matrices: `a` holds (B, N, K), `b` holds (B, K, M). Both are flat lists with three strides each: for a step
# in the stack, to the next row, to the next column. Multiply them pair by pair: the result is (B, N, M), as a flat list in
# row-major order. `sizes` is `(B, N, K, M)`; if K is 0, each element is 0.
#
# With `a = [1, 2, 3, 4]`, `b = [5, 6, 7, 8]`, the strides `(4, 2, 1)` for both and sizes `(1, 2, 2, 2)`, the result is
# `[19, 22, 43, 50]`. Because you read through strides, a transposed matrix costs no copy. And with 0 as its first stride, one
# weight matrix serves a whole stack. The kernels of Part II are given strides in just this way.


# %% exercise="batched_matmul"
def batched_matmul(a, a_strides, b, b_strides, sizes):
    """Flat list of the products of two stacks: (B, N, K) times (B, K, M) -> (B, N, M)."""
    # yours: four loops, and the indices that the strides give
    B, N, K, M = sizes
    products = []
    for s in range(B):
        for i in range(N):
            for j in range(M):
                total = 0.0
                for k in range(K):
                    x = a[s * a_strides[0] + i * a_strides[1] + k * a_strides[2]]
                    total += x * b[s * b_strides[0] + k * b_strides[1] + j * b_strides[2]]
                products.append(total)
    return products
    # end


# %% [markdown]
# ## 5. A sum over one axis (stretch)
#
# `numbers` is a flat list, the buffer of a contiguous tensor of shape `shape`. Sum it over one axis, and give the sums as a
# flat list in row-major order: for shape `(2, 3, 4)` and axis 1 these are 2 x 4 sums of 3 terms each.
#
# `sum_axis([1, 2, 3, 4], (2, 2), 0)` is `[4, 6]`. An axis may have length 0: then each sum is 0. A GPU does reductions in
# this way: each thread computes the index of its first term, and the stride from one term to the next.

# %% exercise="sum_axis"
import math


def sum_axis(numbers, shape, axis):
    """The sums over one axis of a contiguous tensor, as a flat list."""
    # yours: which numbers belong to one sum? Find their indices
    outer, length, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    sums = []
    for o in range(outer):
        for i in range(inner):
            sums.append(sum(numbers[(o * length + k) * inner + i] for k in range(length)))
    return sums
    # end


# %% [markdown]
# ## 6. Open challenge: a transpose that fetches little (stretch)
#
# Copy `x[i, j]` to `y[j, i]`, for all pairs, in an order of your choice: give a list of all pairs `(i, j)`, each once, for an
# `n` x `n` matrix. `transpose_order(2)` may be `[(0, 0), (0, 1), (1, 0), (1, 1)]`.
#
# The order decides how fast it is. Memory is not fetched number by number but in *lines* of 8 neighbours, and a small fast
# memory, the *cache*, keeps the last 6 lines that were used. Both `x` and `y` are row-major, and each begins with a new line.
# The verdict counts how often a line must be fetched for n = 32: row by row it is more than a thousand times. With an endless
# cache it would be 256. How near can you come? Your tries are remembered. Chapter 08a plays this game with tiles.


# %% exercise="transpose_order"
def transpose_order(n):
    """A list of all pairs (i, j) of an n x n matrix, in the order in which they are copied."""
    # yours: the order that you would try first
    order = []
    for i0 in range(0, n, 8):
        for j0 in range(0, n, 4):
            order += [(i, j) for i in range(i0, min(i0 + 8, n)) for j in range(j0, min(j0 + 4, n))]
    return order
    # end
