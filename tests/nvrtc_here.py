"""Whether NVIDIA's compiler is here: it needs no card."""

import pytest

from course_lib.cuda import nvrtc

needs_nvrtc = pytest.mark.skipif(
    not nvrtc.available(),
    reason="NVRTC is not installed: pip install cupy-cuda13x nvidia-cuda-nvrtc nvidia-cuda-runtime",
)
