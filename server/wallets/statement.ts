import type { Head } from '../billing/heads.ts';
import type { LedgerEntry, LedgerPage } from '../billing/ledger-page.ts';
import type { LedgerStore } from '../billing/ledger-store.ts';

interface Range {
  /** Entries from this time on; from the first where undefined. */
  from?: Date | undefined;
  /** Entries before this time; to the last where undefined. */
  to?: Date | undefined;
  /** Continues a statement after this entry, up to `untilSeq` of its first page. */
  afterSeq?: number | undefined;
  untilSeq?: number | undefined;
  limit: number;
}

/** A part of a statement: `opening` plus its lines is `closing`. */
export interface Statement {
  opening: number;
  closing: number;
  entries: LedgerEntry[];
  /** Last entry of the whole statement; more lines follow while the last one here is before it. */
  untilSeq: number;
  /** The page of the ledger that holds the last line here, or the state before it. */
  chain: Pick<LedgerPage, 'n' | 'digest'>;
}

interface Wallet {
  walletId: string;
  head: Pick<Head, 'n' | 'state'>;
}

type Store = Pick<LedgerStore, 'summary' | 'pages'>;
type Summary = NonNullable<Awaited<ReturnType<Store['summary']>>>;

/** Number of the first page that `isBeyond`, by halves; one more than the last page where none is. It must hold for all later ones. */
async function firstPage(
  { walletId, head }: Wallet,
  store: Store,
  isBeyond: (page: Summary) => boolean,
): Promise<number> {
  let from = 0;
  let to = head.n + 1;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const page = await store.summary(walletId, middle);
    if (page && isBeyond(page)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/**
 * The lines of a wallet in the order of `seq`. Time never goes back along the pages, so a time cuts the ledger exactly, and the
 * closing balance of one period opens the next.
 */
export async function readStatement(wallet: Wallet, range: Range, store: Store): Promise<Statement> {
  const { walletId, head } = wallet;

  /** Last seq before `time`. */
  async function seqBefore(time: Date): Promise<number> {
    const first = await firstPage(wallet, store, ({ at }) => at >= time);
    return first === 0 ? 0 : ((await store.summary(walletId, first - 1))?.state.seq ?? 0);
  }

  const untilSeq = range.untilSeq ?? (range.to ? await seqBefore(range.to) : head.state.seq);
  const after = range.afterSeq ?? (range.from ? await seqBefore(range.from) : 0);
  const last = Math.min(untilSeq, after + range.limit);
  const entries: LedgerEntry[] = [];
  let opening = 0;
  let chain: Statement['chain'] = { n: 0, digest: '' };
  // Begins with the page of the line before, whose balance opens the statement.
  const from = await firstPage(wallet, store, ({ state }) => state.seq >= after);
  for await (const page of store.pages(walletId, { from: Math.min(from, head.n), to: head.n })) {
    chain = { n: page.n, digest: page.digest };
    for (const entry of page.entries) {
      if (entry.seq === after) opening = entry.balanceAfter;
      if (entry.seq !== undefined && entry.seq > after && entry.seq <= last) entries.push(entry);
    }
    if (page.state.seq >= last) break;
  }
  return { opening, closing: entries.at(-1)?.balanceAfter ?? opening, entries, untilSeq, chain };
}
