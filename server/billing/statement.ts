import { entryOf, type LedgerEntry } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Wallet } from './wallet-store.ts';

interface Range {
  /** Entries at or after this time; from the first on where undefined. */
  from?: Date | undefined;
  /** Entries before this time; to the last where undefined. */
  to?: Date | undefined;
  /** Continues a statement after this entry, up to `untilSeq` of its first page. */
  afterSeq?: number | undefined;
  untilSeq?: number | undefined;
  limit: number;
}

/** A part of a statement: `opening` plus its lines is `closing`, whatever happens meanwhile. */
export interface Statement {
  opening: number;
  closing: number;
  entries: LedgerEntry[];
  /** Last entry of the whole statement; more pages follow while the last line here is before it. */
  untilSeq: number;
}

/**
 * The lines of a wallet in the order of `seq`, from the first entry at or after `from` to the last before
 * `to`. Money that has moved but is not in the ledger yet is read from the wallet, so nothing is missing.
 */
export async function readStatement(
  wallet: Wallet,
  range: Range,
  ledger: Pick<LedgerStore, 'page' | 'edges' | 'balanceAt'>,
): Promise<Statement> {
  const held = wallet.holds.map((hold) => entryOf(wallet.id, hold));
  const inRange = held.filter(({ at }) => (!range.from || at >= range.from) && (!range.to || at < range.to));
  const edges = await ledger.edges(wallet.id, range);
  const seqs = [...inRange.map(({ seq }) => seq), ...edges].filter((seq) => seq <= wallet.seq);
  const untilSeq = range.untilSeq ?? Math.max(0, ...seqs);
  const after = range.afterSeq ?? (seqs.length === 0 ? 0 : Math.min(...seqs) - 1);
  const until = Math.min(untilSeq, after + range.limit);

  const written = after < until ? await ledger.page(wallet.id, { after, until }) : [];
  const ids = new Set(written.map(({ _id }) => _id));
  const open = held.filter(({ _id, seq }) => seq > after && seq <= until && !ids.has(_id));
  const entries = [...written, ...open].sort((a, b) => a.seq - b.seq);

  const [first] = entries;
  const opening = first ? first.balanceAfter - first.amount : await balanceBefore(wallet, range, ledger);
  return { opening, closing: entries.at(-1)?.balanceAfter ?? opening, entries, untilSeq };
}

/** The balance of a range without lines. */
async function balanceBefore(
  wallet: Wallet,
  { from }: Range,
  ledger: Pick<LedgerStore, 'balanceAt'>,
): Promise<number> {
  return from ? ledger.balanceAt(wallet.id, from) : 0;
}
