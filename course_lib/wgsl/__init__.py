"""Run WGSL text on NumPy arrays, on any GPU that WebGPU finds; and watch it.

    scale = Shader(text, "scale")
    scale(4, x=x, y=y, n=1000)                      4 workgroups; arrays and numbers by the names that the text declares
    sanitize(scale, 4, x=x, y=y, n=1000).issues     what was touched outside an array, or by two threads at once

shader.py    text or file -> something that is launched
errors.py    what a compiler says, as sentences with the line
scan.py      where a text touches memory, waits and loops
sanitizer.py the same text with all of that counted and checked
report.py    what was seen

wgpu is imported at the first launch. Limits: arrays of float32, int32 and uint32; one bind group; a uniform struct of numbers.
"""

from .errors import NoAdapterError, ShaderError
from .report import Report
from .sanitizer import sanitize
from .shader import Shader

__all__ = ["NoAdapterError", "Report", "Shader", "ShaderError", "sanitize"]
