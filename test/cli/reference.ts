import { fileURLToPath } from 'node:url';
import { type Command, Config, settings } from '@oclif/core';
import { topics } from '../../cli/program/topics.ts';
import { topics as topicsOfSvc } from '../../cli/svc/topics.ts';
import { proseLines } from '../contract/prose.ts';
import { introductionOfSvc } from './svc/introduction.ts';

const introduction = `# svcadmin

Operators call the service with this command.
In a clone of the repository, \`svcadmin\` is \`node cli/bin/svcadmin.js\` once it is built, or \`npx --no-install svcadmin\`.

It calls the admin listener. It looks for the server in this order:

1. \`--url\`
2. \`SVCADMIN_URL\`
3. the profile of \`svcadmin login\`
4. the data directory of a local server

It takes the token from \`SVCADMIN_TOKEN\`, the profile, or the data directory.
The data directory is \`SVC_DATA_DIR\`, or the nearest \`.svc\` from the working directory up.

Where the certificate of the admin API is of an authority of your own, name its file (PEM):
\`svcadmin login --url https://admin.example --ca /etc/ssl/own-ca.pem\` keeps it with the profile.
\`SVCADMIN_CA\` and \`NODE_EXTRA_CA_CERTS\` name it in the environment.
It is trusted beside the usual authorities.
A \`.svc\` that another user owns, or that others can write, is ignored with a warning.
An address from a \`.svc\` gets the token of that \`.svc\` and no other.

With \`--json\`, the value is on stdout: camelCase, times in UTC, money in cents, a list as an array.
Everything else is on stderr, errors as \`{"error": {"code", "message", "hint"?}}\`.
Without \`--json\`, times are local with their offset (\`2026-07-12 14:03:11+02:00\`), and money is in dollars.
A time is \`2026-07-12T14:00\`, \`14:00\` of today, \`yesterday\`, \`monday 14:00\` (the last one), or a duration.
The duration \`2h\` is two hours ago, and in \`--until\` of \`webhooks pause\` two hours from now.
Lists are tab-separated when piped.
On a terminal, a table shows the columns that fit, and names the others on stderr.

Careful commands stop or change a partner, delete, rotate or move money.
They say what changes and for how many, and ask for the id.
\`--yes\` skips the question.
\`--dry-run\` changes nothing: the server makes the same checks, so that it is refused where the real run is.
Without a terminal and without \`--yes\`, they are refused (exit 2), with one exception.

These commands are refused only on a production server, and only if live users or money are affected:

- \`clients disable\`, \`clients update\`, \`partners suspend\`, \`enrollments block\`
- \`deliveries cancel\`, and \`deliveries resend\` with a filter
- \`jobs run\`, \`jobs reschedule\`
- \`limits set\`, \`prices set\`
- \`webhooks set\` if the key has a URL

In all other cases they continue, and say on stderr what changes.

If a command calls a production server or acts in live mode, a red \`LIVE\` line is first on stderr.
Commands that make a secret show it once. \`--out-file FILE\` writes it to a new file (0600) instead.

| exit code | meaning |
|--:|---|
| 0 | done |
| 1 | failed, or not confirmed |
| 2 | wrong use: unknown command, flag or value; nothing was done |
| 3 | not authorised |
| 4 | not found |
| 5 | refused by a rule, or in conflict with the state of the record |
| 6 | rate limited |
| 7 | the server cannot be reached |
| 130 | cancelled by Ctrl-C or Ctrl-D at a question; nothing was done |
`;

type ProgramName = 'svcadmin' | 'svc';

function usage(program: ProgramName, { id, args }: Command.Loadable): string {
  const names = Object.values(args).map(({ name, required, multiple }) => {
    const shown = `${name.toUpperCase()}${multiple ? '…' : ''}`;
    return required ? shown : `[${shown}]`;
  });
  return [program, ...id.split(':'), ...names].join(' ');
}

function describeFlag(flag: Command.Flag.Cached): string {
  const named = flag.type === 'option' ? (flag.options?.join('|') ?? flag.helpValue ?? 'VALUE') : '';
  const value = named === '' ? '' : ` ${String(named)}`;
  const notes = [
    ...(flag.required ? ['required'] : []),
    ...(flag.type === 'option' && flag.default !== undefined ? [`default ${String(flag.default)}`] : []),
  ];
  const described = `${flag.description ?? ''}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
  return proseLines(`- \`--${flag.name}${value}\`: ${described}`, '  ');
}

function describeCommand(program: ProgramName, command: Command.Loadable): string {
  const examples = (command.examples ?? []).map((example) =>
    String(example).replaceAll('<%= config.bin %>', program),
  );
  const flags = Object.values(command.flags).filter(
    ({ hidden, helpGroup }) => !hidden && helpGroup !== 'GLOBAL',
  );
  const args = Object.values(command.args).map(({ name, description }) =>
    proseLines(`- \`${name.toUpperCase()}\`: ${description ?? ''}`, '  '),
  );
  const items = [...args, ...flags.sort((a, b) => a.name.localeCompare(b.name)).map(describeFlag)];
  return [
    `### ${usage(program, command)}`,
    proseLines([command.summary, command.description].filter(Boolean).join(' ')),
    ['```', ...examples, '```'].join('\n'),
    ...(items.length > 0 ? [items.join('\n')] : []),
  ].join('\n\n');
}

const built = new URL('../../dist/cli/program/config.js', import.meta.url);

/** Loads the configuration of `svc` from the built manifest, as the program itself does. */
async function loadConfigOfSvc(): Promise<Config> {
  const { loadConfig } = (await import(built.href)) as { loadConfig: (program: string) => Promise<Config> };
  return loadConfig('svc');
}

/** Loads the compiled commands, sorted by their ids. Commands of `svcadmin` are loaded without the manifest. */
export async function loadCommands(program: ProgramName = 'svcadmin'): Promise<Command.Loadable[]> {
  settings.enableAutoTranspile = false;
  const config =
    program === 'svc'
      ? await loadConfigOfSvc()
      : await Config.load({ root: fileURLToPath(new URL('../..', import.meta.url)) });
  return config.commands
    .filter(({ pluginName }) => pluginName === config.name)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

const pages = {
  svcadmin: { introduction, topics, untitled: 'the server and you' },
  svc: { introduction: introductionOfSvc, topics: topicsOfSvc, untitled: 'the service and you' },
};

/** The text of `docs/cli.md` or `docs/svc.md`, made from the compiled commands. */
export async function renderReference(program: ProgramName): Promise<string> {
  const commands = await loadCommands(program);
  const page = pages[program];
  const topicOf = ({ id }: Command.Loadable): string => (id.includes(':') ? (id.split(':')[0] ?? '') : '');
  const sections = [...new Set(commands.map(topicOf))].sort().map((topic) => {
    const title = topic ? `## ${topic}: ${page.topics[topic]?.description ?? ''}` : `## ${page.untitled}`;
    const members = commands.filter((command) => topicOf(command) === topic);
    return [title, ...members.map((command) => describeCommand(program, command))].join('\n\n');
  });
  return `${[page.introduction.trimEnd(), ...sections].join('\n\n')}\n`;
}
