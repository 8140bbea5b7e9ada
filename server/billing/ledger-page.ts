import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { AccessTerms, EntryKind } from '../../contracts/charge.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { AuditEntry } from '../platform/database/audit-entry.ts';
import type { WalletState } from './wallet-rules.ts';

/** The layout of a page. A process never writes on top of a page of a newer version. */
export const pageVersion = 1;

/** Most entries in one page. */
export const largestPage = 128;

/** Why money moved without an access. */
export interface Memo {
  reference?: string;
  reason?: string;
  actor?: string;
  /** The charge that a refund gives back. */
  of?: string;
  /** The spend caps that a `caps` entry sets. */
  caps?: Partial<WalletState['caps']>;
  /** The operator's act, for the audit log. */
  audit?: AuditEntry;
}

/** What a charge grants, as it is stored in its entry. Erasure and retention remove it. */
export interface Grant extends AccessTerms {
  expiresAt: Date;
  /** Random; the key of `LedgerEntry.grantSeal`. Without it, the seal does not reveal the claims. */
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
  /** The trace of the request that its event is sent with. The digest does not cover it. */
  traceparent?: string;
  /** HMAC-SHA256 of the grant under its salt, base64url. */
  grantSeal?: string;
  grant?: Grant;
}

/** A document of the `ledger` collection: a batch of entries and the wallet's state after them. */
export interface LedgerPage {
  _id: string;
  walletId: string;
  /** 0, 1, 2 … without gaps. */
  n: number;
  version: number;
  /** Random id of the insert. After a lost reply it distinguishes our page from another process's. */
  attempt: string;
  /** Never earlier than that of the page before. */
  at: Date;
  entries: LedgerEntry[];
  state: WalletState;
  /** An event or an audit entry must follow. */
  unpublished?: true;
  /** When the grants of this page are removed. */
  purgeGrantsAt?: Date;
  /** Digest of the page before; empty for page 0. */
  previous: string;
  /** SHA-256 of everything but `grant`, `traceparent`, `unpublished` and `purgeGrantsAt`, base64url. */
  digest: string;
}

export const walletIdOf = (partnerId: string, mode: Mode) => `${partnerId}:${mode}`;

export const pageIdOf = (walletId: string, n: number) => `${walletId}/${String(n).padStart(10, '0')}`;

/** Interface section 6: a returning user's code was exchanged at the token endpoint. That is an event, `vae.resolved`. */
export const isVerifiedAccess = ({ kind, grant }: LedgerEntry): boolean =>
  kind === 'token' && grant?.returning === true;

/** `-amount` without a negative zero, which would not be stored as an integer. */
export const opposite = (amount: number) => (amount === 0 ? 0 : -amount);

/** A charge has one refund at most, and they share this id. */
export const refundIdOf = (chargeId: string) => `rev_${chargeId}`;

/** `terms` with a salt, fresh where none is given, and the seal over both. */
export function sealedGrant(
  terms: Omit<Grant, 'salt'>,
  salt: string = randomUUID(),
): { grant: Grant; grantSeal: string } {
  const grant = { ...terms, salt };
  return { grant, grantSeal: grantSealOf(grant) };
}

export function grantSealOf(grant: Grant): string {
  return createHmac('sha256', grant.salt).update(JSON.stringify(grant)).digest('base64url');
}

/** What a page's digest covers, in a fixed order. */
function digested(page: Omit<LedgerPage, 'digest'>): unknown[] {
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

/** SHA-256, base64url. Links each page to the one before, which its `previous` names. */
export function digestOf(page: Omit<LedgerPage, 'digest'>): string {
  return createHash('sha256')
    .update(JSON.stringify(digested(page)))
    .digest('base64url');
}
