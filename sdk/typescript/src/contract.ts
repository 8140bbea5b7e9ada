// Generated from docs/openapi.json and the tables of contracts/: UPDATE_DOCS=1 npx vitest run test/sdk/contract-types.test.ts

/** Identifiers of claims; there may be more of them in a later version. */
export type ClaimName =
  | 'age_16_plus'
  | 'age_18_plus'
  | 'age_21_plus'
  | 'identity_verified'
  | 'country'
  | 'assurance_level';

/** Claim identifiers to their values; null where the source could not tell. */
export interface ClaimsMap {
  age_16_plus?: boolean | null;
  age_18_plus?: boolean | null;
  age_21_plus?: boolean | null;
  identity_verified?: boolean | null;
  country?: string | null;
  assurance_level?: number | null;
  [name: string]: boolean | string | number | null | undefined;
}

/** The first list is the disjoint union of the other three. */
export interface ClaimsMeta {
  /** Every identifier asked for, in that order. */
  claims_requested: string[];
  /** Claims with a value. */
  claims_resolved: ClaimName[];
  /** Claims whose value the source could not tell. */
  claims_null: ClaimName[];
  /** Identifiers of unknown claims, and of claims whose values may not be returned. */
  claims_ignored: string[];
}

export interface TokenResponse {
  /** JWT of RFC 9068. */
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: 3600;
  /** The known claim identifiers of the start, in that order. */
  scope: string;
}

export interface OpenidTokenResponse {
  /** JWT of RFC 9068. */
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: 3600;
  /** `openid` and the known claim identifiers of the start, in that order. */
  scope: string;
  /** JWT of OpenID Connect Core 2, signed with RS256 or ES256. */
  id_token: string;
}

export interface UserinfoResponse {
  /** Stable pseudonym of the user for this partner. */
  sub: string;
  /** When the token was issued. */
  evaluated_at: string;
  claims: ClaimsMap;
  meta: ClaimsMeta;
}

export interface SessionResponse {
  success: true;
  session: {
    sessionId: string;
    status: 'pending' | 'authenticated' | 'verified' | 'complete';
    /** Identifiers as asked for at the start. */
    scopes: string[];
    isTestMode: boolean;
    createdAt: string;
    /** 30 minutes later; from then on the session is not found. */
    expiresAt: string;
  };
}

export interface StorefrontRequest {
  /** The verification code, svc_code_…. */
  code: string;
  /** Byte for byte the one of the start. */
  redirect_uri: string;
  /** Host name of a shop of the integration. */
  shop_domain: string;
  /** Whom the shop knows the user as; kept as a hash. */
  customer_id: string;
}

export interface StorefrontResponse {
  verified: true;
  claims: ClaimsMap;
  /** Age only, a document, or a document and a face. */
  verification_level: 'basic' | 'document' | 'biometric';
  enrollment_id: string;
}

export interface SessionCompletedEvent {
  event: 'verification.session.completed';
  /** The same event may arrive more than once: deduplicate on this. */
  event_id: string;
  partner_id: string;
  session_id: string;
  user_id: string;
  status: 'complete';
  scopes: string[];
  completed_at: string;
}

export interface SessionFailedEvent {
  event: 'verification.session.failed';
  /** The same event may arrive more than once: deduplicate on this. */
  event_id: string;
  partner_id: string;
  session_id: string;
  failure_reason: 'abandoned' | 'consent_declined' | 'document_rejected' | 'source_error';
  failed_at: string;
}

export interface EnrollmentCreatedEvent {
  event: 'enrollment.created';
  /** The same event may arrive more than once: deduplicate on this. */
  event_id: string;
  partner_id: string;
  enrollment_id: string;
  user_id: string;
  created_at: string;
}

export interface VerifiedAccessEvent {
  event: 'vae.resolved';
  /** The same event may arrive more than once: deduplicate on this. */
  event_id: string;
  partner_id: string;
  user_id: string;
  claims: ClaimsMap;
  resolved_at: string;
}

/** For programs: see the table of errors. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_redirect_uri'
  | 'invalid_client'
  | 'payment_required'
  | 'access_denied'
  | 'client_inactive'
  | 'rate_limited'
  | 'server_error'
  | 'service_unavailable'
  | 'invalid_token';

export interface OAuthError {
  error: OAuthErrorCode;
  /** For developers: may change at any time. */
  error_description: string;
}

export interface GeneralError {
  success: false;
  error: string;
}

/** Tell them apart by `event`. A later version may send others: ignore what you do not know. */
export type WebhookEvent =
  | SessionCompletedEvent
  | SessionFailedEvent
  | EnrollmentCreatedEvent
  | VerifiedAccessEvent;

/** The people of the sandbox: see docs/testing.md. */
export type Person =
  | 'adult'
  | 'new-adult'
  | 'young-adult'
  | 'teen'
  | 'child'
  | 'abroad'
  | 'unknown-country'
  | 'age-only'
  | 'biometric'
  | 'unknown'
  | 'rejected'
  | 'source-down'
  | 'duplicate'
  | 'client-inactive'
  | 'low-balance'
  | 'minute-cap'
  | 'hour-cap'
  | 'unavailable';

/** Whether a new session may succeed, by the reason of a redirect. */
export const reasonIsRetryable: Readonly<Record<string, boolean>> = {
  abandoned: true,
  consent_declined: false,
  document_rejected: true,
  source_error: true,
  session_expired: true,
  invalid_redirect_uri: false,
};
