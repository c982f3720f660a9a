"""A trained model as a web page: static files that compute in the browser, and a server for them on this machine.

export.py     a run becomes a folder: the page, the kernels it launches, the weights, the tokenizer
serve.py      `course serve`
page/         the page itself, plain JavaScript; tsconfig.json and webgpu.d.ts say how its types are checked
"""
