import { hmac, keyed, sameText } from '../../platform/ids.ts';
import type { LedgerEntry } from '../ledger-page.ts';
import type { Written } from '../ledger-writer.ts';
import type { Posting } from '../page-builder.ts';

/** What one process asks of another. */
export interface Request {
  version: 1;
  /** Ids of the two processes. */
  from: string;
  to: string;
  /** The nonce. It grows with each request of `from`; one that is repeated, or was overtaken, is refused. */
  n: number;
  /** When it was sent, by the database's clock in milliseconds. */
  at: number;
  /** Each is dropped where it was not placed within so many milliseconds of `at`. */
  postings: readonly { posting: Posting; withinMs: number }[];
  /** Positions in request `n` whose callers wait no longer. */
  abort?: { n: number; positions: readonly number[] };
}

/**
 * The result of a posting; a written entry comes without its grant. `dropped`: it will never be written. `failed`: it may be
 * written later.
 */
export type Answer = Written | { outcome: 'dropped' | 'failed' };

/** `n` is that of the request, and `to` its sender. */
export type Reply = { to: string; n: number; answers: Answer[] };

/** One key for each direction. Both follow from the key of ids, which all processes share. */
export const keysOf = (idKey: Uint8Array) => ({
  request: keyed(idKey, ['hand-over', 'request']),
  reply: keyed(idKey, ['hand-over', 'reply']),
});
export type Keys = ReturnType<typeof keysOf>;

/** JSON after its HMAC-SHA256, which covers body, time and nonce. */
export function seal(key: Uint8Array, message: Request | Reply): string {
  const text = JSON.stringify(message);
  return hmac(key, text) + text;
}

/** Undefined for anything that was not sealed under this key. */
export function open<M extends Request | Reply>(key: Uint8Array, sealed: string): M | undefined {
  const text = sealed.slice(sealed.indexOf('{'));
  return sealed.includes('{') && sameText(hmac(key, text) + text, sealed)
    ? (JSON.parse(text) as M)
    : undefined;
}

/** JSON has no dates: makes them of their texts, in place. */
export function withDates<T extends Posting | LedgerEntry>(item: T): T {
  const { memo, grant } = item;
  if ('at' in item) item.at = new Date(item.at);
  if (memo?.audit) memo.audit.at = new Date(memo.audit.at);
  if (grant && 'expiresAt' in grant) grant.expiresAt = new Date(grant.expiresAt);
  return item;
}
