import type { Directory } from '../partners/directory/directory.ts';
import type { PeopleContext, Traces } from '../people/context.ts';
import type { Imprint } from '../platform/config/imprint.ts';
import type { AuditEntry } from '../platform/database/audit/audit-entry.ts';
import type { RequestLimit } from '../platform/http/limits/request-limits.ts';
import type { MethodOutcome } from '../sessions/methods.ts';

/** One reading of a user's claims by a partner. */
export interface SharedOnce {
  enrollmentId: string;
  at: Date;
  claims: readonly string[];
}

/** The parts on which the hosted flow, its pages and the pages of a user's own data are built. */
export interface PagesContext extends PeopleContext {
  /** `trusted`: whether the clock may judge the validity of attestations. */
  clock: { now(): number; trusted?(): boolean };
  directory: Pick<Directory, 'client' | 'apiKey'>;
  limit: RequestLimit;
  /** Root of all links, without a trailing slash, and `iss` of redirects. */
  baseUrl: string;
  /** The operator of this installation. */
  imprint: Imprint;
  /** Sessions that one address may start with one client in a minute; undefined for no limit. */
  startsPerMinute: number | undefined;
  /** Whether some integration exchanges the codes of a storefront client. */
  hasIntegration: (clientId: string) => Promise<boolean>;
  /** The relying party id of users' passkeys, which is a host name. Undefined if passkeys are off. */
  passkeyRpId: string | undefined;
  /** Called when a method has ended. */
  onMethod: (source: string, outcome: MethodOutcome) => void;
  /** The charges for a user's claims that the ledger still holds, in any order. */
  sharedOf: (traces: Pick<Traces, 'codes' | 'enrollments'>) => Promise<SharedOnce[]>;
  /** Adds entries to the audit log. Idempotent. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
}
