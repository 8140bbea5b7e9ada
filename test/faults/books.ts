import type { Db } from 'mongodb';

// The suite's own reading of the collections: plain documents and plain sums, none of the product's code.

interface Entry {
  _id: string;
  seq: number;
  kind: string;
  amount: number;
  balanceAfter: number;
  legs: { amount: number }[];
}

interface Held {
  id: string;
  seq: number;
  kind: string;
  amount: number;
  deadline: Date;
}

interface WalletDocument {
  _id: string;
  balance: number;
  seq: number;
  holds: Held[];
}

export interface AccessDocument {
  _id: string;
  state: 'live' | 'void';
  walletId: string;
  sessionId?: string;
  returning?: boolean;
  revokedAt?: Date;
}

/** Everything about one partner's money, as it stands in the database. */
export interface Books {
  wallet: WalletDocument;
  entries: Entry[];
  accesses: AccessDocument[];
  /** Holds that have no entry yet; one of the same id with another `seq` is not theirs. */
  open: Held[];
  /** The sessions that `vae.resolved` was told of. */
  told: string[];
}

interface Owner {
  partnerId: string;
  walletId: string;
}

export async function readBooks(db: Db, { partnerId, walletId }: Owner): Promise<Books> {
  const wallet = await db.collection<WalletDocument>('wallets').findOne({ _id: walletId });
  if (!wallet) throw new Error(`there is no wallet ${walletId}`);
  const [entries, accesses, events] = await Promise.all([
    db.collection<Entry & { walletId: string }>('ledger').find({ walletId }).sort({ seq: 1 }).toArray(),
    db.collection<AccessDocument>('accesses').find({ walletId }).toArray(),
    db.collection<{ sessionId: string }>('events').find({ partnerId, type: 'vae.resolved' }).toArray(),
  ]);
  const written = new Set(entries.map(({ _id, seq }) => `${_id} ${seq}`));
  const open = wallet.holds.filter(({ id, seq }) => !written.has(`${id} ${seq}`));
  return { wallet, entries, accesses, open, told: events.map(({ sessionId }) => sessionId) };
}

/** What a sweep that finds nothing to do leaves as it is; ids leave the wallet a moment later, which moves nothing. */
export const movesOf = ({ wallet, entries, accesses }: Books): string =>
  JSON.stringify([
    wallet.balance,
    wallet.seq,
    entries,
    accesses.map(({ _id, state }) => [_id, state]).sort(),
  ]);

export const isCharge = ({ kind }: { kind: string }): boolean => kind === 'token';
export const total = (amounts: readonly { amount: number }[]): number =>
  amounts.reduce((sum, { amount }) => sum + amount, 0);

/** Cents that are neither where they came from nor where they went. */
export function missingCents({ wallet, entries, open }: Books, funded: number): number {
  const charges = -total(entries.filter(isCharge));
  const reversals = total(entries.filter(({ kind }) => kind === 'reversal'));
  const held = -total(open);
  return Math.abs(funded - (wallet.balance + charges - reversals + held));
}

/** What is wrong with the ledger as a ledger, in words. */
export function ledgerFaults({ wallet, entries, open }: Books): string[] {
  const faults: string[] = [];
  let balance = 0;
  for (const [index, entry] of entries.entries()) {
    balance += entry.amount;
    if (entry.seq !== index + 1) faults.push(`entry ${entry._id} is number ${entry.seq}, not ${index + 1}`);
    if (entry.balanceAfter !== balance) {
      faults.push(`entry ${entry._id} says ${entry.balanceAfter}, and the sum is ${balance}`);
    }
    if (total(entry.legs) !== 0) faults.push(`the legs of ${entry._id} do not balance`);
  }
  if (open.length > 0) faults.push(`${open.length} holds are still open after the sweep`);
  if (wallet.seq !== entries.length + open.length) {
    faults.push(`the wallet counts ${wallet.seq} movements, the ledger ${entries.length}`);
  }
  return faults;
}
