import { identifierKind } from '../../contracts/identifiers.ts';
import type { AdminApi } from '../connection/client.ts';

/** The records that a filter names, by flag or argument. */
interface Named {
  partner?: string | undefined;
  key?: string | undefined;
  client?: string | undefined;
  /** A record of any kind, or a wallet. */
  target?: string | undefined;
}

/** How to read the kinds of records that are never deleted, by id: an unknown id of these is a mistyped one. */
const readers = {
  partner: (api: AdminApi, partnerId: string) => api.partners.show.query({ partnerId }),
  apiKey: (api: AdminApi, keyId: string) => api.keys.show.query({ keyId }),
  client: (api: AdminApi, clientId: string) => api.clients.show.query({ clientId }),
  integration: (api: AdminApi, integrationId: string) => api.integrations.show.query({ integrationId }),
};

const isReadable = (kind: string | undefined): kind is keyof typeof readers =>
  kind !== undefined && Object.hasOwn(readers, kind);

/**
 * Checks that the records exist that a filter names. A list without rows calls this, because nothing was found of a record that
 * does not exist says nothing.
 * @param connected called only if the filter names a record, because a list of local data has no server
 * @throws CommandError `not_found` if one does not exist
 */
export async function requireRecords(
  connected: () => AdminApi,
  { partner, key, client, target }: Named,
): Promise<void> {
  // The target of an entry about a wallet is the wallet: `ptr_…:live`.
  const record = target?.replace(/:(test|live)$/, '') ?? '';
  const kind = identifierKind(record);
  await Promise.all([
    partner && readers.partner(connected(), partner),
    key && readers.apiKey(connected(), key),
    client && readers.client(connected(), client),
    isReadable(kind) && readers[kind](connected(), record),
  ]);
}
