"""OpenAI's own client against our server."""

import pytest

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def client(address):
    import openai

    return openai.OpenAI(base_url=f"{address[1]}/v1", api_key="none", max_retries=0)


def test_completions(client):
    assert [model.id for model in client.models.list()] == ["tiny"]
    asked = {"model": "tiny", "prompt": "Once upon", "max_tokens": 12, "temperature": 0.7, "seed": 5}
    whole = client.completions.create(**asked, n=2)
    assert [choice.index for choice in whole.choices] == [0, 1] and whole.usage.completion_tokens <= 24
    pieces = list(client.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    assert "".join(piece.choices[0].text for piece in pieces[:-1]) == whole.choices[0].text
    assert pieces[-2].choices[0].finish_reason == whole.choices[0].finish_reason
    assert pieces[-1].usage.prompt_tokens == whole.usage.prompt_tokens


def test_chat_completions(client):
    asked = {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Write."}],
        "max_completion_tokens": 7,
        "seed": 5,
    }
    whole = client.chat.completions.create(**asked)
    assert whole.choices[0].message.role == "assistant"
    pieces = list(client.chat.completions.create(**asked, stream=True))
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == whole.choices[0].message.content


def test_errors_are_the_clients_own(client):
    import openai

    with pytest.raises(openai.BadRequestError, match="temperature is 9; it must be from 0 to 2"):
        client.completions.create(model="tiny", prompt="a", temperature=9)
    with pytest.raises(openai.NotFoundError, match="There is nothing at"):
        client.embeddings.create(model="tiny", input="a")


def test_a_client_that_closes_a_stream_frees_its_pages(client, address):
    from tests.serving.test_server import wait_until

    with client.completions.create(model="tiny", prompt="Once", max_tokens=50, stream=True) as stream:
        next(iter(stream))
    engine = address[0].service.engine
    wait_until(lambda: engine.pool.held == 0 and not engine.busy)
