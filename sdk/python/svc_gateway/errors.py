"""Errors of the client. Every one is an SvcError."""

import json
import re
import time
from email.utils import parsedate_to_datetime
from typing import Dict, Mapping, Optional, Type


class SvcError(Exception):
    """Every error that this package raises.

    code: for programs. Of an answer, it is the code of the service's table of errors.
    retryable: whether the same call may succeed later without a change.
    doc_url: the guide that explains the error; without the address of a service, a path of any service.
    """

    def __init__(self, code: str, text: str, retryable: bool = False, doc_url: str = "") -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.retryable = retryable
        self.doc_url = doc_url


class ConfigurationError(SvcError):
    """A setting is missing or malformed."""


class ArgumentError(SvcError):
    """An argument of a call cannot be sent. code is malformed_argument."""


class CallbackError(SvcError):
    """The redirect is not the answer to a visit that this browser began."""


class AuthorizationError(SvcError):
    """The redirect says that the user was not verified. code is its error, such as verification_failed.

    reason: what comes before the colon of error_description, such as document_rejected.
    session_id: the session that failed, as its verification.session.failed names it.
    """

    reason: Optional[str] = None
    session_id: Optional[str] = None


class WebhookError(SvcError):
    """The delivery is not a webhook of the service, or it is too old."""


class ConnectionFailed(SvcError):
    """No answer arrived, or only a part of it."""


class ApiError(SvcError):
    """The service answered with an error.

    status: of HTTP. request_id: name it when you ask support. retry_after: seconds of Retry-After.
    """

    def __init__(self, answer: "Answer", base_url: str) -> None:
        code, text = answer.told()
        retryable = answer.status == 429 or answer.status >= 500
        super().__init__(code, text, retryable, answer.doc_url() or f"{base_url}/docs/errors#{code}")
        self.status = answer.status
        self.request_id = answer.headers.get("x-request-id")
        self.retry_after = answer.retry_after()


class InvalidRequestError(ApiError):
    """400: a parameter, the code or the scope is wrong."""


class AuthenticationError(ApiError):
    """401: wrong credentials, signature or token."""


class PaymentRequiredError(ApiError):
    """402: the wallet holds less than the price. The code stays usable."""


class AccessDeniedError(ApiError):
    """403: the enrollment is blocked, or the account is not active."""


class NotFoundError(ApiError):
    """404: no such session, code or shop."""


class NotVerifiedError(ApiError):
    """422: the user was verified, and the answer is no."""


class RateLimitError(ApiError):
    """429: a limit is exceeded. Send the same call again after retry_after seconds."""


class ServiceError(ApiError):
    """5xx: the service could not answer, also after the retries."""


class CodeUsedError(InvalidRequestError):
    """The code was exchanged before. It was charged once, and cannot be exchanged again.

    charge_id: txn_….
    answer_lost: an attempt of this very call was without an answer. Then the charge is most likely its own: send the
    user to the start again, and ask support for a refund.
    """

    charge_id: str = ""
    answer_lost: bool = False


_BY_STATUS: Dict[int, Type[ApiError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    402: PaymentRequiredError,
    403: AccessDeniedError,
    404: NotFoundError,
    422: NotVerifiedError,
    429: RateLimitError,
}


class Answer:
    """An answer with its whole body. Names of headers are in lower case."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body = body

    def told(self) -> "tuple[str, str]":
        """Code and text of an error. An OAuth body names its code; for the general format, X-SVC-Error does."""
        try:
            parsed = json.loads(self.body)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict) and isinstance(parsed.get("error"), str):
            text = parsed.get("error_description")
            if isinstance(text, str):
                return parsed["error"], text
            code = self.headers.get("x-svc-error")
            if code:
                return code, parsed["error"]
        return "unknown_answer", f"the answer has status {self.status} and is not one of the service"

    def doc_url(self) -> Optional[str]:
        """The address of the explanation that Link names. A code may have an entry for each format of errors."""
        named = re.search(r'<(https?:[^<>]*)>; *rel="help"', self.headers.get("link", ""))
        return named.group(1) if named else None

    def retry_after(self) -> Optional[float]:
        """Seconds of Retry-After: a number, or a date (RFC 9110 10.2.3)."""
        value = self.headers.get("retry-after", "").strip()
        if value.isascii() and value.isdigit():
            return float(value)
        if not re.fullmatch(r"[A-Z][a-z]{2}, .* GMT", value):
            return None
        try:
            date = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        return max(0.0, date.timestamp() - time.time())


def error_of(answer: Answer, base_url: str) -> ApiError:
    """The error of an answer that is not a success."""
    fallback = ServiceError if answer.status >= 500 else ApiError
    return _BY_STATUS.get(answer.status, fallback)(answer, base_url)
