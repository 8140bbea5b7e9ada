import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { Reason } from '../reasons.ts';
import { ClientReferenceId, SessionStatus } from '../verification.ts';
import { page, reference, searchResult } from './references.ts';

/** The state of a code. A `used` code has a charge. A `locked` code was sent with five wrong code verifiers. */
export const CodeState = z.enum(['unused', 'used', 'expired', 'locked']);
export type CodeState = z.infer<typeof CodeState>;

/** A session as support sees it: its progress and the state of its code, without the code itself and without `state`. */
export const SessionView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  clientId: z.string(),
  keyId: z.string(),
  mode: Mode,
  source: z.string(),
  status: SessionStatus,
  /** Whether the session expired before it was complete. */
  expired: z.boolean(),
  /** Why the session has no code and will not get one, as a row of the table of reasons. Includes expiry. */
  failure: z
    .strictObject({ reason: Reason, retryable: z.boolean(), text: z.string(), at: DateTime })
    .nullable(),
  /** The partner's reference for the session. */
  clientReferenceId: z.string().nullable(),
  scopes: z.array(z.string()),
  redirectUri: z.string(),
  sub: z.string().nullable(),
  enrollmentId: z.string().nullable(),
  /** Whether the user had enrolled with this client before. Null until the user has authenticated. */
  returning: z.boolean().nullable(),
  code: z
    .strictObject({
      state: CodeState,
      issuedAt: DateTime,
      expiresAt: DateTime,
      wrongVerifiers: z.number().int(),
      charge: z.strictObject({ id: z.string(), at: DateTime }).nullable(),
    })
    .nullable(),
  timeline: z.array(z.strictObject({ at: DateTime, event: z.string(), note: z.string().nullable() })),
  createdAt: DateTime,
  expiresAt: DateTime,
  completedAt: DateTime.nullable(),
});
export type SessionView = z.infer<typeof SessionView>;

export const SessionReference = z.strictObject({ sessionId: reference('session') });

/** The progress or the end of a session. `open` sessions may still lead to a code. `expired` sessions ended without an event. */
export const SessionState = z.enum([...SessionStatus.options, 'open', 'failed', 'expired']);

export const ListSessions = z.strictObject({
  partnerId: reference('partner').optional(),
  clientId: reference('client').optional(),
  enrollmentId: reference('enrollment').optional(),
  /** The first 22 characters of the SHA-256 of a `state`, in base64url. The `state` itself is not sent. */
  stateHash: z
    .string()
    .regex(/^[\w-]{22}$/, { error: 'expected the first 22 characters of a SHA-256 in base64url' })
    .optional(),
  clientReferenceId: ClientReferenceId.optional(),
  mode: Mode.optional(),
  status: SessionState.optional(),
  since: DateTime.optional(),
  until: DateTime.optional(),
  ...page,
});
export type ListSessions = z.infer<typeof ListSessions>;

/**
 * The last step that a session reached, whether or not it ended there. At `confirm`, the user has authenticated on a phone, but
 * has not yet recognised the computer.
 */
export const SessionStep = z.enum(['consent', 'authenticate', 'confirm', 'verify', 'issue', 'completed']);
export type SessionStep = z.infer<typeof SessionStep>;

/**
 * A session as lists show it. `reason` says why the session will not get a code. It is null while the session may still get one.
 * `code` is null if there is no code.
 */
export const SessionSummary = SessionView.omit({
  failure: true,
  scopes: true,
  redirectUri: true,
  timeline: true,
}).extend({ reason: Reason.nullable(), step: SessionStep, code: CodeState.nullable() });
export type SessionSummary = z.infer<typeof SessionSummary>;

export const ListedSession = SessionSummary.extend({ partnerName: z.string().nullable() });

export const FoundSessions = searchResult(ListedSession);
