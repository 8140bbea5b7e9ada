import { z } from 'zod';
import { AuditLogEntry, ListAuditLog } from '../../contracts/admin/audit-log.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import type { Actor } from '../platform/audit-entry.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sweep } from '../platform/event-draft.ts';
import { createStage } from '../platform/group-commit.ts';
import type { Logger } from '../platform/logging.ts';
import type { AuditStore, NewEntry, StoredEntry } from './audit-store.ts';

interface Dependencies {
  store: AuditStore;
  clock: Pick<Clock, 'now'>;
  log: Pick<Logger, 'error'>;
}

/** Collections whose documents carry audit entries until they are copied. */
const sources = [
  'partners',
  'apiKeys',
  'clients',
  'operators',
  'enrollments',
  'users',
  'wallets',
  'integrations',
];

export interface AuditLog extends Sweep {
  /** Copies what the mutation wrote; where it changed no record that carries entries, notes the call itself. */
  mutated(actor: Actor, input: unknown): Promise<void>;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first identifier of the input is what the call was about. */
function targetOf(input: unknown): string | null {
  if (!isObject(input)) return null;
  const [target] = Object.entries(input).flatMap(([name, value]) => (/(^id|Id)$/.test(name) ? [value] : []));
  return typeof target === 'string' ? target : null;
}

export function createAuditLog({ store, clock, log }: Dependencies): AuditLog {
  /** One at a time; mutations that end during one share the next. */
  const drain = createStage<true, null>({
    async run(calls) {
      for (const source of sources) await store.drain(source);
      return calls.map(() => null);
    },
  });

  /** Calls that could not be noted yet, by request. */
  const owed = new Map<string, NewEntry>();

  /** A call that changed no record that carries entries. */
  async function note(call: NewEntry): Promise<void> {
    if ((await store.ofRequest(call.requestId)).length === 0) await store.add([call]);
    owed.delete(call.requestId);
  }

  async function sweep(): Promise<void> {
    // Taken before: what these calls have changed is among what is drained now.
    const calls = [...owed.values()];
    await drain(true);
    for (const call of calls) await note(call);
  }

  return {
    name: 'audit log',
    sweep,

    async mutated(actor, input) {
      const what = { target: targetOf(input), ...(isObject(input) ? { input } : {}) };
      const call = { ...actor, id: actor.requestId, at: new Date(clock.now()), ...what };
      try {
        await sweep();
        await note(call);
      } catch (err) {
        owed.set(call.requestId, call);
        // The change is made; the next sweep copies its entry, or notes the call.
        log.error(
          { err, requestId: actor.requestId, action: actor.action },
          'audit entries were not copied yet',
        );
      }
    },
  };
}

/** An entry as operators see it. */
export function viewEntry({ _id, at, before, after, input, ...entry }: StoredEntry): AuditLogEntry {
  const { operatorId, operatorName, action, target, requestId, address } = entry;
  return {
    id: _id,
    at: at.toISOString(),
    operatorId,
    operatorName,
    action,
    target,
    before: before ?? null,
    after: after ?? null,
    input: input ?? null,
    requestId,
    address,
  };
}

/** `svcadmin audit-log list`. There is no other procedure: the log is append-only. */
export function createAuditLogProcedures(store: AuditStore) {
  return router({
    list: procedure
      .input(ListAuditLog)
      .output(z.array(AuditLogEntry))
      .query(async ({ input }) => (await store.list(input)).map(viewEntry)),
  });
}
