import type { AuditLogEntry } from '../../contracts/admin/audit-log.ts';
import { decimal } from '../../contracts/amounts.ts';
import type { AdminApi } from '../connection/client.ts';
import { CommandError, usageError } from '../errors/failure.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The error for a change whose undo the state of its records does not allow. */
export const conflictError = (message: string, hint?: string) =>
  new CommandError({ code: 'conflict', message, hint });

/** The present values of a record, and the call that sets values of it. */
interface Settings {
  present: Fields;
  /** @param api in a dry run, another client than the one that reads */
  set: (api: AdminApi, before: Fields) => Promise<object>;
  isLive: boolean;
}

/** Reads the record of a change, by the action that made it. An action without a row cannot be undone. */
const settingsOf: Readonly<Record<string, (api: AdminApi, target: string) => Promise<Settings>>> = {
  async 'partners.update'(api, partnerId) {
    const present = await api.partners.show.query({ partnerId });
    return {
      present,
      isLive: present.status === 'active',
      set: (changing, before) => changing.partners.update.mutate({ ...before, partnerId }),
    };
  },

  async 'partners.close'(api, partnerId) {
    return {
      present: await api.partners.show.query({ partnerId }),
      isLive: true,
      set: (changing, { status }) => {
        // A partner that was not active must not be active for a moment.
        if (status !== 'active')
          throw conflictError(
            `The close is not undone: ${partnerId} was ${String(status ?? 'suspended')} before`,
          );
        return changing.partners.activate.mutate({ partnerId });
      },
    };
  },

  async 'clients.update'(api, clientId) {
    const client = await api.clients.show.query({ clientId });
    // The audit log has the stored values, where a default is absent. The client shows the defaults.
    const defaults: Fields = { passkeys: true, openid: false, idTokenAlg: 'RS256' };
    return {
      present: client,
      isLive: client.mode === 'live',
      set: (changing, before) =>
        changing.clients.update.mutate({
          ...Object.fromEntries(
            Object.entries(before).map(([name, value]) => [name, value ?? defaults[name] ?? null]),
          ),
          // No sources are the default, which the server expects as null.
          ...(Array.isArray(before['sources']) && before['sources'].length === 0 ? { sources: null } : {}),
          clientId,
        }),
    };
  },

  async 'integrations.update'(api, integrationId) {
    const present = await api.integrations.show.query({ integrationId });
    return {
      present,
      isLive: present.mode === 'live',
      set: (changing, { shops }) => {
        const wanted = shops as string[];
        const add = wanted.filter((shop) => !present.shops.includes(shop));
        const remove = present.shops.filter((shop) => !wanted.includes(shop));
        return changing.integrations.update.mutate({
          integrationId,
          ...(add.length > 0 ? { addShops: add } : {}),
          ...(remove.length > 0 ? { removeShops: remove } : {}),
        });
      },
    };
  },

  async 'limits.set'(api, target) {
    const [partnerId = '', mode] = target.split(':') as [string, 'test' | 'live' | undefined];
    if (mode === undefined)
      throw usageError('Ceilings are not undone: set them with `svcadmin limits set --ceiling-per-minute`');
    return {
      present: await api.limits.show.query({ partnerId, mode }),
      isLive: mode === 'live',
      set: (changing, before) => changing.limits.set.mutate({ ...before, partnerId, mode }),
    };
  },

  async 'webhooks.changeUrl'(api, keyId) {
    const present = await api.webhooks.show.query({ keyId });
    return {
      present,
      isLive: present.mode === 'live',
      set: (changing, { url }) => changing.webhooks.changeUrl.mutate({ keyId, url: String(url) }),
    };
  },

  async 'webhooks.setNotices'(api, keyId) {
    const present = await api.webhooks.show.query({ keyId });
    return {
      present,
      isLive: present.mode === 'live',
      set: (changing, { notices }) =>
        changing.webhooks.setNotices.mutate({ keyId, notices: notices === true }),
    };
  },
};

/** The commands whose changes can be undone. */
export const undoable: readonly string[] = Object.keys(settingsOf);

/** A change that can be undone. */
export interface Undo {
  target: string;
  isLive: boolean;
  /** The values that the change has set, and those that it has replaced. */
  after: Fields;
  before: Fields;
  /** The record, if it has the values of before already. */
  undone: Fields | undefined;
  act: (api: AdminApi) => Promise<object>;
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** Whether a present value is the one that a change has set. A default is absent in the change, but shown in the record. */
const isUnchanged = (present: unknown, set: unknown): boolean =>
  isSame(present, set) ||
  (set === null && !Array.isArray(present) && [true, false, 'RS256'].includes(present as never)) ||
  (set === null && Array.isArray(present) && present.length === 0);

/** Names what takes the effect of a change back, if it is not undone. Entries of a ledger stay, so money is taken back by another one. */
function adviseReverse({ action, target, after }: AuditLogEntry): string {
  const [, partnerId, mode] = /^(ptr_\w+):(test|live)$/.exec(target ?? '') ?? [];
  const amount = after?.['amount'];
  if (action.startsWith('wallets.') && partnerId !== undefined && typeof amount === 'number')
    return `To take the amount back: svcadmin wallets adjust ${partnerId} --mode ${mode} --amount=${decimal(-amount)} --reason TEXT`;
  return `Changes that can be undone: ${undoable.join(' ')}`;
}

/**
 * Prepares to undo a change.
 * @throws CommandError if the change cannot be undone, or if its values were changed since
 */
export async function prepareUndo(api: AdminApi, entry: AuditLogEntry): Promise<Undo> {
  const { action, target, before, after } = entry;
  const read = settingsOf[action];
  if (!read || typeof before?.['contacts'] === 'number')
    throw usageError(`A change by ${action} is not undone`, adviseReverse(entry));
  if (before === null || after === null || target === null)
    throw conflictError(`The audit log has no values that ${action} of this request has replaced`);
  const { present, set, isLive } = await read(api, target);
  // A reason is about the change, and no value of the record.
  const names = Object.keys(after).filter((name) => name !== 'reason' && !isSame(before[name], after[name]));
  const undone = names.every((name) => isUnchanged(present[name], before[name])) ? present : undefined;
  const later = names.find((name) => !isUnchanged(present[name], after[name]));
  if (!undone && later !== undefined)
    throw conflictError(
      `${later} of ${target} was changed again since`,
      `See svcadmin audit-log list --target ${target}`,
    );
  const pick = (fields: Fields) => Object.fromEntries(names.map((name) => [name, fields[name]]));
  const replaced = pick(before);
  return {
    ...{ target, isLive, after: pick(after), before: replaced, undone },
    act: (changing) => set(changing, replaced),
  };
}
