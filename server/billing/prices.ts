import type { PricesView } from '../../contracts/admin/wallets.ts';
import { BillableKind } from '../../contracts/charge.ts';

/** Cents per billable event where a partner's price differs from the configured one. */
export type PriceOverrides = Partial<Record<BillableKind, number>>;

/** The price in cents that is in force for one billable event. */
export function priceOf(kind: BillableKind, overrides: PriceOverrides | undefined, standard: number): number {
  return overrides?.[kind] ?? standard;
}

export function viewPrices(
  partnerId: string | null,
  overrides: PriceOverrides,
  standard: number,
): PricesView {
  const price = (kind: BillableKind) => priceOf(kind, overrides, standard);
  return {
    partnerId,
    currency: 'USD',
    token: price('token'),
    storefront: price('storefront'),
    checkbox: price('checkbox'),
    overridden: BillableKind.options.filter((kind) => overrides[kind] !== undefined),
  };
}
