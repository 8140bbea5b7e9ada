import { type BillableKind, type PlannedPrice, type Prices, pricesAt } from '../../contracts/charge.ts';
import { ApiError } from '../platform/errors.ts';

const mostPlanned = 20;

/** Prices that begin together are ordered by kind, so that equal plans are equal lists. */
const compareBegins = (one: PlannedPrice, other: PlannedPrice): number =>
  one.from.getTime() - other.from.getTime() || one.kind.localeCompare(other.kind);

/**
 * Returns the prices of a partner after a change. A price without `from` begins now, and removes the planned ones of its kind.
 * @param now milliseconds since the epoch
 * @throws ApiError `refused` if `from` is over, or too many prices are planned
 */
export function changedPrices(
  current: Prices,
  { kind, cents, from }: { kind: BillableKind; cents: number; from: Date | undefined },
  now: number,
): Prices {
  const { planned = [], ...present } = pricesAt(current, now);
  const isOther = (price: PlannedPrice) =>
    price.kind !== kind || (from !== undefined && price.from.getTime() !== from.getTime());
  const others = planned.filter(isOther);
  const rest = others.length > 0 ? { planned: others } : {};
  if (from === undefined) return { ...present, ...rest, [kind]: cents };
  if (from.getTime() <= now)
    throw new ApiError('refused', {
      description: `A planned price begins in the future: ${from.toISOString()} is over`,
    });
  if (others.length >= mostPlanned)
    throw new ApiError('refused', { description: `At most ${mostPlanned} prices can be planned` });
  return { ...present, planned: [...others, { kind, cents, from }].toSorted(compareBegins) };
}
