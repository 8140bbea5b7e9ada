import { keyed } from '../../platform/ids.ts';
import type { LedgerEntry } from '../ledger/ledger-page.ts';
import type { Written } from '../ledger/ledger-writer.ts';
import type { Posting } from '../ledger/page-builder.ts';

/** A request of one process to another: to write postings, or to cancel postings of an earlier request. */
export interface Request {
  version: 1;
  /** Ids of the two processes. */
  from: string;
  to: string;
  /** The nonce. It grows with each request of `from`. A request with a nonce that is not higher than the last is refused. */
  n: number;
  /** When the request was sent, in milliseconds of the database's clock. */
  at: number;
  /** A posting is dropped if it is not on a page within `withinMs` milliseconds after `at`. */
  postings: readonly { posting: Posting; withinMs: number }[];
  /** Positions of postings in request `n` whose callers no longer wait. */
  abort?: { n: number; positions: readonly number[] };
}

/** The result of a posting. `dropped`: it will never be written. `failed`: it may be written later. A written entry has no grant. */
export type Answer = Written | { outcome: 'dropped' | 'failed' };

/** The reply to request `n`. `to` is the sender of the request. */
export type Reply = { to: string; n: number; answers: Answer[] };

/** Derives the keys for messages from `idKey`, which all processes share. With two keys, a reply is not accepted as a request. */
export const keysOf = (idKey: Uint8Array) => ({
  request: keyed(idKey, ['hand-over', 'request']),
  reply: keyed(idKey, ['hand-over', 'reply']),
});
export type Keys = ReturnType<typeof keysOf>;

/** Converts the texts that JSON makes of dates back to dates, in place. */
export function withDates<T extends Posting | LedgerEntry>(item: T): T {
  const { memo, grant } = item;
  if ('at' in item) item.at = new Date(item.at);
  if (memo?.audit) memo.audit.at = new Date(memo.audit.at);
  if (grant && 'expiresAt' in grant) grant.expiresAt = new Date(grant.expiresAt);
  return item;
}
