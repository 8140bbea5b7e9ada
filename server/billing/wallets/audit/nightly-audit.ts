import { monotonicTime } from '../../../platform/clock.ts';
import type { Sweep } from '../../../platform/database/event-draft.ts';
import { sha256 } from '../../../platform/ids.ts';
import type { WalletsContext } from '../context.ts';
import type { WalletAudit } from './audit-wallet.ts';
import { type AuditRun, auditRunRead, isTaken } from './fault-store.ts';

const dayMs = 86_400_000;
/** The hour of the day, in UTC, at which the audit begins. */
const beginsAtHour = 2;
/** A sweep audits for about so many milliseconds, so that other sweeps run too. */
const auditForMs = 2_000;
/** If the process ends during a sweep, another one continues after so many milliseconds. */
const leaseMs = 600_000;
const pageLength = 20;

/** The day whose audit is due: from 02:00 UTC on, the present one. */
const dueDayOf = (now: number) => new Date(now - beginsAtHour * 3_600_000).toISOString().slice(0, 10);

/** Whether a wallet is read from its first page on this day. Each wallet is, once a week; on other days, only new pages are read. */
const isReadWhole = (walletId: string, day: string): boolean =>
  (Buffer.from(sha256(walletId), 'base64url').readUInt32BE() + Date.parse(day) / dayMs) % 7 === 0;

/**
 * Audits all wallets each night, some in each sweep, in one process at a time.
 * @param monotonic returns a time in milliseconds that never goes back. Tests give their own
 */
export function createNightlyAudit(
  { stores, clock, logger, worker }: Pick<WalletsContext, 'stores' | 'clock' | 'logger' | 'worker'>,
  audit: WalletAudit,
  monotonic = monotonicTime,
): Sweep {
  const { ledger: store, faults } = stores;

  async function auditOne(walletId: string, day: string): Promise<void> {
    const report = await audit.audit(walletId, { sinceCheckpoint: !isReadWhole(walletId, day) });
    if (report && report.findings.length > 0)
      logger.error(
        { walletId, findings: report.findings.slice(0, 10) },
        'a ledger does not add up: see SvcLedgerFault in docs/operations.md',
      );
  }

  /** Audits the wallets after `after` until the time is over. @returns the last one; undefined if none is left */
  async function auditSome(after: string | undefined, day: string): Promise<string | undefined> {
    const endsAt = monotonic() + auditForMs;
    let last = after;
    while (monotonic() < endsAt) {
      const ids = await store.walletIds({ limit: pageLength, after: last });
      for (const id of ids) await auditOne(id, day);
      if (ids.length < pageLength) return undefined;
      last = ids.at(-1);
    }
    return last;
  }

  return {
    name: 'audit of the ledgers',
    look: () => ({
      reads: [auditRunRead],
      isDue: (found) => {
        const run = found[0]?.[0] as AuditRun | undefined;
        const now = clock.now();
        return worker && !(run && isTaken(run, dueDayOf(now), new Date(now)));
      },
    }),
    async sweep() {
      if (!worker) return;
      const now = clock.now();
      const day = dueDayOf(now);
      const run = await faults.take(day, new Date(now), new Date(now + leaseMs));
      if (!run) return;
      const after = await auditSome(run.after, day);
      const endedAt = new Date(clock.now());
      await faults.proceed(run, after === undefined ? { endedAt } : { after }, endedAt);
    },
  };
}
