import { createCharges } from '../../../server/billing/charge.ts';
import { createHandOver } from '../../../server/billing/hand-over/hand-over.ts';
import { keysOf } from '../../../server/billing/hand-over/messages.ts';
import { createTakeOver } from '../../../server/billing/hand-over/take-over.ts';
import { createWriters } from '../../../server/billing/hand-over/writers.ts';
import { cacheSizes } from '../../../server/billing/ledger/cache-sizes.ts';
import { createHeads } from '../../../server/billing/ledger/heads.ts';
import { createLedgerWriter } from '../../../server/billing/ledger/ledger-writer.ts';
import { createManualEntries } from '../../../server/billing/manual-entries.ts';
import { createPublishing } from '../../../server/billing/publishing.ts';

/** The constructors of the product that a simulated process calls. */
export const product = {
  ...{ createHeads, createLedgerWriter, createCharges, createManualEntries, createPublishing },
  ...{ createHandOver, createTakeOver, createWriters, keysOf },
};
export type BillingCore = typeof product;

/**
 * Makes the caches of the product small, so that they evict, and because each simulated process creates them.
 * @returns a function that restores their sizes
 */
export function shrinkCaches(): () => void {
  const original = { ...cacheSizes };
  Object.assign(cacheSizes, { heads: 2, usedIds: 8, accesses: 4 });
  return () => void Object.assign(cacheSizes, original);
}
