import type { RequestView } from '../../contracts/admin/requests.ts';
import type { ErrorCode } from '../../contracts/errors.ts';
import type { AdminApi } from '../connection/client.ts';
import { type Failure, toFailure } from '../errors/failure.ts';
import { localTime } from '../output/format.ts';
import { mostRowsPerList } from './related.ts';

/** A partner, client, API key or integration that is off. Requests of its programs are refused. */
export interface Inactive {
  kind: 'partner' | 'client' | 'API key' | 'integration';
  id: string;
  name: string;
  status: string;
  /** Since when. Null if the caller may not read it in the audit log. */
  since: string | null;
  /** The command that ends the refusals, without the name of the program. */
  next: string;
}

/**
 * Errors that only the status of a record causes. `/verify/start` has one error for all faults; if the client is the fault, its
 * description begins with `client_id`.
 */
const statusErrors: ReadonlySet<string> = new Set<ErrorCode>([
  'client_inactive',
  'integration_inactive',
  'invalid_api_key',
]);

const isRefusedByStatus = ({ error, description, route }: RequestView): boolean =>
  error !== null &&
  (statusErrors.has(error) || (route === '/verify/start' && (description ?? '').startsWith('client_id: ')));

/** Returns the result of a call, or `instead` if the call fails with one of these codes. */
async function unless<T>(codes: readonly Failure['code'][], call: Promise<T>, instead: T): Promise<T> {
  return call.catch((error: unknown) => {
    if (codes.includes(toFailure(error, { url: '' }).code)) return instead;
    throw error;
  });
}

/** Reads a record that a caller has named, so there may be none. */
const find = <T>(call: Promise<T>): Promise<T | undefined> =>
  unless<T | undefined>(['not_found', 'bad_input'], call, undefined);

/** Returns when an operator last made this change to a record. Null for members, who cannot read the audit log. */
async function lastChange(api: AdminApi, target: string, action: string): Promise<string | null> {
  const entries = api.auditLog.list.query({ target, action, limit: mostRowsPerList });
  const changes = await unless(['not_permitted', 'route_not_found'], entries, []);
  return changes.find(({ outcome }) => outcome === 'changed')?.at ?? null;
}

async function inactivePartner(api: AdminApi, partnerId: string): Promise<Inactive[]> {
  const partner = await find(api.partners.show.query({ partnerId }));
  if (!partner || partner.status === 'active') return [];
  const { id, name, status, createdAt, closedAt } = partner;
  const since = status === 'pending' ? createdAt : await lastChange(api, id, 'partners.suspend');
  return [
    {
      kind: 'partner',
      id,
      name,
      status,
      since: closedAt ?? since,
      next: `partners activate ${id}`,
    },
  ];
}

/** @param next the command for people; without it, the one that makes another key */
async function inactiveKey(api: AdminApi, keyId: string, next?: string): Promise<Inactive[]> {
  const key = await find(api.keys.show.query({ keyId }));
  if (!key || key.status === 'active') return [];
  const { id, partnerId, mode, last4, status, revokedAt } = key;
  const create = `keys create --partner ${partnerId} --mode ${mode}`;
  return [{ kind: 'API key', id, name: `${mode} …${last4}`, status, since: revokedAt, next: next ?? create }];
}

async function inactiveClient(api: AdminApi, clientId: string): Promise<Inactive[]> {
  const client = await find(api.clients.show.query({ clientId }));
  if (!client) return [];
  const { id, name, status, keyId } = client;
  const ofKey = await inactiveKey(api, keyId, `clients update ${id} --key KEY`);
  if (status === 'active') return ofKey;
  const since = await lastChange(api, id, 'clients.disable');
  return [{ kind: 'client', id, name, status, since, next: `clients enable ${id}` }, ...ofKey];
}

async function inactiveIntegration(api: AdminApi, integrationId: string): Promise<Inactive[]> {
  const integration = await find(api.integrations.show.query({ integrationId }));
  if (!integration) return [];
  const { id, shops, status, clientId } = integration;
  const ofClient = await inactiveClient(api, clientId);
  if (status === 'active') return ofClient;
  const [partnerFlag, shopFlag] = [`--partner ${integration.partnerId}`, `--shop ${shops[0] ?? 'DOMAIN'}`];
  return [
    {
      kind: 'integration',
      id,
      name: shops.join(' '),
      status,
      since: await lastChange(api, id, 'integrations.disable'),
      // An integration cannot be enabled again.
      next: `integrations create ${partnerFlag} --client ${clientId} ${shopFlag}`,
    },
    ...ofClient,
  ];
}

/** A checkbox call names only its key. The service refuses it for the client of the enrollment, which may be any of the key's. */
async function inactiveClientsOfKey(api: AdminApi, keyId: string): Promise<Inactive[]> {
  const clients = await api.clients.list.query({ keyId, status: 'disabled', limit: mostRowsPerList });
  return (await Promise.all(clients.map(({ id }) => inactiveClient(api, id)))).flat();
}

/** Why a request was refused, if the status of a record was the cause. */
export interface StatusRefusal {
  /** The records that were off at the request and are off now. */
  inactive: Inactive[];
  /** A sentence for people about each record, or one that all are active now. */
  lines: string[];
  next: string[];
}

/** Returns the records whose status refused a request. Undefined if the request was not refused for a status. */
export async function explainStatus(
  api: AdminApi,
  request: RequestView | null,
): Promise<StatusRefusal | undefined> {
  if (!request || !isRefusedByStatus(request)) return undefined;
  const { partnerId, clientId, keyId, integrationId, at } = request;
  const found = await Promise.all([
    partnerId === null ? [] : inactivePartner(api, partnerId),
    clientId === null ? [] : inactiveClient(api, clientId),
    integrationId === null ? [] : inactiveIntegration(api, integrationId),
    keyId === null ? [] : inactiveKey(api, keyId),
    keyId === null || clientId !== null || request.error !== 'client_inactive'
      ? []
      : inactiveClientsOfKey(api, keyId),
  ]);
  const byId = new Map(found.flat().map((one) => [one.id, one]));
  // A record that was switched off after the request did not refuse it. Both times are RFC 3339 in UTC.
  const inactive = [...byId.values()].filter(({ since }) => since === null || since <= at);
  if (inactive.length === 0) {
    const target = clientId ?? integrationId ?? keyId ?? partnerId ?? '';
    return {
      inactive,
      lines: ['What refused this request has been mended since: its partner, client and key are active now.'],
      next: [`audit-log list --target ${target}`],
    };
  }
  return {
    inactive,
    lines: inactive.map(({ kind, id, name, status, since }) => {
      const from = since === null ? '' : ` since ${localTime(since)}`;
      return `Refused because the ${kind} ${name} (${id}) is ${status}${from}.`;
    }),
    next: inactive.map(({ next }) => next),
  };
}
