import { z } from 'zod';
import { DateTime } from './identifiers.ts';
import { openidParameters } from './openid.ts';

/** How long a session and its authorization code are valid, in seconds (interface section 8). */
export const sessionLifetimeSeconds = 30 * 60;
export const codeLifetimeSeconds = 10 * 60;

/** A device of a session: the computer that began it, or the phone of a handoff. */
export type Device = 'computer' | 'phone';

/** A PKCE challenge by the method S256: a SHA-256 in base64url, 43 characters (RFC 7636 4.2). */
const codeChallenge = /^[A-Za-z0-9_-]{43}$/;
/** The characters that a `scope` may contain (RFC 6749 3.3). */
const scopeCharacters = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;
const noControlCharacter = /^\P{Cc}+$/u;

/** The partner's own id for a session, so that both sides can name it in a support case. */
export const ClientReferenceId = z.string().regex(/^[A-Za-z0-9_.:-]{1,200}$/, {
  error: 'client_reference_id must be 1 to 200 characters of A-Z, a-z, 0-9, _ . : and -',
});

/** The query of `/verify/start` (interface 4.1). A repeated parameter arrives as an array, which no field accepts. */
export const StartQuery = z.object({
  client_id: z.string().min(1).max(128),
  redirect_uri: z.string().min(1).max(2048).describe('A registered one, byte for byte'),
  state: z
    .string()
    .min(16, { error: 'state must be at least 16 characters' })
    .max(4096, { error: 'state must be at most 4096 characters' })
    .regex(noControlCharacter, { error: 'state must not contain control characters' })
    .describe('Comes back unchanged: bind it to the browser'),
  scope: z
    .string()
    .min(1)
    .max(2048)
    .regex(scopeCharacters, {
      error: 'scope must be printable ASCII without quotation marks and backslashes (RFC 6749 3.3)',
    })
    .describe('Claim identifiers, separated by spaces'),
  code_challenge: z
    .string()
    .regex(codeChallenge, { error: 'code_challenge must be 43 base64url characters' })
    .describe('base64url SHA-256 of the code_verifier'),
  code_challenge_method: z.literal('S256', { error: 'code_challenge_method must be S256' }),
  response_type: z
    .literal('code', { error: 'response_type must be code' })
    .optional()
    .describe('OAuth libraries add it'),
  /** How the redirect returns its parameters (OAuth 2.0 Multiple Response Type Encoding Practices 2.1). */
  response_mode: z
    .literal('query', { error: 'response_mode must be query' })
    .optional()
    .describe('The parameters of the redirect are in its query'),
  /** OpenID Connect Core 3.1.2.1: preferred languages of the pages, space-separated. */
  ui_locales: z
    .string()
    .max(128)
    .optional()
    .describe('Preferred languages of the pages, separated by spaces'),
  client_reference_id: ClientReferenceId.optional().describe(
    'Yours, for this session: support finds it by this. No personal data',
  ),
  ...openidParameters,
});
export type StartQuery = z.infer<typeof StartQuery>;

/** The status of a session (interface 3.1). A failed or expired session keeps the last status that it reached. */
export const SessionStatus = z.enum(['pending', 'authenticated', 'verified', 'complete']);
export type SessionStatus = z.infer<typeof SessionStatus>;

export const FailureReason = z.enum(['abandoned', 'consent_declined', 'document_rejected', 'source_error']);
/** The reasons why a verification source did not confirm the user. */
export type SourceFailure = Exclude<z.infer<typeof FailureReason>, 'consent_declined'>;
export type FailureReason = z.infer<typeof FailureReason>;

/**
 * The refusals that partners can test. Each has a sandbox person of its name, whose codes are refused in this way (test mode
 * only).
 */
export const Rehearsal = z.enum(['client-inactive', 'low-balance', 'minute-cap', 'hour-cap', 'unavailable']);
export type Rehearsal = z.infer<typeof Rehearsal>;

/** The response of the session query (interface 2.7). */
export const SessionResponse = z
  .strictObject({
    success: z.literal(true),
    session: z.strictObject({
      sessionId: z.string(),
      status: SessionStatus,
      scopes: z.array(z.string()).describe('Identifiers as asked for at the start'),
      isTestMode: z.boolean(),
      createdAt: DateTime,
      expiresAt: DateTime.describe('30 minutes later; from then on the session is not found'),
    }),
  })
  .meta({ id: 'SessionResponse' });
export type SessionResponse = z.infer<typeof SessionResponse>;

/** The body of every error outside the OAuth endpoints (interface 7.1). */
export const GeneralError = z
  .strictObject({ success: z.literal(false), error: z.string() })
  .meta({ id: 'GeneralError' });
export type GeneralError = z.infer<typeof GeneralError>;
