"""The client of SVC Gateway: hosted identity verification by OAuth 2.0, and signed webhooks."""

from .client import Callback, Client, Visit
from .contract import WebhookEvent
from .errors import (
    AccessDeniedError,
    ApiError,
    ArgumentError,
    AuthenticationError,
    AuthorizationError,
    CallbackError,
    CodeUsedError,
    ConfigurationError,
    ConnectionFailed,
    InvalidRequestError,
    NotFoundError,
    NotVerifiedError,
    PaymentRequiredError,
    RateLimitError,
    ServiceError,
    SvcError,
    WebhookError,
)
from .webhooks import verify_webhook

__all__ = [
    "AccessDeniedError",
    "ApiError",
    "ArgumentError",
    "AuthenticationError",
    "AuthorizationError",
    "Callback",
    "CallbackError",
    "Client",
    "CodeUsedError",
    "ConfigurationError",
    "ConnectionFailed",
    "InvalidRequestError",
    "NotFoundError",
    "NotVerifiedError",
    "PaymentRequiredError",
    "RateLimitError",
    "ServiceError",
    "SvcError",
    "Visit",
    "WebhookError",
    "WebhookEvent",
    "verify_webhook",
]
