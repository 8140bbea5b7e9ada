import type { Db } from 'mongodb';
import type { Config } from '../../server/platform/config/config.ts';
import { masterKeysOf } from '../../server/platform/config/local-secrets.ts';
import { type KeyDocument, newKey } from '../../server/platform/keys/keyring.ts';
import { createSealing } from '../../server/platform/keys/sealing.ts';

let generated: Promise<string> | undefined;

/** Gives the servers of a process the same RSA key, because each one of their own costs 0.2 s of processor time. */
export async function insertRsaKey(db: Db, config: Config): Promise<void> {
  generated ??= newKey('signing-rsa');
  const at = new Date();
  const sealed = await createSealing(masterKeysOf(config)).seal(await generated);
  const key: KeyDocument = { _id: 'signing-rsa-1', use: 'signing-rsa', sealed, createdAt: at, activeAt: at };
  await db.collection<KeyDocument>('keys').insertOne(key);
}
