import { entryOf, type LedgerEntry } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Wallet } from './wallet-store.ts';

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

/** A part of a statement: `opening` plus its lines is `closing`, whatever happens meanwhile. */
export interface Statement {
  opening: number;
  closing: number;
  entries: LedgerEntry[];
  /** Last entry of the whole statement; more pages follow while the last line here is before it. */
  untilSeq: number;
}

type Ledger = Pick<LedgerStore, 'page' | 'firstSeqFrom'>;

/**
 * The lines of a wallet in the order of `seq`. A time cuts the ledger before the first entry at or after it,
 * at both ends, so that what closes one month opens the next: `at` is taken before entries of several
 * processes get their `seq`, and neighbours may differ by milliseconds. Money that has moved but is not in
 * the ledger yet is read from the wallet, so nothing is missing.
 */
export async function readStatement(wallet: Wallet, range: Range, ledger: Ledger): Promise<Statement> {
  const held = wallet.holds.map((hold) => entryOf(wallet.id, hold));

  /** Last seq before `time`. */
  async function cut(time: Date): Promise<number> {
    const later = held.filter(({ at }) => at >= time).map(({ seq }) => seq);
    const written = await ledger.firstSeqFrom(wallet.id, time);
    return Math.min(
      wallet.seq,
      ...[...later, ...(written === undefined ? [] : [written])].map((seq) => seq - 1),
    );
  }

  /** Entries with `after` < seq ≤ `until`. */
  async function lines(after: number, until: number): Promise<LedgerEntry[]> {
    if (after >= until) return [];
    const written = await ledger.page(wallet.id, { after, until });
    const ids = new Set(written.map(({ _id }) => _id));
    const open = held.filter(({ _id, seq }) => seq > after && seq <= until && !ids.has(_id));
    return [...written, ...open].sort((a, b) => a.seq - b.seq);
  }

  const untilSeq = range.untilSeq ?? (range.to ? await cut(range.to) : wallet.seq);
  const after = range.afterSeq ?? (range.from ? await cut(range.from) : 0);
  const entries = await lines(after, Math.min(untilSeq, after + range.limit));
  const [before] = after === 0 ? [] : await lines(after - 1, after);
  const opening = before?.balanceAfter ?? 0;
  return { opening, closing: entries.at(-1)?.balanceAfter ?? opening, entries, untilSeq };
}
