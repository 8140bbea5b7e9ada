<?php

declare(strict_types=1);

namespace Svc\Gateway;

/**
 * Every error that this library throws.
 */
class SvcError extends \RuntimeException
{
    /**
     * @param string $errorCode for programs. Of an answer, it is the code of the service's table of errors
     * @param bool $retryable whether the same call may succeed later without a change
     * @param string $docUrl the guide that explains the error; without the address of a service, a path of any service
     */
    public function __construct(
        public readonly string $errorCode,
        string $text,
        public readonly bool $retryable = false,
        public readonly string $docUrl = '',
        ?\Throwable $cause = null,
    ) {
        parent::__construct("$errorCode: $text", 0, $cause);
    }
}

/** A setting is missing or malformed. */
final class ConfigurationError extends SvcError
{
}

/** An argument of a call cannot be sent. The error code is malformed_argument. */
final class ArgumentError extends SvcError
{
}

/** The redirect is not the answer to a visit that this browser began. */
final class CallbackError extends SvcError
{
}

/** The redirect says that the user was not verified. The error code is its error, such as verification_failed. */
final class AuthorizationError extends SvcError
{
    /** What comes before the colon of error_description, such as document_rejected. */
    public ?string $reason = null;

    /** The session that failed, as its verification.session.failed names it. */
    public ?string $sessionId = null;
}

/** The delivery is not a webhook of the service, or it is too old. */
final class WebhookError extends SvcError
{
}

/** No answer arrived, or only a part of it. */
final class ConnectionError extends SvcError
{
}

/** The service answered with an error. */
class ApiError extends SvcError
{
    /** HTTP status. */
    public readonly int $status;
    /** X-Request-Id: name it when you ask support. */
    public readonly ?string $requestId;
    /** Seconds of Retry-After. */
    public readonly ?int $retryAfter;

    final public function __construct(Answer $answer, string $baseUrl)
    {
        [$code, $text] = $answer->told();
        $retryable = $answer->status === 429 || $answer->status >= 500;
        parent::__construct($code, $text, $retryable, $answer->docUrl() ?? "$baseUrl/docs/errors#$code");
        $this->status = $answer->status;
        $this->requestId = $answer->headers['x-request-id'] ?? null;
        $this->retryAfter = $answer->retryAfter();
    }

    /** The error of an answer that is not a success. */
    public static function of(Answer $answer, string $baseUrl): self
    {
        return match (true) {
            $answer->status === 400 => new InvalidRequestError($answer, $baseUrl),
            $answer->status === 401 => new AuthenticationError($answer, $baseUrl),
            $answer->status === 402 => new PaymentRequiredError($answer, $baseUrl),
            $answer->status === 403 => new AccessDeniedError($answer, $baseUrl),
            $answer->status === 404 => new NotFoundError($answer, $baseUrl),
            $answer->status === 422 => new NotVerifiedError($answer, $baseUrl),
            $answer->status === 429 => new RateLimitError($answer, $baseUrl),
            $answer->status >= 500 => new ServiceError($answer, $baseUrl),
            default => new self($answer, $baseUrl),
        };
    }
}

/** 400: a parameter, the code or the scope is wrong. */
class InvalidRequestError extends ApiError
{
}

/** 401: wrong credentials, signature or token. */
final class AuthenticationError extends ApiError
{
}

/** 402: the wallet holds less than the price. The code stays usable. */
final class PaymentRequiredError extends ApiError
{
}

/** 403: the enrollment is blocked, or the account is not active. */
final class AccessDeniedError extends ApiError
{
}

/** 404: no such session, code or shop. */
final class NotFoundError extends ApiError
{
}

/** 422: the user was verified, and the answer is no. */
final class NotVerifiedError extends ApiError
{
}

/** 429: a limit is exceeded. Send the same call again after $retryAfter seconds. */
final class RateLimitError extends ApiError
{
}

/** 5xx: the service could not answer, also after the retries. */
final class ServiceError extends ApiError
{
}

/** The code was exchanged before. It was charged once, and cannot be exchanged again. */
final class CodeUsedError extends InvalidRequestError
{
    /** txn_… */
    public string $chargeId = '';
    /**
     * Whether an attempt of this very call was without an answer. Then the charge is most likely its own: send the user
     * to the start again, and ask support for a refund.
     */
    public bool $answerLost = false;
}
