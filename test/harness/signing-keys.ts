import type { Db } from 'mongodb';
import { type KeyDocument, newKey } from '../../server/platform/keys/keyring.ts';
import type { Sealing } from '../../server/platform/keys/sealing.ts';

let rsaKey: Promise<string> | undefined;

/**
 * Inserts the first signing keys of a keyring, as its first load would make them. All in a process share one RSA key, because
 * each one costs 0.2 s of processor time.
 */
export async function insertSigningKeys(db: Db, { seal }: Pick<Sealing, 'seal'>): Promise<void> {
  rsaKey ??= newKey('signing-rsa');
  const at = new Date();
  const document = async (use: 'signing' | 'signing-rsa', key: Promise<string>): Promise<KeyDocument> => ({
    ...{ _id: `${use}-1`, use, sealed: await seal(await key), createdAt: at, activeAt: at },
  });
  await db
    .collection<KeyDocument>('keys')
    .insertMany([await document('signing', newKey('signing')), await document('signing-rsa', rsaKey)]);
}
