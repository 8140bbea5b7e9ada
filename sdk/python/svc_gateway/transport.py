"""Sends calls, and repeats them by interface 7.6."""

import http.client
import time
import urllib.request
from typing import Any, Callable, NamedTuple, Optional, cast

from .errors import Answer, ConnectionFailed

# Attempts in all, and seconds before the second one; they double.
_MOST_ATTEMPTS = 3
_FIRST_DELAY = 1.0


# The most bytes of an answer. Those of the service are far smaller.
_LARGEST_ANSWER = 1_048_576


class _Response(http.client.HTTPResponse):
    """Reads past answers such as 103 (Early Hints). The library reads past 100 alone."""

    def begin(self) -> None:
        super().begin()
        while 101 < self.status < 200:
            # With headers, `begin` does nothing.
            self.headers = None  # type: ignore
            super().begin()


class _HttpConnection(http.client.HTTPConnection):
    response_class = _Response


class _HttpsConnection(http.client.HTTPSConnection):
    response_class = _Response


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_HttpConnection, req)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        # The types do not know its constructor.
        return self.do_open(cast(Any, _HttpsConnection), req)


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Gives every answer as it is. So credentials do not follow a redirect to another place."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


_opener = urllib.request.build_opener(_HttpHandler, _HttpsHandler, _AnyStatus)


def http_send(request: urllib.request.Request, timeout: float) -> Answer:
    """Sends a request by urllib. Raises an error, such as OSError, where there is no whole answer."""
    with _opener.open(request, timeout=timeout) as response:
        # Urllib limits each wait alone, and not their sum.
        end = time.monotonic() + timeout
        length: Optional[int] = response.length
        body = b""
        while length is None or len(body) < length:
            part = response.read1(65_536)
            if not part:
                break
            body += part
            if time.monotonic() > end or len(body) > _LARGEST_ANSWER:
                raise OSError("the answer takes too long, or is too large")
        if length is not None and len(body) < length:
            raise http.client.IncompleteRead(body)
        return Answer(response.status, dict(response.headers.items()), body)


class Transport(NamedTuple):
    base_url: str
    timeout: float
    max_retry_after: float
    send: Callable[[urllib.request.Request, float], Answer]
    sleep: Callable[[float], None]

    def call(self, request: Callable[[], urllib.request.Request]) -> "tuple[Answer, bool]":
        """The last answer, and whether an attempt before it may have been carried out without this caller knowing.

        A 503 is repeated after its Retry-After; another 5xx, and no answer, after 1 s, then 2 s. A 4xx never is.
        Raises ConnectionFailed where the last attempt had no answer.
        """
        uncertain = False
        attempts = 0
        while True:
            attempts += 1
            answer: Optional[Answer] = None
            cause: Optional[Exception] = None
            # Not in the try, because a missing setting is no lost answer.
            prepared = request()
            try:
                answer = self.send(prepared, self.timeout)
            # urllib raises ValueError too, such as for a host name that no DNS can have.
            except Exception as lost:
                cause = lost
            delay = self._delay(answer, attempts)
            if delay is None and answer is not None:
                return answer, uncertain
            if delay is None:
                text = f"{self.base_url} did not answer in {attempts} attempts"
                doc_url = f"{self.base_url}/docs/limits-and-billing#retry"
                raise ConnectionFailed("no_answer", text, True, doc_url) from cause
            uncertain = True
            self.sleep(delay)

    def _delay(self, answer: Optional[Answer], attempts: int) -> Optional[float]:
        """Seconds to wait before the next attempt; None where there is none."""
        if attempts >= _MOST_ATTEMPTS or (answer is not None and answer.status < 500):
            return None
        told = answer.retry_after() if answer is not None and answer.status == 503 else None
        if told is not None:
            return told if told <= self.max_retry_after else None
        return _FIRST_DELAY * 2.0 ** (attempts - 1)
