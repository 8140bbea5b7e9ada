import type { Clock } from '../../clock.ts';
import type { AuditedRecord, Change, RecordStore } from '../records.ts';
import { type Actor, type AuditEntry, auditEntry } from './audit-entry.ts';
import { endDryRun } from './dry-run.ts';

interface AuditedChange<R extends AuditedRecord> extends Pick<AuditEntry, 'before' | 'after'> {
  set: Change<R>['set'];
}

/** Decides on a change of a record. It may run again after a concurrent change. If it returns undefined, nothing is written. */
export type Decide<R extends AuditedRecord> = (
  current: R,
  now: number,
) => AuditedChange<R> | undefined | Promise<AuditedChange<R> | undefined>;

/** Makes the function that changes a record of the store, and writes the audit entry of the actor with the change. */
export function createAuditedChange<R extends AuditedRecord>(
  store: Pick<RecordStore<R>, 'change'>,
  clock: Pick<Clock, 'now'>,
) {
  return (id: string, actor: Actor, decide: Decide<R>): Promise<R> =>
    store.change(id, async (current) => {
      const now = clock.now();
      const change = await decide(current, now);
      endDryRun(actor, { changes: change !== undefined });
      if (!change) return undefined;
      const { set, ...difference } = change;
      return { set, entry: auditEntry(actor, { id, at: now }, difference) };
    });
}
