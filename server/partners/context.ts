import type { Mode } from '../../contracts/identifiers.ts';
import type { Clock } from '../platform/clock.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import type { RequestLimit } from '../platform/http/limits/request-limits.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import type { Directory } from './directory/directory.ts';
import type { SecretUses } from './keys/secret-uses.ts';
import type { Match } from './search-store.ts';
import type { PartnersStores } from './store.ts';

/** A verification source that clients may be set to. */
export interface Source {
  name: string;
  modes: readonly Mode[];
}

/** The decision about a member's change of a live brand, for the member who asked for it. */
export interface BrandDecision {
  /** The client, or the partner of a logo. */
  id: string;
  partnerId: string;
  memberId: string;
  /** Why it was refused; undefined if it was approved. */
  reason?: string | undefined;
}

/** The parts on which the directory and the procedures of partners, keys and clients are built. */
export interface PartnersContext {
  stores: PartnersStores;
  clock: Pick<Clock, 'now'>;
  sealing: Pick<Sealing, 'seal'>;
  limit: RequestLimit;
  partnerNames: PartnerNames;
  directory: Pick<Directory, 'changed' | 'client'>;
  used: Pick<SecretUses, 'apiKey' | 'client'>;
  /** The verification sources of this installation. */
  sources: readonly Source[];
  /** Creates the test wallet and the live wallet of a partner. Idempotent. */
  openWallets: (partnerId: string) => Promise<void>;
  /** Finds secrets that were replaced or removed, by their last four characters. */
  findReplaced: (lastFour: string) => Promise<Match[]>;
  /** @throws ApiError `refused` if events of this mode may not be sent to the URL */
  assertWebhookUrl: (url: string, mode: Mode) => void;
  /** Called when an operator or member has ended the pause of a key's webhooks, so that waiting events can be sent. */
  onResumed: (keyId: string) => Promise<void>;
  /** Called after a partner was suspended. Idempotent. */
  onSuspended: (partnerId: string) => Promise<void>;
  logoAddress: (id: string) => string;
  /** Called after an operator has decided about a member's change of a live brand. */
  onBrandDecided: (decision: BrandDecision) => Promise<void>;
}
