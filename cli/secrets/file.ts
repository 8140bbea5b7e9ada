import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { usageError } from '../errors/failure.ts';

/** A new file for a secret. It is opened before the secret is made, so that no secret is lost. */
interface SecretFile {
  write(secret: string): void;
  discard(): void;
}

/**
 * Creates a record, and writes its secret to a new file. If the record cannot be created, the file is deleted.
 * @throws CommandError if the file exists or cannot be created
 */
export async function makeWithSecretFile<V>(
  path: string,
  make: () => Promise<V>,
  secretOf: (value: V) => string,
): Promise<V> {
  const file = openSecretFile(path);
  let value: V;
  try {
    value = await make();
  } catch (error) {
    file.discard();
    throw error;
  }
  file.write(secretOf(value));
  return value;
}

/** @throws CommandError if the file exists or cannot be created */
export function openSecretFile(path: string): SecretFile {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageError(code === 'EEXIST' ? `${path} exists; secrets go to a new file` : message);
  }
  return {
    write(secret) {
      writeSync(descriptor, `${secret}\n`);
      closeSync(descriptor);
    },
    discard() {
      closeSync(descriptor);
      unlinkSync(path);
    },
  };
}
