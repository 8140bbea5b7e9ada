import { type LedgerEntry, type LedgerPage, largestPage } from '../ledger/ledger-page.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';

interface Range {
  /** Entries are not earlier than this time. Undefined means the beginning of the ledger. */
  from?: Date | undefined;
  /** Entries are earlier than this time. Undefined means the end of the ledger. */
  to?: Date | undefined;
  /** Continues a statement after the entry with this `seq`. `untilSeq` is then the value that the first part returned. */
  afterSeq?: number | undefined;
  untilSeq?: number | undefined;
  limit: number;
}

/** A part of a statement. `opening` plus the amounts of the entries is `closing`. */
export interface Statement {
  opening: number;
  closing: number;
  entries: LedgerEntry[];
  /** The `seq` of the last entry of the whole statement. More parts follow if this part ends before it. */
  untilSeq: number;
  /** The number of the first page that was read. It holds the entry before the statement. */
  firstPage: number;
  /** The page of the ledger that holds the last entry of this part. */
  lastPage: Pick<LedgerPage, 'n' | 'digest'>;
}

/** The last page of a wallet. */
export type Wallet = Pick<LedgerPage, 'walletId' | 'n' | 'state'>;
type Store = Pick<LedgerStore, 'summaries' | 'pages'>;
type Summary = Awaited<ReturnType<Store['summaries']>>[number];

const pagesPerRound = 15;

/**
 * Finds the first page for which `isBeyond` holds. It must then hold for all later pages. A round reads pages at equal distances,
 * so 4,000 pages take three reads of the database.
 * @returns the number of the page, or one more than the last page if it holds for no page
 */
export async function findFirstPage(
  { walletId, n }: Wallet,
  store: Pick<Store, 'summaries'>,
  isBeyond: (page: Summary) => boolean,
): Promise<number> {
  let from = 0;
  let to = n + 1;
  while (from < to) {
    const distance = Math.ceil((to - from) / (pagesPerRound + 1));
    const numbers = Array.from({ length: pagesPerRound }, (_, k) => from + (k + 1) * distance - 1);
    const pages = await store.summaries(
      walletId,
      numbers.filter((number) => number < to),
    );
    const beyond = pages.findIndex(isBeyond);
    const before = pages[beyond === -1 ? pages.length - 1 : beyond - 1];
    if (before) from = before.n + 1;
    to = pages[beyond]?.n ?? to;
    if (pages.length === 0) return to;
  }
  return from;
}

/**
 * Returns the entries of a wallet in the order of `seq`. The times of pages never decrease. Therefore the closing balance of one
 * period is the opening balance of the next.
 */
export async function readStatement(wallet: Wallet, range: Range, store: Store): Promise<Statement> {
  const { walletId, n, state: stateNow } = wallet;

  /** Returns the `seq` of the last entry before a time; 0 if there is none. */
  async function findLastSeqBefore(time: Date): Promise<number> {
    const first = await findFirstPage(wallet, store, ({ at }) => at >= time);
    const [before] = first === 0 ? [] : await store.summaries(walletId, [first - 1]);
    return before?.state.seq ?? 0;
  }

  const untilSeq = range.untilSeq ?? (range.to ? await findLastSeqBefore(range.to) : stateNow.seq);
  const afterSeq = range.afterSeq ?? (range.from ? await findLastSeqBefore(range.from) : 0);
  const lastSeq = Math.min(untilSeq, afterSeq + range.limit);
  const entries: LedgerEntry[] = [];
  let opening = 0;
  let lastPage: Statement['lastPage'] = { n: 0, digest: '' };
  // Begins with the page of the entry before the statement. The balance of that entry opens the statement.
  const first = await findFirstPage(wallet, store, ({ state }) => state.seq >= afterSeq);
  // If no page has the entry, only the last page is read, so that `lastPage` is known.
  const firstPage = Math.min(first, n);
  const expected = Math.ceil((lastSeq - afterSeq) / largestPage) + 1;
  for await (const page of store.pages(walletId, { from: firstPage, to: n, expected })) {
    lastPage = { n: page.n, digest: page.digest };
    for (const entry of page.entries) {
      if (entry.seq === afterSeq) opening = entry.balanceAfter;
      if (entry.seq !== undefined && entry.seq > afterSeq && entry.seq <= lastSeq) entries.push(entry);
    }
    if (page.state.seq >= lastSeq) break;
  }
  return {
    opening,
    closing: entries.at(-1)?.balanceAfter ?? opening,
    entries,
    untilSeq,
    firstPage,
    lastPage,
  };
}

/** Reads a whole statement in parts of `range.limit` entries. The parts end where the first one says, if entries are added meanwhile. */
export async function* readStatementParts(
  wallet: Wallet,
  range: Range,
  store: Store,
): AsyncGenerator<Statement> {
  let { afterSeq, untilSeq } = range;
  for (let hasMore = true; hasMore; ) {
    const part = await readStatement(wallet, { ...range, afterSeq, untilSeq }, store);
    yield part;
    ({ untilSeq } = part);
    afterSeq = part.entries.at(-1)?.seq;
    hasMore = afterSeq !== undefined && afterSeq < untilSeq;
  }
}
