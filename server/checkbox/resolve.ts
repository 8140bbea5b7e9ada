import {
  type CheckboxRequest,
  type CheckboxResponse,
  storedAnswerLifetime,
} from '../../contracts/checkbox.ts';
import {
  type ClaimName,
  type Claims,
  type ClaimsSnapshot,
  isClaimName,
  resolveClaims,
} from '../../contracts/claims.ts';
import type { GrantTerms } from '../../contracts/grant.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { Rehearsal } from '../../contracts/verification.ts';
import { ApiError } from '../platform/errors.ts';
import type { Waiting } from '../platform/http/in-time.ts';
import { sha256 } from '../platform/ids.ts';
import type { AdmitUnbilled } from './unbilled.ts';

/** Who asks: an API key, with its active partner. Prices are cents per billable event. */
export interface Account {
  key: { _id: string; partnerId: string; mode: Mode };
  partner: { _id: string; prices?: { checkbox?: number } };
}

interface Client {
  keyId: string;
  status: 'active' | 'disabled';
  claims: readonly ClaimName[];
}

/** Of whom something is asked. */
interface Enrolled {
  id: string;
  clientId: string;
  sub: string;
  status: 'active' | 'blocked';
  rehearse?: Rehearsal;
  consentedClaims: readonly ClaimName[];
  firstSession: string;
  freshClaims: Claims;
}

/** The enrollment with the client that it belongs to. */
interface Facts {
  enrolled: Enrolled;
  client: Client;
}

/** A resolve that was billed: what a repeated one answers. */
interface BoughtAccess extends ClaimsSnapshot {
  sub: string;
  at: Date;
  expiresAt: Date;
  fingerprint?: string;
}

/** What happened under an `Idempotency-Key` before this request. */
type History<Access> = { state: 'open' } | { state: 'used'; access: Access } | { state: 'exhausted' };

type Terms = GrantTerms & { lifetime: number; fingerprint: string };

interface Dependencies<Access extends BoughtAccess> {
  findEnrolled: (enrollmentId: string) => Promise<Enrolled | undefined>;
  findClient: (clientId: string) => Promise<{ client: Client } | undefined>;
  /** Charges the wallet of the key's partner once for `cause`: the exchange core in billing. */
  buy: (purchase: {
    /** Whose mode decides which wallet of the partner pays. */
    client: Account['key'];
    partner: Account['partner'];
    cause: string;
    waiting: Waiting;
    read: () => Promise<Facts | undefined>;
    decide: (facts: Facts | undefined, history: History<Access>) => Promise<Terms | { replay: Access }>;
  }) => Promise<Access>;
  /** @throws ApiError rate_limited */
  admitUnbilled: AdmitUnbilled;
  clock: { now(): number };
}

/** Only claims that the user consented to there, that the client may see, and that are still fresh. */
function snapshotOf({ claims }: CheckboxRequest, { enrolled, client }: Facts): ClaimsSnapshot {
  const permitted = claims
    .filter(isClaimName)
    .filter((name) => enrolled.consentedClaims.includes(name) && client.claims.includes(name))
    .filter((name) => enrolled.freshClaims[name] !== undefined);
  const snapshot = resolveClaims(claims, permitted, enrolled.freshClaims);
  if (Object.keys(snapshot.claims).length === 0) throw new ApiError('no_claim_available');
  return snapshot;
}

/** A user enrolled with a client of this key; anybody else's is as good as unknown. */
function requireOwn(facts: Facts | undefined, key: Account['key']): Facts {
  if (facts?.client.keyId !== key._id) throw new ApiError('enrollment_not_found');
  if (facts.client.status !== 'active')
    throw new ApiError('client_inactive', { description: 'The client of this enrollment is disabled' });
  if (facts.enrolled.status !== 'active') throw new ApiError('access_denied');
  return facts;
}

/** The stored answer, for the same body and 24 hours. */
function requireSame<Access extends BoughtAccess>(access: Access, fingerprint: string, now: number): Access {
  if (access.fingerprint !== fingerprint) throw new ApiError('idempotency_conflict');
  if (access.expiresAt.getTime() > now) return access;
  throw new ApiError('idempotency_conflict', {
    description: 'This Idempotency-Key was used more than 24 hours ago; send a new one',
  });
}

/** `POST /api/checkbox/resolve` (provisional; interface 4.8): claims of a user who is not there. */
export function createCheckboxResolve<Access extends BoughtAccess>(dependencies: Dependencies<Access>) {
  const { findEnrolled, findClient, buy, admitUnbilled, clock } = dependencies;

  async function read(enrollmentId: string): Promise<Facts | undefined> {
    const enrolled = await findEnrolled(enrollmentId);
    const found = enrolled && (await findClient(enrolled.clientId));
    return found && { enrolled, client: found.client };
  }

  return async (
    request: CheckboxRequest,
    { key, partner, idempotencyKey, waiting }: Account & { idempotencyKey: string; waiting: Waiting },
  ): Promise<CheckboxResponse> => {
    const fingerprint = sha256(JSON.stringify([request.enrollment_id, request.claims]));

    const access = await buy({
      client: key,
      partner,
      cause: sha256(JSON.stringify(['checkbox', key._id, idempotencyKey])),
      waiting,
      read: () => read(request.enrollment_id),
      async decide(found, history) {
        if (history.state === 'used') {
          const replay = requireSame(history.access, fingerprint, clock.now());
          await admitUnbilled(key._id);
          return { replay };
        }
        if (history.state === 'exhausted') throw new ApiError('idempotency_conflict');
        const facts = requireOwn(found, key);
        const snapshot = snapshotOf(request, facts);
        const { enrolled } = facts;
        return {
          ...snapshot,
          partnerId: key.partnerId,
          mode: key.mode,
          clientId: enrolled.clientId,
          keyId: key._id,
          sessionId: enrolled.firstSession,
          enrollmentId: enrolled.id,
          sub: enrolled.sub,
          returning: true,
          scope: Object.keys(snapshot.claims).join(' '),
          rehearse: enrolled.rehearse,
          lifetime: storedAnswerLifetime,
          fingerprint,
        };
      },
    });
    const { sub, at, claims, meta } = access;
    return { success: true, sub, evaluated_at: at.toISOString(), claims, meta };
  };
}
