<?php

// Generated from docs/openapi.json and the tables of contracts/: UPDATE_DOCS=1 npx vitest run test/sdk/contract-types.test.ts

declare(strict_types=1);

namespace Svc\Gateway;

/**
 * Types of requests, answers and events. Tell events apart by `event`; a later version may send others: ignore those.
 *
 * @phpstan-type ClaimName 'age_16_plus'|'age_18_plus'|'age_21_plus'|'identity_verified'|'country'|'assurance_level'
 * @phpstan-type ClaimsMap array{age_16_plus?: bool|null, age_18_plus?: bool|null, age_21_plus?: bool|null, identity_verified?: bool|null, country?: string|null, assurance_level?: int|null, ...}
 * @phpstan-type ClaimsMeta array{claims_requested: list<string>, claims_resolved: list<ClaimName>, claims_null: list<ClaimName>, claims_ignored: list<string>}
 * @phpstan-type TokenResponse array{access_token: string, token_type: 'Bearer', expires_in: 3600, scope: string}
 * @phpstan-type OpenidTokenResponse array{access_token: string, token_type: 'Bearer', expires_in: 3600, scope: string, id_token: string}
 * @phpstan-type UserinfoResponse array{sub: string, evaluated_at: string, claims: ClaimsMap, meta: ClaimsMeta}
 * @phpstan-type SessionResponse array{success: true, session: array{sessionId: string, status: 'pending'|'authenticated'|'verified'|'complete', scopes: list<string>, isTestMode: bool, createdAt: string, expiresAt: string}}
 * @phpstan-type StorefrontRequest array{code: string, redirect_uri: string, shop_domain: string, customer_id: string}
 * @phpstan-type StorefrontResponse array{verified: true, claims: ClaimsMap, verification_level: 'basic'|'document'|'biometric', enrollment_id: string}
 * @phpstan-type SessionCompletedEvent array{event: 'verification.session.completed', event_id: string, partner_id: string, session_id: string, user_id: string, status: 'complete', scopes: list<string>, completed_at: string}
 * @phpstan-type SessionFailedEvent array{event: 'verification.session.failed', event_id: string, partner_id: string, session_id: string, failure_reason: 'abandoned'|'consent_declined'|'document_rejected'|'source_error', failed_at: string}
 * @phpstan-type EnrollmentCreatedEvent array{event: 'enrollment.created', event_id: string, partner_id: string, enrollment_id: string, user_id: string, created_at: string}
 * @phpstan-type VerifiedAccessEvent array{event: 'vae.resolved', event_id: string, partner_id: string, user_id: string, claims: ClaimsMap, resolved_at: string}
 * @phpstan-type OAuthErrorCode 'invalid_request'|'invalid_grant'|'unsupported_grant_type'|'invalid_scope'|'invalid_redirect_uri'|'invalid_client'|'payment_required'|'access_denied'|'client_inactive'|'rate_limited'|'server_error'|'service_unavailable'|'invalid_token'
 * @phpstan-type OAuthError array{error: OAuthErrorCode, error_description: string}
 * @phpstan-type GeneralError array{success: false, error: string}
 * @phpstan-type WebhookEvent SessionCompletedEvent|SessionFailedEvent|EnrollmentCreatedEvent|VerifiedAccessEvent
 */
final class Contract
{
    /** Whether a new session may succeed, by the reason of a redirect. */
    public const REASON_IS_RETRYABLE = [
        'abandoned' => true,
        'consent_declined' => false,
        'document_rejected' => true,
        'source_error' => true,
        'session_expired' => true,
        'invalid_redirect_uri' => false,
    ];
}
