"""Types of requests, answers and events.

Generated from docs/openapi.json and the tables of contracts/:
UPDATE_DOCS=1 npx vitest run test/sdk/contract-types.test.ts
"""

from typing import Dict, List, Literal, TypedDict, Union

ClaimName = Literal[
    "age_16_plus",
    "age_18_plus",
    "age_21_plus",
    "identity_verified",
    "country",
    "assurance_level",
]


class ClaimsMap(TypedDict, total=False):
    """Claim identifiers to their values; null where the source could not tell."""

    age_16_plus: Union[bool, None]
    age_18_plus: Union[bool, None]
    age_21_plus: Union[bool, None]
    identity_verified: Union[bool, None]
    country: Union[str, None]
    assurance_level: Union[int, None]


class ClaimsMeta(TypedDict):
    """The first list is the disjoint union of the other three."""

    # Every identifier asked for, in that order.
    claims_requested: List[str]
    # Claims with a value.
    claims_resolved: List[ClaimName]
    # Claims whose value the source could not tell.
    claims_null: List[ClaimName]
    # Identifiers of unknown claims, and of claims whose values may not be returned.
    claims_ignored: List[str]


class TokenResponse(TypedDict):
    # JWT of RFC 9068.
    access_token: str
    token_type: Literal["Bearer"]
    # Seconds.
    expires_in: Literal[3600]
    # The known claim identifiers of the start, in that order.
    scope: str


class OpenidTokenResponse(TypedDict):
    # JWT of RFC 9068.
    access_token: str
    token_type: Literal["Bearer"]
    # Seconds.
    expires_in: Literal[3600]
    # `openid` and the known claim identifiers of the start, in that order.
    scope: str
    # JWT of OpenID Connect Core 2, signed with RS256 or ES256.
    id_token: str


class UserinfoResponse(TypedDict):
    # Stable pseudonym of the user for this partner.
    sub: str
    # When the token was issued.
    evaluated_at: str
    claims: ClaimsMap
    meta: ClaimsMeta


class SessionResponseSession(TypedDict):
    sessionId: str
    status: Literal["pending", "authenticated", "verified", "complete"]
    # Identifiers as asked for at the start.
    scopes: List[str]
    isTestMode: bool
    createdAt: str
    # 30 minutes later; from then on the session is not found.
    expiresAt: str


class SessionResponse(TypedDict):
    success: Literal[True]
    session: SessionResponseSession


class StorefrontRequest(TypedDict):
    # The verification code, svc_code_….
    code: str
    # Byte for byte the one of the start.
    redirect_uri: str
    # Host name of a shop of the integration.
    shop_domain: str
    # Whom the shop knows the user as; kept as a hash.
    customer_id: str


class StorefrontResponse(TypedDict):
    verified: Literal[True]
    claims: ClaimsMap
    # Age only, a document, or a document and a face.
    verification_level: Literal["basic", "document", "biometric"]
    enrollment_id: str


class SessionCompletedEvent(TypedDict):
    event: Literal["verification.session.completed"]
    # The same event may arrive more than once: deduplicate on this.
    event_id: str
    partner_id: str
    session_id: str
    user_id: str
    status: Literal["complete"]
    scopes: List[str]
    completed_at: str


class SessionFailedEvent(TypedDict):
    event: Literal["verification.session.failed"]
    # The same event may arrive more than once: deduplicate on this.
    event_id: str
    partner_id: str
    session_id: str
    failure_reason: Literal["abandoned", "consent_declined", "document_rejected", "source_error"]
    failed_at: str


class EnrollmentCreatedEvent(TypedDict):
    event: Literal["enrollment.created"]
    # The same event may arrive more than once: deduplicate on this.
    event_id: str
    partner_id: str
    enrollment_id: str
    user_id: str
    created_at: str


class VerifiedAccessEvent(TypedDict):
    event: Literal["vae.resolved"]
    # The same event may arrive more than once: deduplicate on this.
    event_id: str
    partner_id: str
    user_id: str
    claims: ClaimsMap
    resolved_at: str


OAuthErrorCode = Literal[
    "invalid_request",
    "invalid_grant",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_redirect_uri",
    "invalid_client",
    "payment_required",
    "access_denied",
    "client_inactive",
    "rate_limited",
    "server_error",
    "service_unavailable",
    "invalid_token",
]


class OAuthError(TypedDict):
    error: OAuthErrorCode
    # For developers: may change at any time.
    error_description: str


class GeneralError(TypedDict):
    success: Literal[False]
    error: str


# Tell them apart by event. A later version may send others: ignore what you do not know.
WebhookEvent = Union[SessionCompletedEvent, SessionFailedEvent, EnrollmentCreatedEvent, VerifiedAccessEvent]

# Whether a new session may succeed, by the reason of a redirect.
REASON_IS_RETRYABLE: Dict[str, bool] = {
    "abandoned": True,
    "consent_declined": False,
    "document_rejected": True,
    "source_error": True,
    "session_expired": True,
    "invalid_redirect_uri": False,
}
