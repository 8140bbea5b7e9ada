import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Config, type Interfaces } from '@oclif/core';
import { topics } from './topics.ts';

/**
 * The package's own settings with what is written here: how help looks, and what its groups are about. Read from
 * where this is compiled to: there the commands lie, and the manifest that spares a start from loading them all.
 */
export async function loadConfig(): Promise<Config> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const pjson = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as Interfaces.PJSON;
  const description = 'Administer SVC Gateway from the command line.';
  const oclif = { ...pjson.oclif, commands: './commands', helpClass: './program/help', topics };
  return Config.load({ root, pjson: { ...pjson, description, oclif } });
}
