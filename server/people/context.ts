import type { Publish } from '../platform/database/event-draft.ts';
import type { NewExpiry } from '../platform/database/expiry.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { Session } from '../sessions/session.ts';
import type { CodeOfSession } from '../sessions/session-store.ts';
import type { FindSnapshot } from './enrollments/claims-snapshot.ts';
import type { HasFreshClaims, IsFresh } from './enrollments/freshness.ts';
import type { VerificationStores } from './store.ts';
import type { Charge } from './views.ts';

/** The keys by which other features find their data of a user. */
export interface Traces {
  /** The user's `sub` at each partner. */
  subs: readonly string[];
  enrollments: readonly (Pick<Session, 'partnerId' | 'mode'> & { enrollmentId: string })[];
  codes: readonly CodeOfSession[];
  sessionIds: readonly string[];
}

/** The parts on which users, enrollments, passkeys and erasure are built. */
export interface PeopleContext extends Omit<VerificationStores, 'passkeys'> {
  passkeyStore: VerificationStores['passkeys'];
  keyring: Pick<Keyring, 'code' | 'id' | 'pairwise'>;
  clock: { now(): number };
  logger: Logger;
  partnerNames: PartnerNames;
  publish: Publish;
  /** The longest lifetime of a claim, in milliseconds. */
  claimLifetime: number;
  isFresh: IsFresh;
  hasFreshClaims: HasFreshClaims;
  findSnapshot: FindSnapshot;
  /** Returns the charge of a code's exchange; undefined if the code was not exchanged. */
  chargeOf: (code: CodeOfSession) => Promise<Charge | undefined>;
  /** Returns the hashes of the codes that were exchanged. */
  chargedCodes: (codes: readonly CodeOfSession[]) => Promise<Set<string>>;
  /** The keyed hash of a shop's customer id, which is stored in its place. */
  customerHash: (customer: { clientId: string; shop: string; customerId: string }) => string;
  /** Ends accesses that were charged at `chargedUntil` or earlier. Idempotent. */
  endAccesses: (traces: Pick<Traces, 'codes' | 'enrollments'>, chargedUntil: Date) => Promise<void>;
  /** Erases the user's data in other features. Idempotent. */
  eraseElsewhere: (traces: Traces) => Promise<{ accesses: number; events: number }>;
  /** Moves when the events and deliveries of these subjects are deleted. */
  moveEvents: (subs: readonly string[], expiry: NewExpiry) => Promise<void>;
}
