import { deriveId } from '../../../server/platform/ids.ts';
import type { StoredPage } from './database.ts';
import type { Harness } from './harness.ts';
import { type Code, idKey } from './process.ts';

const derived = new Map<string, string>();

/** Derives the id of a charge as server/billing/charge.ts does. Caches it, because all schedules use the same names of codes. */
export function chargeIdOf({ cause }: Code): string {
  const known = derived.get(cause) ?? deriveId(idKey, 'entry', ['charge', cause]);
  derived.set(cause, known);
  return known;
}

/** Returns the pages of a wallet in order. */
export const chainOf = ({ database }: Harness, walletId: string): StoredPage[] =>
  [...(database.chains.get(walletId) ?? [])].reverse();
