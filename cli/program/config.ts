import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Interfaces } from '@oclif/core';
import { Config } from '@oclif/core/config';
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
  // `svc` has a separate root with the manifest of its commands.
  svc: {
    root: '../svc',
    commands: { strategy: 'explicit', target: './commands', identifier: 'commands' },
    helpClass: '../program/help',
    topics: topicsOfSvc,
    description: 'Manage your integration with SVC Gateway, as a member of a partner.',
  },
} as const;

/** The plugins by program, of which each command line of a process needs the same. */
const loadedPlugins = new Map<ProgramName, Config['plugins']>();

/**
 * Loads the package's settings, together with the texts for help. They are read from the directory of the compiled code, which
 * has the commands and their manifest. With the manifest, a start does not load all commands.
 */
export async function loadConfig(program: ProgramName = 'svcadmin'): Promise<Config> {
  const { root, description, ...settings } = programs[program];
  const pjson = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as Interfaces.PJSON;
  const oclif = { ...pjson.oclif, ...settings, bin: program, dirname: program } as Interfaces.PJSON['oclif'];
  const directory = fileURLToPath(new URL(root, import.meta.url));
  const plugins = loadedPlugins.get(program);
  const options = { root: directory, pjson: { ...pjson, description, oclif } };
  const config = await Config.load(plugins ? { ...options, plugins } : options);
  loadedPlugins.set(program, config.plugins);
  return config;
}
