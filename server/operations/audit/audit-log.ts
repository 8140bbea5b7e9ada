import { z } from 'zod';
import { AuditLogEntry, ListAuditLog } from '../../../contracts/admin/audit-log.ts';
import { pageFields, Total } from '../../../contracts/admin/references.ts';
import { identifierKind, Mode } from '../../../contracts/identifiers.ts';
import { collection as ledgerCollection } from '../../billing/ledger/ledger-store.ts';
import { createUserRecords } from '../../people/users/user-records.ts';
import { masked, type RecordRead, seesPeople } from '../../platform/admin-api/personal-data.ts';
import { type AdminContext, query, router } from '../../platform/admin-api/procedures.ts';
import { type Role, scopeOf, whoMay } from '../../platform/admin-api/roles.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import { distinct } from '../../platform/batching/distinct.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Actor, AuditRule, CallResult } from '../../platform/database/audit/audit-entry.ts';
import type { Sweep } from '../../platform/database/event-draft.ts';
import { ApiError } from '../../platform/errors.ts';
import { isObject } from '../../platform/http/parameters.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { firstOperator } from '../operators/authentication.ts';
import type { Stores } from '../stores.ts';
import { actionsNamed } from './audit-actions.ts';
import { isOfPartners, type NewEntry, type StoredEntry } from './audit-entries.ts';
import { type AuditStore, auditSources, waitingReads } from './audit-store.ts';

export interface AuditLog extends Sweep {
  /**
   * Copies the entries that a call wrote, by the rule of its procedure. If the call was refused, or changed no record that carries entries, an entry of the
   * call itself is added.
   */
  recordCall(actor: Actor, input: unknown, result: CallResult, rule: AuditRule): Promise<void>;
  /** Adds an entry for a read of personal data. Rejects if the entry cannot be written. */
  recordRead: RecordRead;
}

/** Returns the record that a call is about, or the records if they are several. The input of a refused call can be any value. */
function targetsOf({ target }: AuditRule, input: unknown): Pick<NewEntry, 'target' | 'targets'> {
  if (target === null || !isObject(input)) return { target: null };
  const named: unknown[] = [input[target === 'wallet' ? 'partnerId' : target]].flat();
  const [id = null, ...others] = distinct(named.filter((each) => typeof each === 'string'));
  if (id === null || others.length > 0)
    return { target: null, ...(id !== null && { targets: [id, ...others] }) };
  const mode = Mode.safeParse(input['mode']);
  return { target: target === 'wallet' && mode.success ? `${id}:${mode.data}` : id };
}

/** The most characters that an entry keeps of a field of the input. A longer value, such as a logo, is left out. */
const longestField = 1_000;
const mostFields = 30;

/** Returns the part of the input that an entry keeps. The input of a refused call can be any value. */
function keptFields(input: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(input)
    // Pages call procedures directly, without JSON, so a field may be undefined.
    .filter(([name, value]) => value !== undefined && /^\w{1,64}$/.test(name))
    // The log is never deleted, but e-mail addresses must be erased with the member or the contact.
    .filter(([name]) => !/^(emails?|contacts)$/.test(name));
  // `fromEntries` keeps a field that is called `__proto__`; an assignment would not.
  return Object.fromEntries(
    fields.slice(0, mostFields).map(([name, value]) => {
      const { length } = JSON.stringify(value);
      return [name, length > longestField ? `(${length} characters)` : value];
    }),
  );
}

/** Returns the outcome of a call that wrote no entry into a record. */
function outcomeOf({ record }: AuditRule, result: CallResult): Pick<NewEntry, 'outcome' | 'error'> {
  if (result.outcome === 'refused') return result;
  return record === 'none' ? {} : { outcome: 'unchanged' };
}

export function createAuditLog(
  store: AuditStore,
  clock: Pick<Clock, 'now'>,
  log: Pick<Logger, 'error'>,
): AuditLog {
  /**
   * Copies the entries that wait in some collections, and returns the ids of their requests. Calls that arrive during a drain
   * share the next one.
   */
  const drain = createGroupCommit<readonly string[], ReadonlySet<string>>({
    async run(callers) {
      const requests = new Set(await store.drain([...new Set(callers.flat())]));
      return callers.map(() => requests);
    },
  });

  /** Calls that have no entry yet because the database failed, by request id. */
  const unrecorded = new Map<string, NewEntry>();

  /** Adds an entry for a call that was refused, or that wrote no entry into a record. */
  async function addEntry(call: NewEntry): Promise<void> {
    const isRecorded = call.outcome !== 'refused' && (await store.ofRequest(call.requestId)).length > 0;
    if (!isRecorded) await store.add([call]);
    unrecorded.delete(call.requestId);
  }

  async function sweep(): Promise<void> {
    // Read the calls before the drain, so that the drain includes their changes.
    const calls = [...unrecorded.values()];
    await drain(auditSources);
    for (const call of calls) await addEntry(call);
  }

  /**
   * Whether the entry of a successful call was in the collection of its rule, and was copied. False while
   * other calls have no entry yet, so that a sweep adds theirs.
   */
  async function isCopied(
    requestId: string,
    { record }: AuditRule,
    { outcome }: CallResult,
  ): Promise<boolean> {
    if (outcome === 'refused' || !auditSources.includes(record) || unrecorded.size > 0) return false;
    return (await drain([record])).has(requestId);
  }

  return {
    name: 'audit log',
    look: () => ({
      reads: waitingReads,
      isDue: (found) => unrecorded.size > 0 || found.flat().length > 0,
    }),
    sweep,

    async recordRead(actor, { target, modes, reason, counts }) {
      const input = { modes, ...(reason === undefined ? {} : { reason }), ...counts };
      const at = new Date(clock.now());
      await store.add([{ ...actor, id: `${actor.requestId}:read`, at, target, outcome: 'read', input }]);
    },

    async recordCall(actor, input, result, rule) {
      // A repeated call writes no ledger page, so it gets an entry here.
      const isInLedger = result.outcome === 'done' && !result.repeated && rule.record === ledgerCollection;
      if (isInLedger) return;
      const call = {
        ...actor,
        id: actor.requestId,
        at: new Date(clock.now()),
        ...targetsOf(rule, input),
        ...(isObject(input) ? { input: keptFields(input) } : {}),
        ...outcomeOf(rule, result),
      };
      try {
        if (await isCopied(actor.requestId, rule, result)) return;
        // Copies the entries of changed records, so that `addEntry` finds those of this call.
        await sweep();
        await addEntry(call);
      } catch (err) {
        unrecorded.set(call.requestId, call);
        // The change itself is written. The next sweep copies its entry, or adds an entry for the call.
        log.error(
          { err, requestId: actor.requestId, action: actor.action },
          'audit entries were not copied yet',
        );
      }
    },
  };
}

export const viewEntry = (entry: StoredEntry): AuditLogEntry =>
  viewAs(AuditLogEntry, { ...entry, id: entry._id, outcome: entry.outcome ?? 'changed' });

/**
 * Restricts a filter to the entries that this operator may read. With the scope `own`, an operator does not see the acts of other
 * operators on users.
 */
const readableBy = <Filter>({ id, role }: AdminContext['operator'], filter: Filter) =>
  scopeOf(role, 'auditLog.list') === 'own' ? { ...filter, seenBy: id } : filter;

/**
 * Returns those of the entries that an operator may read, by the rule of `readableBy`. With the scope `own`, the network
 * addresses of other operators are masked.
 */
export function viewEntries({ id, role }: AdminContext['operator'], entries: StoredEntry[]): AuditLogEntry[] {
  if (scopeOf(role, 'auditLog.list') !== 'own') return entries.map(viewEntry);
  return entries
    .filter((entry) => entry.operatorId === id || isOfPartners(entry))
    .map((entry) => (entry.operatorId === id ? entry : { ...entry, address: masked }))
    .map(viewEntry);
}

/** Says why a role may not read the entries about one user. The roles that may find users are allowed to. */
const describeNoLookup = (role: Role): string =>
  `The role ${role} does not allow entries about one user: they name the enrollments of the user; ${whoMay('users.find')} may do it`;

/** The procedures of `svcadmin audit-log list`. None changes the log, because it is append-only. */
export function createAuditLogProcedures({ admin, verification }: Stores) {
  const { audit: store, operators } = admin;
  const recordsOfUser = createUserRecords(verification);

  /**
   * Checks the actor of a list without entries, because nothing was done by an operator who does not exist says nothing.
   * @throws ApiError `not_found` if no operator has this id or name, and no entry has it
   */
  async function requireActor(actor: string): Promise<void> {
    // Members and users act under their ids. Those who were deleted may have entries or none.
    const kind = identifierKind(actor);
    const isOther = kind !== undefined && kind !== 'operator';
    if (isOther || actor === firstOperator.id || actor === firstOperator.name) return;
    if ((await operators.exists(actor)) || (await store.count({ actor })).total > 0) return;
    throw new ApiError('not_found', { description: `No operator ${actor}` });
  }

  /**
   * Returns the filter of a query by an operator. A user is replaced by the ids of the user's records.
   * @throws ApiError `not_permitted` if the role ops asks for a user, `not_found` if there is no such user, `bad_input` if there
   * is no such action
   */
  async function filterFor<Wanted extends Pick<ListAuditLog, 'user' | 'action'>>(
    operator: AdminContext['operator'],
    { user, action, ...rest }: Wanted,
  ) {
    const actions = action === undefined ? undefined : [action].flat().flatMap(actionsNamed);
    const wanted = { ...rest, actions };
    if (user === undefined) return readableBy(operator, wanted);
    // The entries tell which enrollments at different partners belong to one user. Only roles that see people may know that.
    if (!seesPeople(operator.role))
      throw new ApiError('not_permitted', { description: describeNoLookup(operator.role) });
    return readableBy(operator, { ...wanted, among: await recordsOfUser(user) });
  }

  return router({
    list: query(ListAuditLog, z.array(AuditLogEntry), async (input, { operator }) => {
      const entries = await store.list(await filterFor(operator, input));
      if (entries.length === 0 && input.actor !== undefined) await requireActor(input.actor);
      return viewEntries(operator, entries);
    }),
    count: query(ListAuditLog.omit(pageFields), Total, async (input, { operator }) => {
      const total = await store.count(await filterFor(operator, input));
      if (total.total === 0 && input.actor !== undefined) await requireActor(input.actor);
      return total;
    }),
  });
}
