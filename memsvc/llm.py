"""Any OpenAI-compatible endpoint, with an end to every call.

A client's own time limit does not end an answer that comes a byte at a time, and nothing in it bounds
how much comes: here one deadline lies round the whole call, retries included, and an answer is cut off
at a number of bytes. Redirects are not followed: they could take text and key to another host.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from memsvc.errors import ModelError

if TYPE_CHECKING:
    import openai

ANSWER_BYTES_MAX = 64 * 1024 * 1024
ATTEMPTS_MAX = 5
_RETRY_AFTER_MAX_SECONDS = 30.0
# Timeout, conflict, too early, rate limit, and what servers say when it is their fault.
_PASSING_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ADVICE = {
    401: "Check the API key.",
    403: "Check the API key and what it may do.",
    404: "Check the URL and the name of the model.",
    413: "Send less at once: lower semantic.batch or semantic.max_chars.",
    429: "The endpoint's limit is reached: wait, or send less.",
}


class Endpoint:
    """One endpoint. The client library is imported with the first call."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        timeout_seconds: float,
        answer_bytes_max: int = ANSWER_BYTES_MAX,
    ) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._answer_bytes_max = answer_bytes_max
        self._client: openai.AsyncOpenAI | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self._base_url!r})"

    async def embeddings(
        self, model: str, texts: Sequence[str], dimensions: int | None = None
    ) -> list[list[float]]:
        """Return one vector for each text, in their order.

        Rate limits, server errors and broken connections are tried again, with growing, uneven delays,
        as long as the deadline allows; a Retry-After is honoured up to 30 seconds.

        Raises:
            ModelError: the endpoint refused, could not be reached, or gave no proper answer in time.
        """
        arguments: dict[str, Any] = {
            "model": model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if dimensions:
            arguments["dimensions"] = dimensions
        return _vectors(await self._call("embeddings", arguments), len(texts), self._base_url)

    async def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _call(self, resource: str, arguments: dict[str, Any]) -> bytes:
        """Return the body of the answer."""
        import openai
        import stamina

        try:
            async with asyncio.timeout(self._timeout_seconds):
                async for attempt in stamina.retry_context(
                    on=_delay, attempts=ATTEMPTS_MAX, timeout=None, wait_initial=0.5, wait_max=8.0
                ):
                    with attempt:
                        return await self._receive(resource, arguments)
        except TimeoutError:
            raise ModelError(
                f"{self._base_url} did not answer within {self._timeout_seconds:g} s.",
                "Check that it is up, or raise the time limit.",
            ) from None
        except openai.APIStatusError as error:
            # What the endpoint says may repeat the text or the key: only the number is told.
            raise ModelError(
                f"{self._base_url} refused the call with status {error.status_code}.",
                _ADVICE.get(error.status_code, "See the endpoint's own log."),
            ) from None
        except openai.OpenAIError as error:
            raise ModelError(
                f"{self._base_url} cannot be reached: {type(error.__cause__ or error).__name__}.",
                "Check the URL, and that the server is up.",
            ) from None
        raise AssertionError("the last attempt returns or raises")

    async def _receive(self, resource: str, arguments: dict[str, Any]) -> bytes:
        import openai

        streaming = getattr(self._open(), resource).with_streaming_response
        received = bytearray()
        async with streaming.create(**arguments) as response:
            try:
                async for chunk in response.iter_bytes():
                    received += chunk
                    self._check_size(received)
            except ModelError:
                raise
            except Exception as error:
                # While the body comes, errors of the HTTP library pass through unwrapped.
                raise openai.APIConnectionError(request=response.http_request) from error
        return bytes(received)

    def _check_size(self, received: bytearray) -> None:
        if len(received) > self._answer_bytes_max:
            raise ModelError(
                f"{self._base_url} answered with more than {self._answer_bytes_max} bytes.",
                "Check the URL: this is no answer of a model.",
            )

    def _open(self) -> openai.AsyncOpenAI:
        if self._client is None:
            import openai

            self._client = openai.AsyncOpenAI(
                base_url=self._base_url,
                api_key=self._api_key or "none",
                max_retries=0,
                http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
            )
        return self._client


def _delay(error: Exception) -> bool | float:
    """Say whether to try again, and after how many seconds if the endpoint said so."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if error.status_code not in _PASSING_STATUS:
            return False
        wanted = error.response.headers.get("retry-after", "").strip()
        if wanted.isdigit():
            return min(float(wanted), _RETRY_AFTER_MAX_SECONDS)
        return True
    return isinstance(error, openai.APIConnectionError)


class _Item(msgspec.Struct):
    embedding: list[float | None] | str
    index: int


class _Answer(msgspec.Struct):
    data: list[_Item]


def _vectors(body: bytes, count: int, base_url: str) -> list[list[float]]:
    try:
        items = msgspec.json.decode(body, type=_Answer).data
        ordered = sorted(items, key=lambda item: item.index)
        if [item.index for item in ordered] != list(range(count)):
            raise ValueError("its embeddings are not numbered one for each text")
        return [_numbers(item.embedding) for item in ordered]
    except ValueError as error:
        raise ModelError(
            f"{base_url} gave no list of {count} embeddings: {_short(error)}.",
            "Check the URL and the model: it must speak OpenAI's embeddings API.",
        ) from None


def _numbers(embedding: list[float | None] | str) -> list[float]:
    if isinstance(embedding, str):
        import numpy as np

        data = base64.b64decode(embedding, validate=True)
        return [float(number) for number in np.frombuffer(data, dtype="<f4")]
    return [float("nan") if number is None else number for number in embedding]


def _short(error: Exception) -> str:
    return str(error)[:100]
