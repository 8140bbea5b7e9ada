import type { ListedDelivery } from '../../contracts/admin/deliveries.ts';

type Measured = Pick<ListedDelivery, 'keyId' | 'partnerId' | 'partnerName' | 'mode' | 'attempts'>;

/** How fast one endpoint answered the attempts of a span, in milliseconds. Null without an attempt that was answered. */
interface Span {
  attempts: number;
  p50: number | null;
  p95: number | null;
}

/** The answers of one endpoint in a span and in the span of the same length before it. */
export interface Latency {
  keyId: string;
  partnerId: string;
  partnerName: string | null;
  mode: 'test' | 'live';
  attempts: number;
  p50: number | null;
  p95: number | null;
  before: Span;
  /** The p95 divided by that of the span before. Null if one of them is not known. */
  change: number | null;
}

/** Returns the value below which this share of the sorted values is. */
const quantile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;

function spanOf(durations: readonly number[]): Span {
  const sorted = durations.toSorted((one, other) => one - other);
  return { attempts: sorted.length, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
}

/** Collects the durations of attempts by endpoint, for a span in RFC 3339, which ends now if it has no `until`. */
export function createLatencies({ since, until }: { since: string; until: string | undefined }) {
  const endpoints = new Map<string, { of: Measured; durations: number[]; earlier: number[] }>();
  return {
    add(delivery: Measured): void {
      const { keyId, attempts } = delivery;
      const endpoint = endpoints.get(keyId) ?? { of: delivery, durations: [], earlier: [] };
      endpoints.set(keyId, endpoint);
      for (const { at, durationMs } of attempts) {
        // Attempts of a delivery of the span may be later than the span.
        if (durationMs === null || (until !== undefined && at >= until)) continue;
        (at >= since ? endpoint.durations : endpoint.earlier).push(durationMs);
      }
    },
    /** Returns the endpoints, the slowest first. */
    rows(): Latency[] {
      const rows = [...endpoints.values()].map(({ of, durations, earlier }): Latency => {
        const { keyId, partnerId, partnerName, mode } = of;
        const [span, before] = [spanOf(durations), spanOf(earlier)];
        const change =
          span.p95 !== null && before.p95 ? Math.round((span.p95 / before.p95) * 100) / 100 : null;
        return { keyId, partnerId, partnerName, mode, ...span, before, change };
      });
      return rows.toSorted((one, other) => (other.p95 ?? -1) - (one.p95 ?? -1));
    },
  };
}
