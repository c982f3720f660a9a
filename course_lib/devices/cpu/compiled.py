"""The library of compiled loops: built once by `course_lib.native`, called through ctypes, which lets go of Python's lock."""

from __future__ import annotations

import ctypes
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from course_lib import native

FOLDER = Path(__file__).parent / "loops"
FLAGS = (
    "-O3",
    "-march=native",
    # Sums may be taken in another order, so that they vectorise. Infinities and NaN keep their meaning.
    *("-fassociative-math", "-fno-signed-zeros", "-freciprocal-math", "-fno-math-errno", "-fno-trapping-math"),
)
# Of each function the arguments: i int, u unsigned, l long, q int64, d double, p pointer.
SIGNATURES = {
    "set_threads": "i",
    "gemm": "iiillllppp",
    "gelu_forward": "ippl",
    "gelu_backward": "ipppl",
    "bias_gelu_forward": "ipppll",
    "bias_gelu_backward": "ipppppll",
    "swiglu_forward": "ippll",
    "swiglu_backward": "ipppll",
    "norm_forward": "ippppppppdll",
    "norm_backward": "ippppppppll",
    "column_sums": "ippll",
    "add_bias": "ippll",
    "softmax_forward": "ippllli",
    "softmax_backward": "ipppll",
    "cross_entropy_forward": "ippqppll",
    "cross_entropy_backward": "ippqppdll",
    "rope": "ipppplllli",
    "scatter_add": "ipppll",
    "dropout": "ipplddpu",
    "attention_forward": "iippppplllllli",
    "attention_backward": "iippppppppplllllli",
    "convolution_forward": "ipppllll",
    "convolution_backward": "ipppppllll",
    "recurrence_forward": "iipppppppppllll",
    "recurrence_backward": "iipppppppppppppppllll",
    "paged_attention": "ippppppllllll",
    "paged_attention_int8": "ippppppllllll",
    "product_bf16": "iippplll",
    "bf16_instruction": "",
    "linear_int8": "ippppplll",
    "linear_int4": "ipppppplll",
    "dequantise_int8": "ipppll",
    "dequantise_int4": "ippppll",
    "sum_of_squares": "ippl",
    "adamw_step": "ippppppldddddd",
    "copy_rows": "ppllllllllll",
}
TYPES = {
    "i": ctypes.c_int, "u": ctypes.c_uint32, "l": ctypes.c_long, "q": ctypes.c_int64, "d": ctypes.c_double,
    "p": ctypes.c_void_p,
}  # fmt: skip
RESULTS = {"sum_of_squares": ctypes.c_double, "bf16_instruction": ctypes.c_char_p}
WIDE = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}  # what the loops call `wide`


loops = SimpleNamespace()  # the C++ functions by name, once `load` has found them


def load(compiler: native.Compiler) -> bool:
    """Fill `loops`, compiling them if they are not in the cache yet. If that fails: a warning, and False."""
    try:
        library = native.load("cpu_loops", sorted(FOLDER.glob("*.cpp")), FLAGS, sorted(FOLDER.glob("*.h")), compiler)
    except (native.CompileError, OSError) as error:
        warnings.warn(
            f"The cpu device runs in plain NumPy, slower, since its loops could not be built. {error}", stacklevel=2
        )
        return False
    for name, letters in SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes = [TYPES[letter] for letter in letters]
        function.restype = RESULTS.get(name)
        setattr(loops, name, function)
    native.follow(loops.set_threads)
    return True


def pointers(*arrays) -> list[int]:
    """The address of each array, 0 for None; the arrays must be contiguous, for C++ asks no questions."""
    return [0 if array is None else address(array) for array in arrays]


def address(array) -> int:
    """Where the elements are. (array.ctypes.data says the same in three times the time.)"""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # read-only, empty, or with gaps
        if not array.flags.c_contiguous:
            raise ValueError(
                f"The cpu device computes on contiguous arrays; this one has shape {array.shape} and strides in bytes "
                f"{array.strides}. Make a copy with np.ascontiguousarray."
            ) from None
        return array.ctypes.data
