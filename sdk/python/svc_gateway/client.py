"""The functions of the interface for one account."""

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, cast

from .contract import (
    REASON_IS_RETRYABLE,
    OpenidTokenResponse,
    SessionResponseSession,
    StorefrontRequest,
    StorefrontResponse,
    TokenResponse,
    UserinfoResponse,
    WebhookEvent,
)
from .errors import (
    Answer,
    ArgumentError,
    AuthorizationError,
    CallbackError,
    CodeUsedError,
    ConfigurationError,
    ConnectionFailed,
    error_of,
)
from .transport import Transport, http_send
from .webhooks import DEFAULT_TOLERANCE, Headers, verify_webhook


# White space of a file or a variable around a setting.
_AROUND = "\t\n\v\f\r "
_TEXT_SETTINGS = (
    "base_url",
    "client_id",
    "client_secret",
    "redirect_uri",
    "api_key",
    "webhook_secret",
    "integration_id",
    "integration_secret",
)


def _setting(name: str, value: object) -> Optional[str]:
    """A setting without white space around it; None where it is blank. The value may be secret: no error shows it."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ConfigurationError("malformed_setting", f"{name} is not a text")
    text = value.strip(_AROUND)
    if not re.fullmatch(r"[\x21-\x7e]*", text):
        raise ConfigurationError("malformed_setting", f"{name} has a character other than visible ASCII")
    return text or None


class Visit(NamedTuple):
    """Where the user is sent, and what is kept in the user's session until the redirect."""

    url: str
    state: str
    code_verifier: str


class Callback(NamedTuple):
    """What the user's redirect carries after a success. session_id is None where the redirect does not name it."""

    code: str
    session_id: Optional[str]


def _joined(scope: object) -> object:
    """Claims as one text. A text with spaces is accepted too."""
    is_list = isinstance(scope, (list, tuple, set, frozenset)) and all(isinstance(each, str) for each in scope)
    return " ".join(cast(Sequence[str], scope)) if is_list else scope


@dataclass(frozen=True)
class Client:
    """What support has sent you. Each function says which settings it needs; the others may be None.

    Settings are trimmed. ConfigurationError refuses a malformed one, and ArgumentError an argument that cannot be sent.
    Calls are repeated by interface 7.6: three attempts in all after a 5xx or no answer, none after a 4xx.
    Every error is an SvcError with code, retryable and doc_url.

    timeout: seconds that one attempt may wait for each part of the headers, and for the whole body.
    max_retry_after: a longer Retry-After is not waited for, and the error says it instead. Seconds.
    send and sleep: what sends a request and what waits, for tests and other HTTP clients.
    """

    base_url: str
    client_id: Optional[str] = None
    client_secret: Optional[str] = field(default=None, repr=False)
    redirect_uri: Optional[str] = None
    api_key: Optional[str] = field(default=None, repr=False)
    webhook_secret: Optional[str] = field(default=None, repr=False)
    integration_id: Optional[str] = None
    integration_secret: Optional[str] = field(default=None, repr=False)
    timeout: float = 10.0
    max_retry_after: float = 30.0
    send: Callable[[urllib.request.Request, float], Answer] = http_send
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        for name in _TEXT_SETTINGS:
            object.__setattr__(self, name, _setting(name, getattr(self, name)))
        if not re.fullmatch(r"https?://[^/?#@]+(/[^?#]*)?", self.base_url or ""):
            raise ConfigurationError("missing_setting", "base_url is not set, or is no http or https address")
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))

    @staticmethod
    def from_env(env: Optional[Mapping[str, str]] = None) -> "Client":
        """The client of the file that support sends, from the environment."""
        given = os.environ if env is None else env
        names = ["client_id", "client_secret", "redirect_uri", "api_key", "webhook_secret"]
        names += ["integration_id", "integration_secret"]
        settings: Dict[str, Any] = {name: given.get(f"SVC_{name.upper()}") for name in names}
        return Client(given.get("SVC_BASE_URL", ""), **settings)

    def authorization_url(
        self,
        scope: Sequence[str],
        state: Optional[str] = None,
        ui_locales: Optional[str] = None,
        client_reference_id: Optional[str] = None,
    ) -> Visit:
        """Where to send the user's browser. Keep state and code_verifier in the user's session.

        scope: claims that the user is asked to share. state: at least 16 characters; random unless given.
        client_reference_id: yours, by which support finds the session: 1 to 200 characters of A-Z, a-z, 0-9, _ . : and -.
        It holds no personal data.
        """
        state = state or secrets.token_urlsafe(24)
        verifier = secrets.token_urlsafe(32)
        digest = hashlib.sha256(verifier.encode()).digest()
        query = {
            "client_id": self._need("client_id"),
            "redirect_uri": self._need("redirect_uri"),
            "scope": self._argument("scope", _joined(scope)),
            "state": self._argument("state", state),
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "response_type": "code",
        }
        if ui_locales:
            query["ui_locales"] = self._argument("ui_locales", ui_locales)
        if client_reference_id:
            query["client_reference_id"] = self._argument("client_reference_id", client_reference_id)
        return Visit(f"{self.base_url}/verify/start?{urllib.parse.urlencode(query)}", state, verifier)

    def callback(self, request: str, state: Optional[str]) -> Callback:
        """Reads the redirect with which a user comes back: its address, path and query, or query.

        state: the one of this browser's visit, as it was kept in the user's session.

        Raises CallbackError, whose code is missing_state, state_mismatch, issuer_mismatch, repeated_parameter or
        missing_code, where it is not the answer to this browser's visit; AuthorizationError where the user was not
        verified.
        """
        doc_url = f"{self.base_url}/docs/flow#the-user-comes-back"
        address = request if isinstance(request, str) else ""
        text = address.partition("?")[2] if "?" in address else address
        query = urllib.parse.parse_qs(text.partition("#")[0], keep_blank_values=True)

        def refusal(code: str, why: str) -> CallbackError:
            return CallbackError(code, why, False, doc_url)

        def once(name: str) -> Optional[str]:
            values = query.get(name, [])
            if len(values) > 1:
                raise refusal("repeated_parameter", f"{name} is given twice")
            return (values[0] or None) if values else None

        if not state or not isinstance(state, str):
            raise refusal("missing_state", "this browser has begun no verification, or its session is over")
        if not hmac.compare_digest((once("state") or "").encode("utf-8", "replace"), state.encode("utf-8", "replace")):
            raise refusal("state_mismatch", "state is not the one of this browser")
        if once("iss") != self.base_url:
            raise refusal("issuer_mismatch", f"iss is not {self.base_url}")
        error = once("error")
        if error is not None:
            raise self._authorization_error(error, once("error_description") or "", once("session_id"))
        code = once("code")
        if code is None:
            raise refusal("missing_code", "there is neither a code nor an error")
        return Callback(code, once("session_id"))

    def exchange(self, code: str, code_verifier: str) -> TokenResponse | OpenidTokenResponse:
        """Exchanges a code for an access token: one billable event.

        A code is never charged twice, also by repeated attempts. Raises CodeUsedError where it was charged before.
        After a start with the scope openid, the result also has id_token, which it does not verify.
        """
        fields = {
            "grant_type": "authorization_code",
            "code": self._argument("code", code),
            **self._credentials(),
            "redirect_uri": self._need("redirect_uri"),
            "code_verifier": self._argument("code_verifier", code_verifier),
        }
        answer, uncertain = self._post("/api/oauth/token", fields)
        if answer.status == 400:
            told, text = answer.told()
            charge = re.search(r"\btxn_\w+", text)
            if told == "invalid_grant" and charge:
                used = CodeUsedError(answer, self.base_url)
                used.charge_id, used.answer_lost = charge.group(), uncertain
                raise used
        return cast(TokenResponse | OpenidTokenResponse, self._parsed(answer, access_token=str))

    def userinfo(self, access_token: str) -> UserinfoResponse:
        """The claims of an access token, as they were when it was issued."""
        token = self._argument("access_token", access_token)
        return cast(UserinfoResponse, self._get("/api/oauth/userinfo", token, sub=str, claims=dict))

    def revoke(self, access_token: str) -> None:
        """Ends an access token. One that is unknown, expired or revoked is no error."""
        fields = {"token": self._argument("access_token", access_token), **self._credentials()}
        answer, _ = self._post("/api/oauth/revoke", fields)
        if answer.status != 200:
            raise error_of(answer, self.base_url)
        if answer.body:
            raise self._malformed()

    def session(self, session_id: str) -> SessionResponseSession:
        """The status of a session, with the API key. Raises NotFoundError from 30 minutes after its start."""
        path = f"/api/verify/hvf-session/{urllib.parse.quote(self._argument('session_id', session_id), safe='')}"
        return cast(SessionResponseSession, self._get(path, self._need("api_key"), session=dict)["session"])

    def exchange_storefront(self, request: StorefrontRequest) -> StorefrontResponse:
        """Exchanges a code by a signed call of a storefront: one billable event.

        Every attempt sends the same bytes, and a code is never charged twice.
        verified is always true: read the claim that the sale depends on.
        """
        if not isinstance(request, dict):
            raise self._refused("request", "is no dict")
        try:
            body = json.dumps(request, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as cause:
            raise self._refused("request", "is no JSON") from cause

        def signed() -> urllib.request.Request:
            # Interface 5.4: over the bytes that are sent, at the time of the attempt.
            integration, timestamp = self._need("integration_id"), str(int(time.time()))
            message = f"{integration}.{timestamp}.".encode() + body
            mac = hmac.new(self._need("integration_secret").encode(), message, hashlib.sha256).hexdigest()
            headers = {
                "Content-Type": "application/json",
                "X-SVC-Integration-Id": integration,
                "X-SVC-Timestamp": timestamp,
                "X-SVC-Signature": f"sha256={mac}",
            }
            url = f"{self.base_url}/api/integrations/storefront/verify/exchange"
            return urllib.request.Request(url, body, headers)

        answer, _ = self._call(signed)
        return cast(StorefrontResponse, self._parsed(answer, verified=bool, claims=dict))

    def verify_webhook(
        self, body: bytes, headers: Headers, tolerance: Optional[float] = DEFAULT_TOLERANCE
    ) -> WebhookEvent:
        """verify_webhook with the secret of the settings."""
        return verify_webhook(body, headers, self.webhook_secret or "", tolerance, base_url=self.base_url)

    def _need(self, name: str) -> str:
        value = getattr(self, name)
        if not value:
            doc_url = f"{self.base_url}/docs/quickstart#what-is-in-the-file"
            raise ConfigurationError("missing_setting", f"{name} is not set", False, doc_url)
        return cast(str, value)

    def _argument(self, name: str, value: object) -> str:
        """An argument that is printable ASCII, as RFC 6749 has them all. No error shows its value."""
        if not isinstance(value, str):
            raise self._refused(name, "is not a text")
        if not re.fullmatch(r"[\x20-\x7e]*", value):
            raise self._refused(name, "has a character other than printable ASCII")
        return value

    def _refused(self, name: str, fault: str) -> ArgumentError:
        return ArgumentError("malformed_argument", f"{name} {fault}", False, f"{self.base_url}/docs/sdk-python")

    def _malformed(self) -> ConnectionFailed:
        text = "the body of the 200 is not the one of the interface"
        return ConnectionFailed("malformed_answer", text, False, f"{self.base_url}/docs/errors")

    def _credentials(self) -> Dict[str, str]:
        return {"client_id": self._need("client_id"), "client_secret": self._need("client_secret")}

    def _authorization_error(self, error: str, description: str, session_id: Optional[str]) -> AuthorizationError:
        found = re.match(r"([a-z_]+): ", description)
        reason = found.group(1) if found else None
        retryable = REASON_IS_RETRYABLE.get(reason or "", False)
        doc_url = f"{self.base_url}/docs/errors#redirects-back-to-the-partner"
        refused = AuthorizationError(error, description, retryable, doc_url)
        refused.reason, refused.session_id = reason, session_id
        return refused

    def _post(self, path: str, fields: Mapping[str, str]) -> "tuple[Answer, bool]":
        data = urllib.parse.urlencode(fields).encode()
        return self._call(lambda: urllib.request.Request(self.base_url + path, data))

    def _get(self, path: str, token: str, **members: type) -> Dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"}
        answer, _ = self._call(lambda: urllib.request.Request(self.base_url + path, headers=headers))
        return self._parsed(answer, **members)

    def _parsed(self, answer: Answer, **members: type) -> Dict[str, Any]:
        """The object of a success. members: those that a caller relies on, each with the type of its value."""
        if answer.status != 200:
            raise error_of(answer, self.base_url)
        try:
            parsed = json.loads(answer.body)
        except (ValueError, RecursionError) as cause:
            raise self._malformed() from cause
        # A proxy may answer 200 for a service that it cannot reach.
        if not isinstance(parsed, dict) or not all(isinstance(parsed.get(name), kind) for name, kind in members.items()):
            raise self._malformed()
        return parsed

    def _call(self, request: Callable[[], urllib.request.Request]) -> "tuple[Answer, bool]":
        transport = Transport(self.base_url, self.timeout, self.max_retry_after, self.send, self.sleep)
        return transport.call(request)
