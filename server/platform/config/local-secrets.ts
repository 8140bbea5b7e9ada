import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomSecret } from '../ids.ts';
import type { Config } from './config.ts';

/**
 * Reads a secret from a file of the data directory (mode 0600), or creates it. If two processes start at the same time,
 * both use the secret of the first one that writes.
 */
function localSecret(dataDir: string, name: string, make: () => string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, name);
  try {
    writeFileSync(path, `${make()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(path, 0o600); // The file may come from elsewhere, such as a backup, with wider permissions.
  }
  return readFileSync(path, 'utf8').trim();
}

/** The master key that was generated into `dataDir`; an empty list if there is no such file. Writes nothing. */
export function generatedMasterKeys(dataDir: string): readonly Uint8Array[] {
  const path = join(dataDir, 'master-key');
  if (!existsSync(path)) return [];
  return [new Uint8Array(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'))];
}

/** Returns the configured master keys. In development without any, it is a key that is generated into the data directory. */
export function masterKeysOf({ masterKeys, dataDir }: Config): [Uint8Array, ...Uint8Array[]] {
  if (masterKeys) return masterKeys;
  const generated = localSecret(dataDir, 'master-key', () => randomBytes(32).toString('base64'));
  return [new Uint8Array(Buffer.from(generated, 'base64'))];
}

/** Returns the token of the first operator; undefined if it is off. In development without one, a token is generated. */
export const adminTokenOf = ({ adminToken, dataDir }: Config): string | undefined =>
  adminToken === 'off'
    ? undefined
    : (adminToken ?? localSecret(dataDir, 'admin-token', () => randomSecret('operatorToken')));
