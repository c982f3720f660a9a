"""One small model that has learned something, its tokenizer, and a server of it on a free port of this machine."""

import socket
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from course_lib import optim, stories
from course_lib.model import GPT, GPTConfig
from course_lib.serving.engine import Engine
from course_lib.serving.service import Service
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import chat

CONTEXT, VOCABULARY, STEPS = 64, 320, 40


@pytest.fixture(scope="session")
def text() -> str:
    return "\n".join(stories.write(0, 60))


@pytest.fixture(scope="session")
def tokenizer(text) -> Tokenizer:
    return chat.with_turns(Tokenizer.train(text, VOCABULARY))


def train(text: str, tokenizer: Tokenizer) -> GPT:
    """After a few steps its next tokens are far from equally likely, so that rounding does not decide between them."""
    config = GPTConfig.preset("micro", context=CONTEXT, vocab_size=tokenizer.vocab_size)
    model = GPT(config, seed=0)
    optimiser = optim.AdamW(model.named_parameters())
    ids, random = np.array(tokenizer.encode(text)), np.random.default_rng(0)
    for _ in range(STEPS):
        starts = random.integers(0, len(ids) - CONTEXT - 1, 8)
        rows = ids[starts[:, None] + np.arange(CONTEXT + 1)]  # (B, T + 1)
        optimiser.zero_grad()
        model.loss(rows[:, :-1], rows[:, 1:]).backward()
        optimiser.step(3e-3)
    return model.eval()


@pytest.fixture(scope="session")
def model(text, tokenizer) -> GPT:
    return train(text, tokenizer)


@contextmanager
def served(model, tokenizer, queue=64, token=None, limits=None, **engine):
    """(server, address) of a server on this machine, until the block ends."""
    from course_lib.serving import app
    from course_lib.serving.server import configured

    with Service(Engine(model, tokenizer, **engine), queue) as service, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        hosts = None if token else app.HERE
        server = app.Server(service, tokenizer, "tiny", token, hosts, limits or app.LIMITS)
        running = configured(server, "127.0.0.1", 0)
        thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield server, f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            running.should_exit = running.force_exit = True
            thread.join(20)
            assert not thread.is_alive(), "the server did not stop"


@pytest.fixture(scope="session")
def address(model, tokenizer):
    """(server, address), shared by the tests that leave it as it was."""
    with served(model, tokenizer) as found:
        yield found
