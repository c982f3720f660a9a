"""Serving: a trained model made small, and many readers of it at once.

quantise.py         weights in 8 or 4 bits: codes, and the scales that they are multiplied by
quantised.py        a GPT that computes with them, and its file

pages.py            which page holds what: block tables, reference counts, copy on write, shared beginnings
paged_model.py      the model over a cache in pages, many texts in one pass
scheduling.py       who is next, and how many tokens each text computes in a step
texts.py            requests, and the texts that are written for them
engine.py           requests join and leave between steps
speculative.py      a cheap model drafts, the model verifies: several tokens in one pass, the same distribution
drafts.py           what can draft: n-grams of the training text, the text itself, a small model
service.py          an engine on a thread of its own, with a queue that has a limit
protocol.py         the requests and answers of OpenAI's completions and chat completions
job.py              one HTTP request, between the event loop and the engine
app.py server.py    the HTTP server, for one address
metrics.py          its counters, for Prometheus
"""
