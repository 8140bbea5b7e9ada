import { hmac, keyed, sameText } from '../../platform/ids.ts';
import type { LedgerEntry } from '../ledger-page.ts';
import type { Written } from '../ledger-writer.ts';
import type { Posting } from '../page-builder.ts';

/** A request of one process to another. */
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

/** The result of a posting. `dropped`: it will never be written. `failed`: it may be written later. Entries have no grant. */
export type Answer = Written | { outcome: 'dropped' | 'failed' };

/** The reply to request `n`. `to` is the sender of the request. */
export type Reply = { to: string; n: number; answers: Answer[] };

/** Derives one key for requests and one for replies from `idKey`, which all processes share. So neither passes as the other. */
export const keysOf = (idKey: Uint8Array) => ({
  request: keyed(idKey, ['hand-over', 'request']),
  reply: keyed(idKey, ['hand-over', 'reply']),
});
export type Keys = ReturnType<typeof keysOf>;

/** Returns a message as its HMAC-SHA256 followed by its JSON, which includes time and nonce. */
export function seal(key: Uint8Array, message: Request | Reply): string {
  const text = JSON.stringify(message);
  return hmac(key, text) + text;
}

/** Returns the message in a sealed text. Undefined if the text was not sealed with this key. */
export function open<M extends Request | Reply>(key: Uint8Array, sealed: string): M | undefined {
  const text = sealed.slice(sealed.indexOf('{'));
  return sameText(hmac(key, text) + text, sealed) ? (JSON.parse(text) as M) : undefined;
}

/** Converts the date texts that JSON leaves into dates, in place. */
export function withDates<T extends Posting | LedgerEntry>(item: T): T {
  const { memo, grant } = item;
  if ('at' in item) item.at = new Date(item.at);
  if (memo?.audit) memo.audit.at = new Date(memo.audit.at);
  if (grant && 'expiresAt' in grant) grant.expiresAt = new Date(grant.expiresAt);
  return item;
}
