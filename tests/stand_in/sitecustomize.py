"""Python runs this as it starts, where this folder is on its path: from then on the machine has an NVIDIA card, of cardboard.

cupy/ beside it is the stand-in for CuPy. What is real: the whole Python code of the device `cuda`, its graphs, arenas and
launches. What is not: the card, NVRTC and the driver; kernels run on the simulator.
"""

from course_lib import nvidia

nvidia.gpu = lambda: nvidia.Gpu("Stand-in", (8, 0), (13, 0))
