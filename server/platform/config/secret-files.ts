import { readFileSync } from 'node:fs';
import type { Variables } from '../../../contracts/settings.ts';

/** The variables of the environment: trimmed, and without blank ones. */
export type Given = Variables;

/** Variables of this service that hold a secret. */
const secretVariables = ['SVC_MASTER_KEY', 'SVC_ADMIN_TOKEN', 'MONGODB_URI', 'SVC_SMTP_URL'] as const;

/** A file for a secret that cannot be used. The message begins with the variable's name. */
export class SecretFileFault extends Error {}

/**
 * Reads a secret from the variable `name`, or from the file that `name_FILE` names. White space at both ends of the
 * file is ignored.
 * @returns undefined if neither variable is set
 * @throws SecretFileFault if both are set, or the file cannot be read or is empty
 */
export function secretOf(given: Given, name: string): string | undefined {
  const fileVariable = `${name}_FILE`;
  const path = given[fileVariable];
  if (!path) return given[name] || undefined;
  if (given[name]) throw new SecretFileFault(`${fileVariable}: ${name} is set too; set one of them`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new SecretFileFault(`${fileVariable}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (text === '') throw new SecretFileFault(`${fileVariable}: the file is empty`);
  return text;
}

/** Adds the secrets that `_FILE` variables name to the environment. */
export function readSecretFiles(given: Given): { given: Given; faults: string[] } {
  const faults: string[] = [];
  const secrets: Record<string, string | undefined> = {};
  for (const name of secretVariables) {
    try {
      secrets[name] = secretOf(given, name);
    } catch (error) {
      if (!(error instanceof SecretFileFault)) throw error;
      faults.push(error.message);
    }
  }
  return { given: { ...given, ...secrets }, faults };
}
