import type { Db } from 'mongodb';

// Reads the ledger as plain documents and adds up plain sums, without the product's rules.

export interface Entry {
  id: string;
  kind: string;
  amount: number;
  balanceAfter: number;
  seq?: number;
  at: Date;
  memo?: { of?: string; caps?: Partial<Caps>; audit?: { id: string } };
  grant?: { sessionId: string; returning: boolean };
}

interface Caps {
  perMinute: number;
  perHour: number;
}

interface Window {
  start: Date;
  used: number;
}

interface Page {
  _id: string;
  walletId: string;
  n: number;
  at: Date;
  entries: Entry[];
  state: { balance: number; seq: number; minute: Window; hour: Window; caps: Caps };
  unpublished?: true;
  previous: string;
  digest: string;
}

/** All stored data about the money of one partner. */
export interface LedgerSnapshot {
  walletId: string;
  pages: Page[];
  /** The entries of all pages, in their order. */
  entries: Entry[];
  /** The sessions of the `vae.resolved` events, one for each event. */
  events: string[];
  /** The ids of operators' commands that are in the ledger but not in the audit log. */
  unrecorded: string[];
  /** The ids of revoked accesses. */
  revoked: Set<string>;
}

interface Owner {
  partnerId: string;
  walletId: string;
}

export async function readSnapshot(db: Db, { partnerId, walletId }: Owner): Promise<LedgerSnapshot> {
  const [pages, events] = await Promise.all([
    db.collection<Page>('ledger').find({ walletId }).sort({ _id: 1 }).toArray(),
    db.collection<{ sessionId: string }>('events').find({ partnerId, type: 'vae.resolved' }).toArray(),
  ]);
  const entries = pages.flatMap((page) => page.entries);
  const acts = entries.flatMap(({ memo }) => memo?.audit?.id ?? []);
  const among = (ids: string[]) => ({ _id: { $in: ids } });
  const [recorded, revocations] = await Promise.all([
    db.collection<{ _id: string }>('auditLog').find(among(acts)).toArray(),
    db
      .collection<{ _id: string }>('revocations')
      .find(among(entries.map(({ id }) => id)))
      .toArray(),
  ]);
  const known = new Set(recorded.map(({ _id }) => _id));
  return {
    walletId,
    pages,
    entries,
    events: events.map(({ sessionId }) => sessionId),
    unrecorded: acts.filter((id) => !known.has(id)),
    revoked: new Set(revocations.map(({ _id }) => _id)),
  };
}

/** Returns the data that a sweep without work must not change, as text. */
export const contentOf = ({ pages, events, unrecorded }: LedgerSnapshot): string =>
  JSON.stringify([pages, [...events].sort(), unrecorded]);

export const isCharge = ({ kind }: Entry): boolean => kind === 'token';
export const chargesOf = ({ entries }: LedgerSnapshot): Entry[] => entries.filter(isCharge);
/** Whether an entry moves no money. */
const notes = new Set(['opening', 'caps', 'fence']);
const total = (entries: readonly Entry[]): number => entries.reduce((sum, { amount }) => sum + amount, 0);

/** Returns how many cents of `funded` are neither in the wallet nor spent on valid charges. */
export function missingCents({ pages, entries }: LedgerSnapshot, funded: number): number {
  const balance = pages.at(-1)?.state.balance ?? 0;
  const charged = -total(entries.filter(isCharge));
  const refunded = total(entries.filter(({ kind }) => kind === 'refund'));
  return Math.abs(funded - (balance + charged - refunded));
}

/** Checks that pages follow each other without a gap, and that each names the previous one. */
function chainFaults({ walletId, pages }: LedgerSnapshot): string[] {
  return pages.flatMap(({ _id, n, at, previous, entries }, index) => {
    const before = pages[index - 1];
    const faults: string[] = [];
    if (n !== index || _id !== `${walletId}/${String(index).padStart(10, '0')}`)
      faults.push(`page ${_id} is number ${n} and stands at position ${index}`);
    if (previous !== (before?.digest ?? '')) faults.push(`page ${n} does not name the page before`);
    if (before && at < before.at) faults.push(`page ${n} is older than the page before`);
    if (entries.length === 0) faults.push(`page ${n} is empty`);
    return faults;
  });
}

const lengths = { minute: 60_000, hour: 3_600_000 };

/** Adds up all entries, and compares the sums with each page. */
function foldFaults({ pages }: LedgerSnapshot): string[] {
  const faults: string[] = [];
  let balance = 0;
  let seq = 0;
  let caps: Caps = { perMinute: 60, perHour: 1_000 };
  const used = { minute: new Map<number, number>(), hour: new Map<number, number>() };
  let last = 0;

  function countCharge(at: number): void {
    last = at;
    for (const bucket of ['minute', 'hour'] as const) {
      const start = at - (at % lengths[bucket]);
      const count = (used[bucket].get(start) ?? 0) + 1;
      used[bucket].set(start, count);
      const limit = bucket === 'minute' ? caps.perMinute : caps.perHour;
      if (count > limit) faults.push(`${count} charges in a ${bucket}, which may have ${limit}`);
    }
  }

  for (const { n, entries, state } of pages) {
    for (const entry of entries) {
      balance += entry.amount;
      if (!notes.has(entry.kind)) seq += 1;
      if (entry.memo?.caps) caps = { ...caps, ...entry.memo.caps };
      if (isCharge(entry)) countCharge(entry.at.getTime());
      if (entry.balanceAfter !== balance)
        faults.push(`entry ${entry.id} says ${entry.balanceAfter}, and the sum is ${balance}`);
      if (entry.seq !== (notes.has(entry.kind) ? undefined : seq))
        faults.push(`entry ${entry.id} has number ${entry.seq} instead of ${seq}`);
      if (balance < 0) faults.push(`the balance is ${balance} after entry ${entry.id}`);
    }
    if (state.balance !== balance || state.seq !== seq)
      faults.push(
        `page ${n} ends with ${state.balance} and ${state.seq}, its entries with ${balance} and ${seq}`,
      );
    if (state.caps.perMinute !== caps.perMinute || state.caps.perHour !== caps.perHour)
      faults.push(`the caps of page ${n} are not those that were set`);
    for (const bucket of ['minute', 'hour'] as const) {
      const start = last - (last % lengths[bucket]);
      const count = used[bucket].get(start) ?? 0;
      if (state[bucket].start.getTime() !== start || state[bucket].used !== count)
        faults.push(
          `the ${bucket} window of page ${n} has ${state[bucket].used} charges instead of ${count}`,
        );
    }
  }
  return faults;
}

/** Describes the faults of the ledger itself, without the answers of clients. */
export function ledgerFaults(snapshot: LedgerSnapshot): string[] {
  const { entries, pages, unrecorded } = snapshot;
  const left = pages.filter(({ unpublished }) => unpublished).length;
  const again = entries.length - new Set(entries.map(({ id }) => id)).size;
  return [
    ...chainFaults(snapshot),
    ...foldFaults(snapshot),
    ...(again > 0 ? [`${again} ids stand more than once`] : []),
    ...(left > 0 ? [`${left} pages are unpublished after the sweeps`] : []),
    ...unrecorded.map((id) => `the audit log lacks ${id}`),
  ];
}
