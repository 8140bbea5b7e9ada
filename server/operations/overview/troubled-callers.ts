import { type PartnerStore, statusOf } from '../../partners/partner-store.ts';
import type { RecentError, RequestStore } from '../requests/request-store.ts';

/** A partner whose requests are refused although it should send none, or much more often than usual. */
export interface TroubledCaller {
  partnerId: string;
  /** The refused requests of the last minutes. */
  count: number;
  /** Why they are a problem. `surge`: far more than the partner's normal number, which `normal` has. */
  reason: 'suspended' | 'closed' | 'surge';
  /** Refused requests in a span of the same length, on average over the day before. */
  normal: number;
}

/** Fewer refusals than this are no surge, however few are normal. */
const fewestOfSurge = 20;
/** A surge has more refusals than this many times the normal number. */
const surgeFactor = 5;
const dayMs = 86_400_000;

/** Whether refusals in a span are far above the normal number of such a span. */
export const isSurge = (count: number, normal: number): boolean =>
  count >= fewestOfSurge && count > surgeFactor * normal;

/**
 * Returns the partners that call although they are suspended or closed, and those with far more refusals than usual.
 * @param errors the failed requests since `from`, by kind
 * @param failures counts the failed requests of a partner in a period
 */
export async function findTroubledCallers(
  partners: Pick<PartnerStore, 'findAll'>,
  { errors, from, to }: { errors: readonly RecentError[]; from: Date; to: Date },
  failures: RequestStore['failures'],
): Promise<TroubledCaller[]> {
  const counts = new Map<string, number>();
  for (const { partnerId, count } of errors) counts.set(partnerId, (counts.get(partnerId) ?? 0) + count);
  const callers = await partners.findAll([...counts.keys()]);
  const statuses = new Map(callers.map((caller) => [caller?._id, caller && statusOf(caller)]));
  const spans = dayMs / (to.getTime() - from.getTime());
  const found = await Promise.all(
    [...counts].map(async ([partnerId, count]): Promise<TroubledCaller | undefined> => {
      const reason = statuses.get(partnerId);
      if (reason === 'suspended' || reason === 'closed') return { partnerId, count, reason, normal: 0 };
      if (!isSurge(count, 0)) return undefined;
      const before = await failures(partnerId, new Date(from.getTime() - dayMs), from);
      const normal = before / spans;
      return isSurge(count, normal) ? { partnerId, count, reason: 'surge', normal } : undefined;
    }),
  );
  return found.flatMap((caller) => caller ?? []);
}
