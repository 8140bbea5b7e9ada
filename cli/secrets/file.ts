import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { usageError } from '../errors/failure.ts';

/** A new file for a secret. It is opened before the secret is made, so that no secret is lost. */
export interface SecretFile {
  path: string;
  write(secret: string): void;
  discard(): void;
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
    path,
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
