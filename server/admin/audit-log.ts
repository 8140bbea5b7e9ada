import { z } from 'zod';
import { AuditLogEntry, ListAuditLog } from '../../contracts/admin/audit-log.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { masked, type RecordRead } from '../platform/admin-api/personal-data.ts';
import { type AdminContext, procedure, router } from '../platform/admin-api/procedures.ts';
import { scopeOf } from '../platform/admin-api/roles.ts';
import { createGroupCommit } from '../platform/batching/group-commit.ts';
import type { Clock } from '../platform/clock.ts';
import type { Actor, CallResult } from '../platform/database/audit-entry.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
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
  'bulkJobs',
  'members',
];

export interface AuditLog extends Sweep {
  /** Copies what the call wrote; where it changed no record that carries entries, or was refused, notes the call itself. */
  recordCall(actor: Actor, input: unknown, result: CallResult): Promise<void>;
  /** Notes a read of personal data. Rejects where it cannot be noted. */
  recordRead: RecordRead;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first identifier of the input is what the call was about; money is filed by partner and mode. */
function targetOf({ action }: Actor, input: unknown): string | null {
  if (!isObject(input)) return null;
  const [target] = Object.entries(input).flatMap(([name, value]) => (/(^id|Id)$/.test(name) ? [value] : []));
  if (typeof target !== 'string') return null;
  const ofWallet =
    /^(wallets|limits)\./.test(action) && (input['mode'] === 'test' || input['mode'] === 'live');
  return ofWallet ? `${target}:${input['mode']}` : target;
}

/** Characters of a field of the input that an entry keeps: a logo is no use there. */
const longestField = 1_000;

/** The part of the input that an entry keeps. The input of a refused call can be any value. */
function kept(input: Record<string, unknown>): Record<string, unknown> {
  // The log is kept for good; an e-mail address is erased with its member.
  const fields = Object.entries(input).filter(
    // Pages call procedures without JSON, with fields that are undefined.
    ([name, value]) => value !== undefined && /^\w{1,64}$/.test(name) && name !== 'email',
  );
  return Object.fromEntries(
    fields.slice(0, 30).map(([name, value]) => {
      const { length } = JSON.stringify(value);
      return [name, length > longestField ? `(${length} characters)` : value];
    }),
  );
}

/** Calls whose entry is in the ledger page that they wrote, and is copied after the answer. */
const carriedByLedger = new Set(['wallets.fund', 'wallets.adjust', 'wallets.refund', 'limits.set']);
/** Calls that change no record with entries. */
const withoutRecord =
  /^(deliveries|jobs|keyring)\.|^schema\.finish$|^members\.signIn$|^webhooks\.(test|trigger)$/;

/** How a call ended that left no entry in a record. */
function endOf({ action }: Actor, result: CallResult): Pick<NewEntry, 'outcome' | 'error'> {
  if (result.outcome === 'refused') return result;
  return withoutRecord.test(action) ? {} : { outcome: 'unchanged' };
}

export function createAuditLog({ store, clock, log }: Dependencies): AuditLog {
  /** One at a time; mutations that end during one share the next. */
  const drain = createGroupCommit<true, null>({
    async run(calls) {
      for (const source of sources) await store.drain(source);
      return calls.map(() => null);
    },
  });

  /** Calls that could not be noted yet, by request. */
  const unrecorded = new Map<string, NewEntry>();

  /** A call that was refused, or changed no record that carries entries. */
  async function note(call: NewEntry): Promise<void> {
    const isRecorded = call.outcome !== 'refused' && (await store.ofRequest(call.requestId)).length > 0;
    if (!isRecorded) await store.add([call]);
    unrecorded.delete(call.requestId);
  }

  async function sweep(): Promise<void> {
    // Read before the drain, which includes the changes of these calls.
    const calls = [...unrecorded.values()];
    await drain(true);
    for (const call of calls) await note(call);
  }

  return {
    name: 'audit log',
    sweep,

    async recordRead(actor, { target, modes, reason, counts }) {
      const input = { modes, ...(reason === undefined ? {} : { reason }), ...counts };
      const at = new Date(clock.now());
      await store.add([{ ...actor, id: `${actor.requestId}:read`, at, target, outcome: 'read', input }]);
    },

    async recordCall(actor, input, result) {
      if (result.outcome === 'done' && !result.repeated && carriedByLedger.has(actor.action)) return;
      const what = { target: targetOf(actor, input), ...(isObject(input) ? { input: kept(input) } : {}) };
      const call = {
        ...actor,
        id: actor.requestId,
        at: new Date(clock.now()),
        ...what,
        ...endOf(actor, result),
      };
      try {
        await sweep();
        await note(call);
      } catch (err) {
        unrecorded.set(call.requestId, call);
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
export function viewEntry({
  _id,
  at,
  outcome,
  error,
  before,
  after,
  input,
  ...entry
}: StoredEntry): AuditLogEntry {
  const { operatorId, operatorName, action, target, requestId, address } = entry;
  return {
    id: _id,
    at: at.toISOString(),
    operatorId,
    operatorName,
    action,
    target,
    outcome: outcome ?? 'changed',
    error: error ?? null,
    before: before ?? null,
    after: after ?? null,
    input: input ?? null,
    requestId,
    address,
  };
}

/** The entries that this operator may read: a role with the scope `own` sees nothing of users that others did. */
const readableBy = <Wanted>({ id, role }: AdminContext['operator'], wanted: Wanted) =>
  scopeOf(role, 'auditLog.list') === 'own' ? { ...wanted, seenBy: id } : wanted;

/** An entry of another operator, without where that operator was. */
const seenBy = ({ id, role }: AdminContext['operator'], entry: AuditLogEntry): AuditLogEntry =>
  scopeOf(role, 'auditLog.list') === 'own' && entry.operatorId !== id ? { ...entry, address: masked } : entry;

/** `svcadmin audit-log list`. There is no other procedure: the log is append-only. */
export function createAuditLogProcedures(store: AuditStore) {
  return router({
    list: procedure
      .input(ListAuditLog)
      .output(z.array(AuditLogEntry))
      .query(async ({ input, ctx }) => {
        const found = await store.list(readableBy(ctx.operator, input));
        return found.map((entry) => seenBy(ctx.operator, viewEntry(entry)));
      }),
    count: procedure
      .input(ListAuditLog.omit(pageFields))
      .output(Total)
      .query(({ input, ctx }) => store.count(readableBy(ctx.operator, input))),
  });
}
