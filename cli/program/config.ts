import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Config, type Interfaces } from '@oclif/core';
import { topics as topicsOfSvc } from '../svc/topics.ts';
import type { ProgramName } from './program.ts';
import { topics } from './topics.ts';

const programs = {
  svcadmin: {
    root: '..',
    commands: './commands',
    helpClass: './program/help',
    topics,
    description: 'Administer SVC Gateway from the command line.',
  },
  // A root of its own: the manifest of its commands lies there.
  svc: {
    root: '../svc',
    commands: { strategy: 'explicit', target: './commands', identifier: 'commands' },
    helpClass: '../program/help',
    topics: topicsOfSvc,
    description: 'Manage your integration with SVC Gateway, as a member of a partner.',
  },
} as const;

/**
 * The package's own settings with what is written here: how help looks, and what its groups are about. Read from
 * where this is compiled to: there the commands lie, and the manifest that spares a start from loading them all.
 */
export async function loadConfig(program: ProgramName = 'svcadmin'): Promise<Config> {
  const { root, description, ...settings } = programs[program];
  const pjson = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as Interfaces.PJSON;
  const oclif = { ...pjson.oclif, ...settings, bin: program, dirname: program } as Interfaces.PJSON['oclif'];
  const directory = fileURLToPath(new URL(root, import.meta.url));
  return Config.load({ root: directory, pjson: { ...pjson, description, oclif } });
}
