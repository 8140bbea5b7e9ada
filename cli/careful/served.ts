import type { AdminApi } from '../connection/client.ts';
import { mostPerPage } from '../flags/flags.ts';
import { count } from './previews.ts';

/** Writes a count with the live part, such as `3 clients (2 live)`. */
const countWithLive = (found: readonly { mode: 'test' | 'live' }[], noun: string): string =>
  `${count(found.length, noun)} (${found.filter(({ mode }) => mode === 'live').length} live)`;

/** Describes the pending deliveries of an API key or a partner, such as `3 pending deliveries`. */
export async function describePending(
  api: AdminApi,
  owner: { keyId: string } | { partnerId: string },
): Promise<string> {
  const pending = await api.deliveries.list.query({ ...owner, status: 'pending', limit: mostPerPage });
  return count(pending.length, 'pending delivery');
}

/** Describes the active clients and the pending deliveries that stop with their API key. */
export async function describeServedByKey(api: AdminApi, keyId: string): Promise<string> {
  const [clients, pending] = await Promise.all([
    api.clients.list.query({ keyId, status: 'active', limit: mostPerPage }),
    describePending(api, { keyId }),
  ]);
  return `${count(clients.length, 'active client')} and ${pending}`;
}

/** Describes the clients, keys and pending deliveries that stop with their partner. */
export async function describeServed(api: AdminApi, partnerId: string): Promise<string> {
  const wanted = { partnerId, status: 'active', limit: mostPerPage } as const;
  const [clients, keys, pending] = await Promise.all([
    api.clients.list.query(wanted),
    api.keys.list.query(wanted),
    describePending(api, { partnerId }),
  ]);
  return `${countWithLive(clients, 'client')}, ${countWithLive(keys, 'API key')} and ${pending}`;
}
