import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { AccessTerms, EntryKind } from '../../../contracts/charge.ts';
import { Mode } from '../../../contracts/identifiers.ts';
import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import type { WalletState } from './wallet-rules.ts';

/** The layout of a page. A process never writes on top of a page of a newer version. */
export const pageVersion = 1;

export const largestPage = 128;

/** Why an entry that is not a charge was written, and by whom. */
export interface Memo {
  reference?: string;
  reason?: string;
  actor?: string;
  /** Id of the charge that a refund gives back. */
  of?: string;
  /** The findings of an audit that an adjustment settles. */
  acknowledges?: string[];
  caps?: Partial<WalletState['caps']>;
  /** The entry for the audit log about the operator's action. */
  audit?: AuditEntry;
}

/** The access that a charge grants, as stored in the entry. It is removed by an erasure or when its retention ends. */
export interface Grant extends AccessTerms {
  expiresAt: Date;
  /** A random text, which is the key of `LedgerEntry.grantSeal`. Claims cannot be guessed from the seal without this salt. */
  salt: string;
}

/** One movement of money. Amounts are signed integer cents as the wallet sees them: a charge is negative. */
export interface LedgerEntry {
  id: string;
  kind: EntryKind;
  amount: number;
  balanceAfter: number;
  /** Position in the wallet's statement: 1, 2, 3 … `opening`, `caps` and `fence` entries have none. */
  seq?: number;
  at: Date;
  memo?: Memo;
  /** The trace context of the request, which the entry's event carries too. The digest does not cover it. */
  traceparent?: string;
  /** HMAC-SHA256 of the grant with its salt as the key, in base64url. */
  grantSeal?: string;
  grant?: Grant;
}

/** A document of the `ledger` collection: a batch of entries and the wallet's state after them. */
export interface LedgerPage {
  _id: string;
  walletId: string;
  /** The page's number in the ledger: 0, 1, 2 … without gaps. */
  n: number;
  version: number;
  /** A random id of this page's draft. After a lost reply, it shows whether the stored page is this draft or another process's. */
  attempt: string;
  /** The time of the page, never earlier than the time of the page before. */
  at: Date;
  entries: LedgerEntry[];
  state: WalletState;
  /** Set until the page's events and audit entries are written. */
  unpublished?: true;
  purgeGrantsAt?: Date;
  /** The digest of the page before; empty for page 0. */
  previous: string;
  /** SHA-256 of the page without `grant`, `traceparent`, `unpublished` and `purgeGrantsAt`, in base64url. */
  digest: string;
}

export const walletIdOf = (partnerId: string, mode: Mode) => `${partnerId}:${mode}`;

export function ownerOfWallet(walletId: string): { partnerId: string; mode: Mode } {
  const [partnerId = '', mode] = walletId.split(':');
  return { partnerId, mode: Mode.parse(mode) };
}

/** Names an entry in all wallets, because the id of an entry is unique only within its wallet. */
export const entryKeyOf = ({ walletId, id }: { walletId: string; id: string }) => `${walletId}/${id}`;

/** The number is padded, so that the ids of a wallet's pages have the order of their numbers. */
export const pageIdOf = (walletId: string, n: number) => `${walletId}/${String(n).padStart(10, '0')}`;

/** Whether a charge is the exchange of a returning user's code, which causes the event `vae.resolved` (interface section 6). */
export const isVerifiedAccess = ({ kind, grant }: LedgerEntry): boolean =>
  kind === 'token' && grant?.returning === true;

/** Returns `-amount`, but never a negative zero, which would not be stored as an integer. */
export const opposite = (amount: number) => (amount === 0 ? 0 : -amount);

/** Returns the id of the refund of a charge. A charge can have only one refund, because all refunds would share this id. */
export const refundIdOf = (chargeId: string) => `rev_${chargeId}`;

/** Returns a grant of `terms` and its seal, which stays in the ledger when the grant is removed. @param salt a new one by default */
export function sealedGrant(
  terms: Omit<Grant, 'salt'>,
  salt: string = randomUUID(),
): { grant: Grant; grantSeal: string } {
  const grant = { ...terms, salt };
  return { grant, grantSeal: grantSealOf(grant) };
}

/**
 * Returns the JSON of a value as the database stores it, for digests. BSON cannot hold a lone surrogate, and stores U+FFFD in its
 * place.
 */
function storedJson(value: unknown): string {
  const json = JSON.stringify(value);
  // JSON writes a lone surrogate as an escape, so nearly no text is read twice.
  if (!json.includes('\\ud')) return json;
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'string' ? Buffer.from(inner).toString() : inner,
  );
}

/**
 * Returns the HMAC of a grant. The digest of the page covers this seal in place of the grant, so a grant can be removed without
 * a change of the digest. The key is the salt, which is removed with the grant. The claims cannot be guessed without it.
 */
export function grantSealOf(grant: Grant): string {
  return createHmac('sha256', grant.salt).update(storedJson(grant)).digest('base64url');
}

/** Returns the values that a page's digest covers. Their order is fixed, because another order would have another digest. */
function contentOf(page: Omit<LedgerPage, 'digest'>): unknown[] {
  const { _id, walletId, n, version, attempt, at, entries, state, previous } = page;
  const { balance, seq, minute, hour, caps } = state;
  return [
    [_id, walletId, n, version, attempt, at, previous],
    entries.map((entry) => [
      entry.id,
      entry.kind,
      entry.amount,
      entry.balanceAfter,
      entry.seq,
      entry.at,
      entry.memo,
      entry.grantSeal,
    ]),
    [balance, seq, minute.start, minute.used, hour.start, hour.used, caps.perMinute, caps.perHour],
  ];
}

/** Returns the SHA-256 of a page in base64url. It covers `previous`, which links the page to the page before. */
export function digestOf(page: Omit<LedgerPage, 'digest'>): string {
  return createHash('sha256')
    .update(storedJson(contentOf(page)))
    .digest('base64url');
}
