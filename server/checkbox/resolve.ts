import type { Access, Charging, PastCharge } from '../../contracts/charge.ts';
import {
  type CheckboxRequest,
  type CheckboxResponse,
  storedAnswerLifetimeSeconds,
} from '../../contracts/checkbox.ts';
import {
  type ClaimName,
  type Claims,
  type ClaimsSnapshot,
  isClaimName,
  resolveClaims,
} from '../../contracts/claims.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { Rehearsal } from '../../contracts/verification.ts';
import { ApiError } from '../platform/errors.ts';
import type { RequestContext } from '../platform/http/deadline.ts';
import { sha256 } from '../platform/ids.ts';
import type { AdmitUnbilled } from './unbilled.ts';

/** The caller: an API key with its active partner. Prices are in cents per billable event. */
export interface KeyHolder {
  key: { _id: string; partnerId: string; mode: Mode };
  partner: { _id: string; prices?: { checkbox?: number } };
}

interface CallingClient {
  keyId: string;
  status: 'active' | 'disabled';
  claims: readonly ClaimName[];
}

/** An enrollment: the user of one client, with the claims that can be returned now. */
interface Enrolled {
  /** Id of the enrollment. */
  id: string;
  clientId: string;
  sub: string;
  status: 'active' | 'blocked';
  /** The error that every exchange of this sandbox user gets. */
  rehearse?: Rehearsal;
  consentedClaims: readonly ClaimName[];
  /** Id of the session that made the enrollment. */
  firstSession: string;
  /** The claims that were verified recently enough. */
  freshClaims: Claims;
}

/** An enrollment with its client. */
interface Facts {
  enrolled: Enrolled;
  client: CallingClient;
}

interface Dependencies {
  findEnrolled: (enrollmentId: string) => Promise<Enrolled | undefined>;
  findClient: (clientId: string) => Promise<{ client: CallingClient } | undefined>;
  charges: Charging;
  /** @throws ApiError rate_limited */
  admitUnbilled: AdmitUnbilled;
  clock: { now(): number };
}

/** Returns the requested claims that the user has consented to, that the client may see and that are still fresh. */
function snapshotOf({ claims }: CheckboxRequest, { enrolled, client }: Facts): ClaimsSnapshot {
  const permitted = claims
    .filter(isClaimName)
    .filter((name) => enrolled.consentedClaims.includes(name) && client.claims.includes(name))
    .filter((name) => enrolled.freshClaims[name] !== undefined);
  const snapshot = resolveClaims(claims, permitted, enrolled.freshClaims);
  if (Object.keys(snapshot.claims).length === 0) throw new ApiError('no_claim_available');
  return snapshot;
}

/** Checks that an enrollment belongs to a client of this key. An enrollment of another key is reported as unknown. */
function requireOwn(facts: Facts | undefined, key: KeyHolder['key']): Facts {
  if (facts?.client.keyId !== key._id) throw new ApiError('enrollment_not_found');
  if (facts.client.status !== 'active')
    throw new ApiError('client_inactive', { description: 'The client of this enrollment is disabled' });
  if (facts.enrolled.status !== 'active') throw new ApiError('access_denied');
  return facts;
}

const conflict = (description?: string) =>
  new ApiError('idempotency_conflict', description === undefined ? {} : { description });

/**
 * Returns the access of an earlier request with the same key and body.
 * @throws ApiError `idempotency_conflict` for another body, a revoked access, or a request of more than 24 hours ago
 */
function storedAnswer({ access, revoked }: PastCharge, fingerprint: string, now: number): Access {
  const isOtherRequest = access !== undefined && access.fingerprint !== fingerprint;
  if (isOtherRequest) throw conflict();
  if (access && !revoked && access.expiresAt.getTime() > now) return access;
  throw conflict(
    'This Idempotency-Key was used before, and an answer is kept for 24 hours at most; send a new one',
  );
}

/** Returns what the partner pays for: the claims, whose they are, and how long a repeated request gets the same answer. */
function termsOf(request: CheckboxRequest, facts: Facts, key: KeyHolder['key']) {
  const snapshot = snapshotOf(request, facts);
  const { enrolled } = facts;
  return {
    ...snapshot,
    partnerId: key.partnerId,
    mode: key.mode,
    clientId: enrolled.clientId,
    keyId: key._id,
    // The user is not present, so there is no session now.
    sessionId: enrolled.firstSession,
    enrollmentId: enrolled.id,
    sub: enrolled.sub,
    returning: true, // an enrolled user is a returning one
    scope: Object.keys(snapshot.claims).join(' '),
    rehearse: enrolled.rehearse,
    lifetimeSeconds: storedAnswerLifetimeSeconds,
  };
}

/** `POST /api/checkbox/resolve` (provisional; interface 4.8): returns claims of a user who is not present. */
export function createCheckboxResolve(dependencies: Dependencies) {
  const { findEnrolled, findClient, charges, admitUnbilled, clock } = dependencies;

  async function read(enrollmentId: string): Promise<Facts | undefined> {
    const enrolled = await findEnrolled(enrollmentId);
    const found = enrolled && (await findClient(enrolled.clientId));
    return found && { enrolled, client: found.client };
  }

  return async (
    request: CheckboxRequest,
    {
      key,
      partner,
      idempotencyKey,
      context,
    }: KeyHolder & { idempotencyKey: string; context: RequestContext },
  ): Promise<CheckboxResponse> => {
    const fingerprint = sha256(JSON.stringify([request.enrollment_id, request.claims]));
    const cause = sha256(JSON.stringify(['checkbox', key._id, idempotencyKey]));

    /** Returns the stored answer. It is not billed, so the number of such requests is limited. */
    async function replayed(past: PastCharge): Promise<Access> {
      const access = storedAnswer(past, fingerprint, clock.now());
      await admitUnbilled(key._id);
      return access;
    }

    async function buy(): Promise<Access> {
      const [found, past] = await Promise.all([read(request.enrollment_id), charges.past({ ...key, cause })]);
      if (past) return replayed(past);
      const terms = { ...termsOf(request, requireOwn(found, key), key), fingerprint };
      const order = { kind: 'checkbox', cause, terms, prices: partner.prices, ...context } as const;
      const charged = await charges.charge(order, (access) => access);
      return charged.outcome === 'used' ? replayed(charged.past) : charged.answer;
    }

    const { sub, at, claims, meta } = await buy();
    return { success: true, sub, evaluated_at: at.toISOString(), claims, meta };
  };
}
