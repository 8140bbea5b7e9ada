import type { InactiveRecord } from '../../../contracts/admin/requests.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { statusOf } from '../../partners/partner-store.ts';
import type { Stores } from '../stores.ts';
import type { RequestRecord } from './request-store.ts';

interface Records<R> {
  findAll(ids: readonly string[]): Promise<(R | undefined)[]>;
}

/** The most disabled clients of a key, and the most entries of the audit log, that are read. */
const mostRead = 50;

/**
 * Errors that only the status of a record causes. `/verify/start` has one error for all faults; if the client is the fault, its
 * description begins with `client_id`.
 */
const statusErrors: ReadonlySet<string> = new Set<ErrorCode>([
  'client_inactive',
  'integration_inactive',
  'invalid_api_key',
]);

const isRefusedByStatus = ({ error, description, route }: RequestRecord): boolean =>
  error !== undefined &&
  (statusErrors.has(error) || (route === '/verify/start' && (description ?? '').startsWith('client_id: ')));

/** The actions of the audit log that switch a record on, as the first one, and off. */
const actionsOf: Partial<Record<InactiveRecord['kind'], readonly string[]>> = {
  partner: ['partners.activate', 'partners.suspend', 'partners.close'],
  client: ['clients.enable', 'clients.disable'],
  integration: ['integrations.create', 'integrations.disable'],
};

const present = <T>(values: readonly (T | undefined)[]): T[] => values.flatMap((value) => value ?? []);

const find = async <R>(records: Records<R>, ids: readonly (string | undefined)[]): Promise<R[]> =>
  present(await records.findAll([...new Set(present(ids))]));

/**
 * Makes a function that returns the records whose status refused a request: those that were off at its time and are off now.
 * Null if the request was not refused for a status.
 */
export function createFindInactive(stores: Stores) {
  const { partners, clients, keys, integrations } = stores.partners;
  /** When a record was switched off: the first such change after it was last switched on. Undefined if the log has none. */
  async function switchedOffAt(target: string, kind: InactiveRecord['kind']): Promise<Date | undefined> {
    const actions = actionsOf[kind];
    const entries = actions ? await stores.admin.audit.list({ target, actions, limit: mostRead }) : [];
    const changes = entries.filter(({ outcome }) => outcome === undefined);
    const lastOn = changes.findIndex(({ action }) => action === actions?.[0]);
    return changes.slice(0, lastOn === -1 ? undefined : lastOn).at(-1)?.at;
  }

  return async (request: RequestRecord): Promise<InactiveRecord[] | null> => {
    if (!isRefusedByStatus(request)) return null;
    const { partnerId, clientId, keyId, integrationId, at, durationMs } = request;
    // One millisecond more, because both numbers are rounded.
    const endedAt = new Date(at.getTime() + durationMs + 1);
    // The ids are as the caller sent them, so they may be those of another partner.
    const isOwn = (record: { partnerId: string }) => record.partnerId === partnerId;

    /** @param otherwise when the record was switched off if the audit log does not tell it */
    async function view(
      { _id: id, status }: { _id: string; status: string },
      fields: Pick<InactiveRecord, 'kind' | 'name' | 'next'>,
      otherwise?: Date,
    ): Promise<InactiveRecord[]> {
      if (status === 'active') return [];
      const since = (await switchedOffAt(id, fields.kind)) ?? otherwise;
      // A record that was switched off after the request did not refuse it.
      return since && since > endedAt ? [] : [{ id, status, since: since?.toISOString() ?? null, ...fields }];
    }

    const named = (await find(integrations, [integrationId])).filter(isOwn);
    // A checkbox call names only its key. It is refused for the client of the enrollment, which may be any of the key's.
    const isOfAnyClient =
      keyId !== undefined && clientId === undefined && request.error === 'client_inactive';
    const ofKey = isOfAnyClient ? await clients.list({ keyId, status: 'disabled' }, { limit: mostRead }) : [];
    const found = await find(clients, [clientId, ...named.map((integration) => integration.clientId)]);
    const used = [...found, ...ofKey].filter(isOwn);
    const usedKeys = await find(keys, [keyId, ...used.map((client) => client.keyId)]);
    const views = await Promise.all([
      ...(await find(partners, [partnerId])).map((own) => {
        const next = `partners activate ${own._id}`;
        return view(
          { ...own, status: statusOf(own) },
          { kind: 'partner', name: own.name, next },
          own.createdAt,
        );
      }),
      ...used.map((own) => view(own, { kind: 'client', name: own.name, next: `clients enable ${own._id}` })),
      ...named.map((own) => {
        // An integration cannot be enabled again.
        const next = `integrations create --partner ${own.partnerId} --client ${own.clientId} --shop ${own.shops[0] ?? 'DOMAIN'}`;
        return view(own, { kind: 'integration', name: own.shops.join(' '), next });
      }),
      ...usedKeys.filter(isOwn).map((own) => {
        const { _id: id, mode, last4, revokedAt } = own;
        const client = id === keyId ? undefined : used.find((one) => one.keyId === id);
        const next = client
          ? `clients update ${client._id} --key KEY`
          : `keys create --partner ${own.partnerId} --mode ${mode}`;
        return view(own, { kind: 'API key', name: `${mode} …${last4}`, next }, revokedAt);
      }),
    ]);
    return views.flat();
  };
}
