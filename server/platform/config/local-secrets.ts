import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { ConfigError } from '../errors.ts';
import { randomSecret } from '../ids.ts';
import type { Config } from './config.ts';
import { bearerTokenText, masterKey } from './environment.ts';

/** A secret in a file of the data directory. Its form is that of the environment variable. */
interface SecretFile<T> {
  name: string;
  form: z.ZodType<T, string>;
  make: () => string;
  /** What to do if the file is damaged. */
  remedy: string;
}

const masterKeyFile: SecretFile<Uint8Array> = {
  name: 'master-key',
  form: masterKey,
  make: () => randomBytes(32).toString('base64'),
  remedy: 'restore it from a backup, because only this key opens the data',
};
const adminTokenFile: SecretFile<string> = {
  name: 'admin-token',
  form: bearerTokenText,
  make: () => randomSecret('operatorToken'),
  remedy: 'delete it, and the next start makes another',
};

/** @throws ConfigError if the file was damaged */
function readSecret<T>(path: string, { form, remedy }: SecretFile<T>): T {
  const { success, data, error } = form.safeParse(readFileSync(path, 'utf8').trim());
  if (success) return data;
  throw new ConfigError([`${path}: ${error.issues[0]?.message}: ${remedy}`]);
}

/**
 * Reads a secret from a file of the data directory (mode 0600), or creates it. If two processes start at the same time,
 * both use the secret of the first one that writes.
 * @throws ConfigError if the file was damaged
 */
function localSecret<T>(dataDir: string, file: SecretFile<T>): T {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, file.name);
  if (!existsSync(path)) {
    // The link makes the file in one step. So a full disk, or the end of the process, leaves no part of a secret.
    const draft = `${path}.${randomBytes(8).toString('hex')}`;
    try {
      writeFileSync(draft, `${file.make()}\n`, { mode: 0o600, flag: 'wx' });
      linkSync(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
  chmodSync(path, 0o600); // The file may come from elsewhere, such as a backup, with wider permissions.
  return readSecret(path, file);
}

/** The master key that was generated into `dataDir`; an empty list if there is no such file. Writes nothing. */
export function generatedMasterKeys(dataDir: string): readonly Uint8Array[] {
  const path = join(dataDir, masterKeyFile.name);
  return existsSync(path) ? [readSecret(path, masterKeyFile)] : [];
}

/** Returns the configured master keys. In development without any, it is a key that is generated into the data directory. */
export const masterKeysOf = ({ masterKeys, dataDir }: Config): [Uint8Array, ...Uint8Array[]] =>
  masterKeys ?? [localSecret(dataDir, masterKeyFile)];

/** Returns the token of the first operator; undefined if it is off. In development without one, a token is generated. */
export const adminTokenOf = ({ adminToken, dataDir }: Config): string | undefined =>
  adminToken === 'off' ? undefined : (adminToken ?? localSecret(dataDir, adminTokenFile));
