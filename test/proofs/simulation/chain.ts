import { deriveId } from '../../../server/platform/ids.ts';
import type { StoredPage } from './database.ts';
import type { Harness } from './harness.ts';
import { type Code, idKey } from './process.ts';

const derived = new Map<string, string>();

/** Derived as in server/billing/charge.ts, and cached, because all schedules use the same names of codes. */
export function chargeIdOf({ cause }: Code): string {
  const known = derived.get(cause) ?? deriveId(idKey, 'entry', ['charge', cause]);
  derived.set(cause, known);
  return known;
}

/** The pages of a wallet in order. */
export const chainOf = ({ database }: Harness, walletId: string): StoredPage[] =>
  [...(database.chains.get(walletId) ?? [])].reverse();
