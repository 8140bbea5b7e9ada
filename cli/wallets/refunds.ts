import { BillableKind } from '../../contracts/charge.ts';
import type { AdminApi } from '../connection/client.ts';

type StatementEntry = Awaited<ReturnType<AdminApi['wallets']['statement']['query']>>['entries'][number];

/** The charges of a wallet to refund. Times are RFC 3339 in UTC. */
export interface ChargeFilter {
  partnerId: string;
  mode: 'test' | 'live';
  from: string;
  to: string | undefined;
  client: string | undefined;
  kind: string | undefined;
}

interface Refundable {
  /** The charges that were not refunded yet. */
  charges: StatementEntry[];
  /** How many others match the filter, but were refunded before. */
  refundedBefore: number;
}

/** Reads the entries of a wallet, all of them or those from a time on. */
export async function* readEntries(
  api: AdminApi,
  wallet: Pick<ChargeFilter, 'partnerId' | 'mode'> & { from?: string },
): AsyncGenerator<StatementEntry> {
  for (let afterSeq: number | undefined, untilSeq: number | undefined; ; ) {
    const part = await api.wallets.statement.query({ ...wallet, afterSeq, untilSeq });
    yield* part.entries;
    if (!part.more) return;
    ({ untilSeq } = part);
    afterSeq = part.entries.at(-1)?.seq ?? undefined;
  }
}

/** Finds the charges that a filter selects. Also reads the entries after the period, because refunds follow their charges. */
export async function findRefundable(api: AdminApi, filter: ChargeFilter): Promise<Refundable> {
  const { partnerId, mode, from, to, client, kind } = filter;
  const isWanted = (entry: StatementEntry): boolean =>
    BillableKind.safeParse(entry.kind).success &&
    entry.amount < 0 &&
    (to === undefined || entry.at < to) &&
    (client === undefined || entry.clientId === client) &&
    (kind === undefined || entry.kind === kind);
  const matching: StatementEntry[] = [];
  const refunded = new Set<string>();
  for await (const entry of readEntries(api, { partnerId, mode, from })) {
    if (entry.of !== null) refunded.add(entry.of);
    if (isWanted(entry)) matching.push(entry);
  }
  const charges = matching.filter(({ id }) => !refunded.has(id));
  return { charges, refundedBefore: matching.length - charges.length };
}
