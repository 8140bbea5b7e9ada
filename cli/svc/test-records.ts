import type { AdminApi } from '../connection/client.ts';
import { usageError } from '../errors/failure.ts';

/** The most records that are read. Two are enough to refuse. The error names more, so that the person can choose one. */
const mostNamed = 20;

/** Returns the error for several records where one is needed. It lists their ids. */
const severalFound = (noun: string, found: readonly { id: string }[], how: string) =>
  usageError(`You have ${found.length} ${noun}: name one`, `${how}: ${found.map(({ id }) => id).join(', ')}`);

/** Returns the only active test key. @throws CommandError exit 2 if there is none, or more than one */
export async function findOnlyTestKey(api: AdminApi): Promise<string> {
  const found = await api.keys.list.query({ mode: 'test', status: 'active', limit: mostNamed });
  const [key] = found;
  if (!key) throw usageError('You have no active test key', 'Make one with `svc keys create --mode test`.');
  if (found.length > 1) throw severalFound('active test keys', found, 'Test keys');
  return key.id;
}

/** Returns the only active OAuth client in test mode. @throws CommandError exit 2 if there is none, or more than one */
export async function findOnlyTestClient(api: AdminApi) {
  const found = await api.clients.list.query({
    mode: 'test',
    kind: 'oauth',
    status: 'active',
    limit: mostNamed,
  });
  const [client] = found;
  if (!client)
    throw usageError('You have no active OAuth client in test mode', 'Make one with `svc clients create`.');
  if (found.length > 1) throw severalFound('active test clients', found, 'Clients');
  return client;
}
