"""Whole CUDA programs on a CPU, host code and all: `course cuda run prog.cu` and `course cuda check prog.cu`.

    text.py        the program through the compiler's own preprocessor: which lines are its own, which are of headers
    inline_ptx.py  `asm(...)` becomes C++, by ptx_instructions.py and ptx_memory.py
    launches.py    `kernel<<<grid, block>>>(arguments)` becomes a call; nothing else of the program is changed
    build.py       one library of it, fast or checked
    kernels.py     the kernels of such a file, for Kernel("prog.cu", "name")
    command.py     `course cuda`; pytest_plugin.py  the fixture `cuda_check`
    child.py       the process in which the program runs; it writes an account of what went wrong
    verdict.py     the account read: issues of kernels, errors of CUDA's functions, leaks
    formats.py     as text, JSON, SARIF and JUnit

Limits: one device; each call ends before it returns, so what two streams would do at once is done one after the other. Times are
this machine's. Not simulated: graphs, the driver's functions (cu...), dynamic parallelism, NVIDIA's libraries but for the few
functions of cuBLAS in include/cublas_v2.h, and libcu++ but for cuda::barrier and cuda::pipeline.
"""
