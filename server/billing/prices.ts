import type { BillableKind } from '../../contracts/charge.ts';

/** Cents per billable event where a partner's price differs from the configured one. */
export type PriceOverrides = Partial<Record<BillableKind, number>>;

/** The price in cents that is in force for one billable event. */
export function priceOf(kind: BillableKind, overrides: PriceOverrides | undefined, standard: number): number {
  return overrides?.[kind] ?? standard;
}
