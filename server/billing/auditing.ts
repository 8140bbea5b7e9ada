import type { Clock } from '../platform/clock.ts';
import { type AccessStore, keepFor } from './access-store.ts';
import { createChainAudit, type Finding, pairingFault } from './audit.ts';
import { entryOf, type LedgerEntry } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Hold } from './wallet-model.ts';
import type { Wallet, WalletStore } from './wallet-store.ts';

interface Dependencies {
  wallets: Pick<WalletStore, 'find'>;
  ledger: Pick<LedgerStore, 'page' | 'lastSeq' | 'existing' | 'reversalsAmong'>;
  accesses: Pick<AccessStore, 'states' | 'idsOfWallet'>;
  clock: Pick<Clock, 'now'>;
}

/** What an audit of one wallet came to. Without findings, everything agrees. */
export interface AuditReport {
  walletId: string;
  entries: number;
  balance: number;
  /** Seconds since the oldest hold was made; null without holds. */
  oldestHoldSeconds: number | null;
  findings: Finding[];
}

const pageSize = 1_000;
/** Accesses may be purged after this; a charge shortly before is not asked for its access. Milliseconds. */
const pairedFor = keepFor - 24 * 3_600_000;
/** A hold is swept 15 s after its deadline at the latest; milliseconds. */
const sweptWithin = 60_000;

/**
 * Audits a wallet while it is used. What is read first can only have grown since: the accesses and the
 * ledger's end, then the wallet, then the ledger up to the wallet's last entry. An entry that is still a hold counts as written.
 */
export function createAuditing({ wallets, ledger, accesses, clock }: Dependencies) {
  /** The ledger up to the wallet's `seq`, page by page, with holds in the places not written yet. */
  async function* entriesOf(wallet: Wallet): AsyncGenerator<LedgerEntry[]> {
    const held = wallet.holds.map((hold) => entryOf(wallet.id, hold));
    for (let after = 0; after < wallet.seq; after += pageSize) {
      const until = Math.min(after + pageSize, wallet.seq);
      const written = await ledger.page(wallet.id, { after, until });
      const ids = new Set(written.map(({ _id }) => _id));
      const open = held.filter(({ _id, seq }) => seq > after && seq <= until && !ids.has(_id));
      yield [...written, ...open].sort((a, b) => a.seq - b.seq);
    }
  }

  async function pairingFaults(
    entries: readonly LedgerEntry[],
    held: ReadonlySet<string>,
  ): Promise<Finding[]> {
    const youngest = clock.now() - pairedFor;
    const due = entries.filter(({ _id, at }) => !held.has(_id) && at.getTime() > youngest);
    const ids = due.map(({ _id }) => _id);
    const [states, reversals] = await Promise.all([accesses.states(ids), ledger.reversalsAmong(ids)]);
    return due.flatMap((entry) => pairingFault(entry, states.get(entry._id), reversals) ?? []);
  }

  /** Accesses that nothing in the ledger paid for. */
  async function unpaid(ids: readonly string[], held: ReadonlySet<string>): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (let first = 0; first < ids.length; first += pageSize) {
      const some = ids.slice(first, first + pageSize).filter((id) => !held.has(id));
      const paid = await ledger.existing(some);
      const missing = some.filter((id) => !paid.has(id));
      findings.push(...missing.map((id) => ({ problem: `the access ${id} has no ledger entry` })));
    }
    return findings;
  }

  function lateHolds(holds: readonly Hold[]): Finding[] {
    const late = holds.filter(({ deadline }) => clock.now() - deadline.getTime() > sweptWithin);
    return late.map(({ id, seq }) => ({
      seq,
      problem: `the hold ${id} should have been settled: is a sweeper running?`,
    }));
  }

  return {
    /** @returns undefined for a wallet that does not exist */
    async audit(walletId: string): Promise<AuditReport | undefined> {
      const [accessIds, lastSeq] = await Promise.all([
        accesses.idsOfWallet(walletId),
        ledger.lastSeq(walletId),
      ]);
      const wallet = await wallets.find(walletId);
      if (!wallet) return undefined;
      const { holds, balance, seq } = wallet;
      const held = new Set(holds.map(({ id }) => id));
      const chain = createChainAudit(wallet);
      const pairing: Finding[] = [];
      for await (const entries of entriesOf(wallet)) {
        for (const entry of entries) chain.add(entry);
        pairing.push(...(await pairingFaults(entries, held)));
      }
      chain.end();
      if (lastSeq > seq)
        chain.findings.push({
          seq: seq + 1,
          problem: `the ledger goes on to ${lastSeq}, the wallet to ${seq}`,
        });
      const oldest = Math.min(...holds.map(({ at }) => at.getTime()));
      const findings = [
        ...chain.findings,
        ...pairing,
        ...(await unpaid(accessIds, held)),
        ...lateHolds(holds),
      ];
      return {
        walletId,
        entries: seq,
        balance,
        oldestHoldSeconds: holds.length === 0 ? null : Math.max(0, Math.round((clock.now() - oldest) / 1000)),
        findings: findings.sort(
          (a, b) => (a.seq ?? Number.POSITIVE_INFINITY) - (b.seq ?? Number.POSITIVE_INFINITY),
        ),
      };
    },
  };
}
export type Auditing = ReturnType<typeof createAuditing>;
