import type { Command } from '@oclif/core';
import { makeMemberCommand } from './for-partner.ts';

/** Commands of `svcadmin` that members have too, with the same words, by topic. */
const shared = {
  autocomplete: ['bash', 'fish', 'zsh'],
  bulk: ['cancel', 'show'],
  clients: ['create', 'disable', 'enable', 'list', 'rotate-secret', 'show', 'update'],
  deliveries: ['cancel', 'hold', 'list', 'resend', 'reschedule', 'show'],
  enrollments: ['list', 'show'],
  events: ['list', 'show'],
  integrations: ['create', 'disable', 'list', 'rotate-secret', 'show', 'update'],
  keys: ['create', 'list', 'revoke', 'rotate', 'show'],
  limits: ['set', 'show'],
  members: ['invite', 'list', 'remove', 'role'],
  profiles: ['list', 'use'],
  requests: ['list', 'refused'],
  sessions: ['list', 'show'],
  warnings: ['list', 'set', 'show'],
  webhooks: [
    'health',
    'notices',
    'pause',
    'prepare-secret',
    'replay',
    'resume',
    'rotate-secret',
    'set',
    'show',
    'switch-secret',
    'test',
    'unset',
    'verify',
  ],
};

/** Commands of `svcadmin` that members have under other names. */
const renamed: readonly [inSvcadmin: string, inSvc: string][] = [
  ['partners remove-logo', 'logo remove'],
  ['partners set-logo', 'logo set'],
  ['prices show', 'prices'],
  ['request', 'requests show'],
  ['wallets show', 'wallet'],
  ['wallets refill', 'wallet refill'],
  ['wallets verify', 'verify-statement'],
  ['wallets statement', 'statement'],
  ['wallets entry', 'entry'],
];

/** Commands that only `svc` has, or that do something else there. */
const own = ['listen', 'login', 'logout', 'trigger', 'whoami'];

const sharedNames = [
  ...['error', 'version'],
  ...Object.entries(shared).flatMap(([topic, verbs]) => verbs.map((verb) => `${topic} ${verb}`)),
];

/** The commands of `svc` that are also commands of `svcadmin`: the name in `svcadmin` by the name in `svc`. */
export const origins: Readonly<Record<string, string>> = Object.fromEntries([
  ...sharedNames.map((name) => [name, name]),
  ...renamed.map(([inSvcadmin, inSvc]) => [inSvc, inSvcadmin]),
]);

/** Summaries of commands whose summary in `svcadmin` says what only operators see or do. */
const summaries: Readonly<Record<string, string>> = {
  prices: 'Show what you pay for each billable event, in cents.',
  'members list': 'List the people who may sign in to the portal, newest first.',
  'members invite': 'Invite a person to the portal. The link is shown once.',
  'requests list': 'List requests of your programs and your users, newest first.',
  version: 'Show the version of svc.',
  wallet: 'Show your wallet.',
  'wallet refill': 'Fill your test wallet with play money, up to 1,000 dollars.',
  statement: 'List the entries of your wallet, with opening and closing balance.',
  'limits show': 'Show your spend caps, and their use.',
  'limits set': 'Set your spend caps: billable events in a minute and an hour.',
  'warnings list': 'List warnings about your integration, newest first.',
  'warnings set': 'Set who is sent e-mails about warnings, and when the balance is low.',
  'warnings show': 'Show how you are warned.',
  'enrollments list': 'List your enrollments, newest first.',
};

/** Loads the class of a command from `folder`. The words of its name are the path of its file. */
async function loadCommand(folder: '../commands' | './commands', name: string): Promise<Command.Class> {
  const path = `${folder}/${name.replaceAll(' ', '/')}.ts`;
  const module = (await import(path)) as { default: Command.Class };
  return module.default;
}

/** Makes a command of `svc`. @returns its id, whose words are joined by colons, and its class */
async function loadMemberCommand(inSvc: string): Promise<[string, Command.Class]> {
  const inSvcadmin = origins[inSvc];
  const command = await (inSvcadmin === undefined
    ? loadCommand('./commands', inSvc)
    : loadCommand('../commands', inSvcadmin));
  const names = { inSvcadmin: inSvcadmin ?? inSvc, inSvc, summary: summaries[inSvc] };
  return [inSvc.replaceAll(' ', ':'), makeMemberCommand(command, names)];
}

/** Every command of `svc`, by its id. All procedures that they call are open to members. */
export const commands: Readonly<Record<string, Command.Class>> = Object.fromEntries(
  await Promise.all([...Object.keys(origins), ...own].map(loadMemberCommand)),
);
