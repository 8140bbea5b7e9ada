import type { Access, Charging, PastCharge } from '../../../contracts/charge.ts';
import {
  type CheckboxRequest,
  type CheckboxResponse,
  storedAnswerLifetimeSeconds,
} from '../../../contracts/checkbox.ts';
import { type ClaimsSnapshot, resolveClaims } from '../../../contracts/claims.ts';
import type { Client } from '../../partners/clients/client-store.ts';
import type { ApiKey } from '../../partners/keys/key-store.ts';
import type { Partner } from '../../partners/partner-store.ts';
import type { Enrolled, FindEnrolled } from '../../people/enrollments/find-enrolled.ts';
import { ApiError } from '../../platform/errors.ts';
import type { RequestContext } from '../../platform/http/deadline.ts';
import { sha256 } from '../../platform/ids.ts';
import type { AdmitUnbilled } from './unbilled.ts';

/** The caller: an API key with its active partner. */
export interface KeyHolder {
  key: Pick<ApiKey, '_id' | 'partnerId' | 'mode'>;
  partner: Pick<Partner, '_id' | 'prices'>;
}

type CallingClient = Pick<Client, 'keyId' | 'status' | 'claims'>;

interface EnrollmentWithClient extends Enrolled {
  client: CallingClient;
}

interface Dependencies {
  findEnrolled: FindEnrolled;
  findClient: (clientId: string) => Promise<{ client: CallingClient } | undefined>;
  charges: Charging;
  /** @throws ApiError rate_limited */
  admitUnbilled: AdmitUnbilled;
  clock: { now(): number };
}

/** Returns the requested claims that the user has consented to, that the client may see and that are still fresh. */
function snapshotOf(
  { claims }: CheckboxRequest,
  { client, consentedClaims, freshClaims }: EnrollmentWithClient,
): ClaimsSnapshot {
  const permitted = client.claims.filter(
    (name) => consentedClaims.includes(name) && freshClaims[name] !== undefined,
  );
  const snapshot = resolveClaims(claims, permitted, freshClaims);
  if (Object.keys(snapshot.claims).length === 0) throw new ApiError('no_claim_available');
  return snapshot;
}

/** Requires an active enrollment with an active client of this key. An enrollment of another key is reported as unknown. */
function requireUsable(
  enrollment: EnrollmentWithClient | undefined,
  key: KeyHolder['key'],
): EnrollmentWithClient {
  if (enrollment?.client.keyId !== key._id) throw new ApiError('enrollment_not_found');
  if (enrollment.client.status !== 'active')
    throw new ApiError('client_inactive', { description: 'The client of this enrollment is disabled' });
  if (enrollment.status !== 'active') throw new ApiError('access_denied');
  return enrollment;
}

/**
 * Returns the access of an earlier request with the same Idempotency-Key and body.
 * @throws ApiError `idempotency_conflict` for another body, a revoked access, or a request of more than 24 hours ago
 */
function accessOfRepeatedRequest({ access, revoked }: PastCharge, fingerprint: string, now: number): Access {
  // An access that was erased has no fingerprint to compare.
  const isOtherRequest = access !== undefined && access.fingerprint !== fingerprint;
  if (isOtherRequest) throw new ApiError('idempotency_conflict');
  if (access && !revoked && access.expiresAt.getTime() > now) return access;
  throw new ApiError('idempotency_conflict', {
    description:
      'This Idempotency-Key was used before, and an answer is kept for 24 hours at most; send a new one',
  });
}

/** Returns what the partner pays for: the claims, whose they are, and how long a repeated request gets the same answer. */
function termsOf(request: CheckboxRequest, enrollment: EnrollmentWithClient, key: KeyHolder['key']) {
  const snapshot = snapshotOf(request, enrollment);
  return {
    ...snapshot,
    partnerId: key.partnerId,
    mode: key.mode,
    clientId: enrollment.clientId,
    keyId: key._id,
    // The user is not present, so there is no session now.
    sessionId: enrollment.firstSession,
    enrollmentId: enrollment.id,
    sub: enrollment.sub,
    // The user had a session with this client: the one that made the enrollment.
    returning: true,
    scope: Object.keys(snapshot.claims).join(' '),
    rehearse: enrollment.rehearse,
    lifetimeSeconds: storedAnswerLifetimeSeconds,
  };
}

/** `POST /api/checkbox/resolve` (provisional; interface 4.8): returns claims of a user who is not present. */
export function createCheckboxResolve(dependencies: Dependencies) {
  const { findEnrolled, findClient, charges, admitUnbilled, clock } = dependencies;

  async function readEnrollment(id: string): Promise<EnrollmentWithClient | undefined> {
    const enrollment = await findEnrolled(id);
    const found = enrollment && (await findClient(enrollment.clientId));
    return found && { ...enrollment, client: found.client };
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
    // Requests with the same Idempotency-Key have the same cause, and are billed once. The fingerprint tells whether they are equal.
    const cause = sha256(JSON.stringify(['checkbox', key._id, idempotencyKey]));
    const fingerprint = sha256(JSON.stringify([request.enrollment_id, request.claims]));

    /** Returns the stored answer. It is not billed, so the number of such requests is limited. */
    async function storedAnswer(earlierCharge: PastCharge): Promise<Access> {
      const access = accessOfRepeatedRequest(earlierCharge, fingerprint, clock.now());
      await admitUnbilled(key._id);
      return access;
    }

    async function buyAccess(): Promise<Access> {
      const [enrollment, earlierCharge] = await Promise.all([
        readEnrollment(request.enrollment_id),
        charges.past({ ...key, cause }),
      ]);
      if (earlierCharge) return storedAnswer(earlierCharge);
      const terms = { ...termsOf(request, requireUsable(enrollment, key), key), fingerprint };
      const order = { kind: 'checkbox', cause, terms, prices: partner.prices, ...context } as const;
      const charged = await charges.charge(order, (access) => access);
      // The outcome is `used` if another request has used the Idempotency-Key since `earlierCharge` was read.
      return charged.outcome === 'used' ? storedAnswer(charged.past) : charged.answer;
    }

    const { sub, at, claims, meta } = await buyAccess();
    return { success: true, sub, evaluated_at: at.toISOString(), claims, meta };
  };
}
