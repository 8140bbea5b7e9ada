import type { Db } from 'mongodb';
import type { Read } from '../../../platform/database/reads/joint-reads.ts';

/** A wallet whose last audit has findings that no adjustment acknowledges. */
interface Fault {
  /** The wallet's id. */
  _id: string;
  findings: number;
  /** When the first audit found them. */
  since: Date;
  auditedAt: Date;
}

/** The progress of the nightly audit of all wallets, in one document. */
export interface AuditRun {
  _id: 'nightly';
  /** The day of the run, such as `2026-07-01`. */
  day: string;
  /** The last wallet that was audited. */
  after?: string;
  /** Until then, no other process audits. */
  until: Date;
  endedAt?: Date;
  /** When the run before ended. */
  lastEndedAt?: Date;
}

export const faultCollection = 'ledgerFaults';
export const auditCollection = 'ledgerAudits';

type Progress = Pick<AuditRun, 'day' | 'until' | 'endedAt'>;
export const auditRunRead: Read = {
  collection: auditCollection,
  filter: { _id: 'nightly' },
  projection: { day: 1, until: 1, endedAt: 1 },
};

/** Whether a process has the run of a day, or has ended it. */
export const isTaken = (run: Progress, day: string, now: Date): boolean =>
  run.until > now || (run.day === day && run.endedAt !== undefined);

/** Stores which ledgers are at fault, and how far the nightly audit is. */
export function createFaultStore(db: Db) {
  const faults = db.collection<Fault>(faultCollection);
  const runs = db.collection<AuditRun>(auditCollection);
  const _id = 'nightly' as const;

  return {
    /** Stores the result of an audit. A wallet without findings is forgotten. */
    async save(walletId: string, findings: number, auditedAt: Date): Promise<void> {
      if (findings === 0) await faults.deleteOne({ _id: walletId });
      else
        await faults.updateOne(
          { _id: walletId },
          { $set: { findings, auditedAt }, $setOnInsert: { since: auditedAt } },
          { upsert: true },
        );
    },

    /** The wallets at fault, at most 20, and how many there are. */
    async faults(): Promise<{ count: number; wallets: string[] }> {
      const [count, found] = await Promise.all([
        faults.countDocuments({}),
        faults.find().sort({ _id: 1 }).limit(20).toArray(),
      ]);
      return { count, wallets: found.map((fault) => fault._id) };
    },

    run: (): Promise<AuditRun | null> => runs.findOne({ _id }),

    /**
     * Takes the run of a day over, if no process has it and it has not ended. Of two processes, one gets it.
     * @returns the run; undefined if there is nothing to do
     */
    async take(day: string, now: Date, until: Date): Promise<AuditRun | undefined> {
      const before = await runs.findOne({ _id });
      if (before && isTaken(before, day, now)) return undefined;
      const { lastEndedAt, endedAt = lastEndedAt } = before ?? {};
      const fresh: AuditRun = { _id, day, until, ...(endedAt && { lastEndedAt: endedAt }) };
      const next: AuditRun = before?.day === day ? { ...before, until } : fresh;
      if (!before) {
        const { upsertedCount } = await runs.updateOne({ _id }, { $setOnInsert: next }, { upsert: true });
        return upsertedCount === 1 ? next : undefined;
      }
      const { modifiedCount } = await runs.replaceOne({ _id, until: before.until }, next);
      return modifiedCount === 1 ? next : undefined;
    },

    /** Stores how far a run is. With `endedAt`, it is complete. The run is free for other processes at `until`. */
    async proceed(
      { until }: AuditRun,
      progress: Pick<AuditRun, 'after' | 'endedAt'>,
      freeAt: Date,
    ): Promise<void> {
      await runs.updateOne({ _id, until }, { $set: { ...progress, until: freeAt } });
    },
  };
}
