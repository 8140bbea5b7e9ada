import { keyed } from '../../platform/ids.ts';
import type { LedgerEntry } from '../ledger-page.ts';
import type { Written } from '../ledger-writer.ts';
import type { Posting } from '../page-builder.ts';

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
  /** The postings. A posting that is not placed within `withinMs` milliseconds after `at` is dropped. */
  postings: readonly { posting: Posting; withinMs: number }[];
  /** Positions of postings in request `n` whose callers no longer wait. */
  abort?: { n: number; positions: readonly number[] };
}

/** The result of a posting. `dropped`: it will never be written. `failed`: it may be written later. A written entry has no grant. */
export type Answer = Written | { outcome: 'dropped' | 'failed' };

/** The reply to request `n`. `to` is the sender of the request. */
export type Reply = { to: string; n: number; answers: Answer[] };

/** Derives one key for requests and one for replies from `idKey`, which all processes share. So neither passes as the other. */
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
