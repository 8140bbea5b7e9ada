import { counterAccount, type LedgerEntry, reversalIdOf, walletAccount } from './ledger.ts';
import { isBillable } from './wallet-model.ts';

/** What is wrong with a wallet, and from which entry on; without `seq` it is the wallet as a whole. */
export interface Finding {
  seq?: number;
  problem: string;
}

/** What an entry's id leads to among the accesses: `live`, `void` (a tombstone), or nothing. */
export type Paired = 'live' | 'void' | undefined;

const dollars = (cents: number) => (cents / 100).toFixed(2);

/** Faults of one entry by itself: integers, signs, and legs that add up to zero on the right accounts. */
function faultsOf(entry: LedgerEntry): string[] {
  const { walletId, kind, amount, balanceAfter, legs } = entry;
  const [own, other] = legs;
  const integers = [amount, balanceAfter, ...legs.map((leg) => leg.amount)].every(Number.isSafeInteger);
  const wrongSign = isBillable(kind) ? amount > 0 : kind !== 'adjustment' && amount < 0;
  const accounts = own?.account === walletAccount(walletId) && other?.account === counterAccount(kind);
  return [
    ...(integers ? [] : ['an amount is not a whole number of cents']),
    ...(wrongSign ? [`a ${kind} of ${dollars(amount)} has the wrong sign`] : []),
    ...(legs.length === 2 && accounts ? [] : [`the legs are not those of kind ${kind}`]),
    ...(legs.reduce((sum, leg) => sum + leg.amount, 0) === 0 ? [] : ['the legs do not add up to zero']),
    ...(own?.amount === amount ? [] : ["the wallet's leg differs from the amount"]),
    ...(balanceAfter < 0 ? [`the balance falls below zero: ${dollars(balanceAfter)}`] : []),
  ];
}

/**
 * Follows a wallet's ledger from entry 1 on, in the order of `seq`: no gaps, each balance follows from the
 * one before, and in the end both agree with the wallet. Entries may be fed page by page.
 */
export function createChainAudit(wallet: { balance: number; seq: number }) {
  const findings: Finding[] = [];
  let seq = 0;
  let balance = 0;

  return {
    findings,
    add(entry: LedgerEntry): void {
      if (entry.seq !== seq + 1) {
        const problem = entry.seq <= seq ? `entry ${entry._id} repeats a seq` : `seq ${seq + 1} is missing`;
        findings.push({ seq: entry.seq <= seq ? entry.seq : seq + 1, problem });
      }
      for (const problem of faultsOf(entry)) findings.push({ seq: entry.seq, problem });
      if (balance + entry.amount !== entry.balanceAfter) {
        const problem = `the balance is ${dollars(entry.balanceAfter)}, but follows as ${dollars(balance + entry.amount)}`;
        findings.push({ seq: entry.seq, problem });
      }
      seq = entry.seq;
      balance = entry.balanceAfter;
    },
    end(): void {
      if (seq !== wallet.seq)
        findings.push({ seq: seq + 1, problem: `the wallet counts ${wallet.seq} entries` });
      else if (balance !== wallet.balance) {
        findings.push({
          seq,
          problem: `the wallet holds ${dollars(wallet.balance)}, its ledger ${dollars(balance)}`,
        });
      }
    },
  };
}

/** A charge needs its access, a reversed one its tombstone; `reversals` are the ids of the ledger's reversals. */
export function pairingFault(
  entry: LedgerEntry,
  paired: Paired,
  reversals: ReadonlySet<string>,
): Finding | undefined {
  if (!isBillable(entry.kind)) return undefined;
  const reversed = reversals.has(reversalIdOf(entry._id));
  if (paired === (reversed ? 'void' : 'live')) return undefined;
  const problem = reversed
    ? `the charge ${entry._id} was reversed, but ${paired === 'live' ? 'its access lives' : 'has no tombstone'}`
    : `the charge ${entry._id} ${paired === 'void' ? 'is void, but was not reversed' : 'has no access'}`;
  return { seq: entry.seq, problem };
}
