import { identifierKind } from '../../contracts/identifiers.ts';
import type { AdminApi } from '../connection/client.ts';
import { CommandError } from '../errors/failure.ts';

/** The records that a filter names, by flag or argument. */
interface Named {
  partner?: string | undefined;
  key?: string | undefined;
  client?: string | undefined;
  /** A record of any kind, or a wallet. */
  target?: string | undefined;
}

/** Reads a record by its id, by the kind of the id. These kinds are never deleted, so an unknown id is a mistyped one. */
function readRecord(api: AdminApi, kind: string | undefined, id: string): Promise<unknown> | undefined {
  switch (kind) {
    case 'partner':
      return api.partners.show.query({ partnerId: id });
    case 'apiKey':
      return api.keys.show.query({ keyId: id });
    case 'client':
      return api.clients.show.query({ clientId: id });
    case 'integration':
      return api.integrations.show.query({ integrationId: id });
    case undefined:
    default:
      return undefined;
  }
}

/**
 * Checks that the records exist that a filter names. A list without rows calls this, because nothing was found of a record that
 * does not exist says nothing.
 * @throws CommandError `not_found` if one does not exist
 */
export async function requireRecords(api: AdminApi, { partner, key, client, target }: Named): Promise<void> {
  if (partner !== undefined && identifierKind(partner) === undefined)
    throw new CommandError({
      code: 'not_found',
      message: `No partner ${partner}`,
      hint: 'Name it by its id. `svcadmin partners list --search TEXT` finds the id by the name.',
    });
  // The target of an entry about a wallet is the wallet: `ptr_…:live`.
  const record = target?.replace(/:(test|live)$/, '');
  await Promise.all([
    partner && readRecord(api, 'partner', partner),
    key && readRecord(api, 'apiKey', key),
    client && readRecord(api, 'client', client),
    record && readRecord(api, identifierKind(record), record),
  ]);
}
