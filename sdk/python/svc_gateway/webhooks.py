"""Verifies webhooks: the signature of interface 5.5 over the raw body, and the time."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Dict, Mapping, NoReturn, Optional, Sequence, Union, cast

from .contract import WebhookEvent
from .errors import WebhookError

DEFAULT_TOLERANCE = 300.0
Headers = Mapping[str, Union[str, Sequence[str]]]


def verify_webhook(
    body: bytes,
    headers: Headers,
    secret: str,
    tolerance: Optional[float] = DEFAULT_TOLERANCE,
    *,
    now: Optional[float] = None,
    base_url: str = "",
) -> WebhookEvent:
    """Verifies a delivery, then parses it.

    The same event may arrive more than once: remember its event_id. A later version may send events of other names.

    body: the bytes as they arrived, before anything parsed them.
    headers: each name with its value, or with the list of its values.
    secret: as it was shown, whsec_ included.
    tolerance: seconds that webhook-timestamp may differ from now, which is this machine's clock unless given. None does
    not look at the time: a copied delivery is then accepted at any time.

    Raises WebhookError, whose code is secret_required, raw_body_required, missing_signature, invalid_signature,
    missing_timestamp, timestamp_out_of_tolerance or malformed_event: answer 401.
    """

    def refusal(code: str, text: str) -> WebhookError:
        return WebhookError(code, text, False, f"{base_url}/docs/webhooks#receive")

    # An empty key would let anyone sign.
    if not secret or not isinstance(secret, str):
        raise refusal("secret_required", "the signing secret, whsec_…, is not set")
    if not isinstance(body, (bytes, bytearray)):
        raise refusal("raw_body_required", "pass the bytes as they arrived, not what a framework parsed from them")
    raw = bytes(body)
    found = _by_name(headers)
    sent = found.get("x-svc-signature")
    if sent is None:
        raise refusal("missing_signature", "there is no X-SVC-Signature header")
    expected = "sha256=" + hmac.new(secret.encode("utf-8", "surrogatepass"), raw, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), sent.encode("utf-8", "surrogatepass")):
        text = "X-SVC-Signature does not fit the body: is this the raw body, and the present secret of this key?"
        raise refusal("invalid_signature", text)
    if tolerance is not None:
        timestamp = found.get("webhook-timestamp", "")
        if not re.fullmatch(r"[0-9]{1,12}", timestamp) or not _is_timestamp_signed(secret, found, raw):
            text = "webhook-id, webhook-timestamp and webhook-signature do not fit the body"
            raise refusal("missing_timestamp", text)
        off = abs((time.time() if now is None else now) - int(timestamp))
        if not off <= tolerance:
            text = f"it was sent {off:.0f} s from this machine's time"
            raise refusal("timestamp_out_of_tolerance", text)
    try:
        event = json.loads(raw.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        event = None
    is_event = isinstance(event, dict) and all(isinstance(event.get(name), str) for name in ("event", "event_id"))
    if not is_event:
        raise refusal("malformed_event", "the body is signed, and no event")
    return cast(WebhookEvent, event)


def _by_name(headers: Headers) -> Dict[str, str]:
    """Values by names in lower case. Those of a repeated header are one list (RFC 9110 5.3). The service sends none."""
    found: Dict[str, str] = {}
    for name, given in headers.items() if hasattr(headers, "items") else ():
        values = given if isinstance(given, (list, tuple)) else [given]
        # A value that is no text is none of the service's.
        values = [value for value in values if isinstance(value, str)]
        if not isinstance(name, str) or not values:
            continue
        key = name.lower()
        found[key] = ", ".join([found[key], *values] if key in found else values)
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _is_timestamp_signed(secret: str, headers: Mapping[str, str], raw: bytes) -> bool:
    """Standard Webhooks: one of the v1 signatures is over id.timestamp.body."""
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except (binascii.Error, ValueError):
        return False
    prefix = f"{headers.get('webhook-id')}.{headers.get('webhook-timestamp')}."
    message = prefix.encode("utf-8", "surrogatepass") + raw
    expected = b"v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest())
    parts = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, part.encode("utf-8", "surrogatepass")) for part in parts)
