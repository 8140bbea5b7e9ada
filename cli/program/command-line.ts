import { type Config, run, settings } from '@oclif/core';
import { exits, type Failure, renderFailure, toFailure } from '../errors/failure.ts';
import { closest } from './closest.ts';
import { loadConfig } from './config.ts';
import type { ProgramName } from './program.ts';

/** Whether the caller wants JSON: `--json` occurs before any `--`. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}

/** Returns the words of a command line before the first flag, which name the command. */
function commandWords(argv: readonly string[]): string[] {
  const end = argv.findIndex((word) => word.startsWith('-'));
  return argv.slice(0, end === -1 ? undefined : end);
}

/** Returns the command of a topic whose verb is similar to the typed one: `wallets fund` for `wallets fnud`. */
function closestInTopic(topic: string, typedVerb: string, names: readonly string[]): string | undefined {
  const namesInTopic = names.filter((name) => name.startsWith(`${topic} `));
  const guess = closest(
    typedVerb,
    namesInTopic.map((name) => name.slice(topic.length + 1)),
  );
  return guess && `${topic} ${guess}`;
}

/** Returns the failure of a command line that names no command. Its message suggests the command that was probably meant. */
function findUnknownCommand(argv: readonly string[], config: Config): Failure | undefined {
  const { commandIDs, bin, topics } = config;
  const words = commandWords(argv);
  if (words.length === 0 || findCommand(argv, config)) return undefined;
  const names = commandIDs.map((id) => id.replaceAll(':', ' '));
  const [topic = '', verb] = words;
  const typed = words.slice(0, 2).join(' ');
  const isTopic = names.some((name) => name.startsWith(`${topic} `));
  // The help of oclif answers a topic without a verb.
  if (isTopic && verb === undefined) return undefined;
  const guess = isTopic
    ? closestInTopic(topic, verb ?? '', names)
    : closest(typed, [...names, ...topics.map(({ name }) => name)]);
  const suggestion = guess ? `; did you mean ${guess}?` : '';
  return {
    code: 'unknown_command',
    message: `${typed} is not ${bin === 'svc' ? 'an' : 'a'} ${bin} command${suggestion}`,
    exit: exits.usage,
    hint: isTopic ? `\`${bin} ${topic} --help\` lists what there is.` : `See \`${bin} help\`.`,
  };
}

/** The name of the flag that takes an id, by the prefix of the id. */
const flagsOfIds: Readonly<Record<string, string>> = {
  ptr: 'partner',
  cli: 'client',
  key: 'key',
  ses: 'session',
  enr: 'enrollment',
};

/** Finds the command that the first words name. The other words are arguments, so the longest name that matches is the right one. */
function findCommand(argv: readonly string[], config: Config) {
  const words = commandWords(argv);
  // oclif joins the words of a name by colons. Only names with spaces are commands here.
  if (words[0]?.includes(':')) return undefined;
  for (let count = words.length; count > 0; count -= 1) {
    const command = config.findCommand(words.slice(0, count).join(':'));
    if (command) return { command, name: words.slice(0, count).join(' '), firstArgument: words[count] };
  }
  return undefined;
}

/** Matches a subject (43 characters of base64url) that begins with a dash. */
const dashedSubject = /^-[\w-]{42}$/;

/** Moves subjects that begin with a dash behind a `--`, because oclif would take them for flags. */
function moveSubjectsLast(argv: readonly string[], config: Config): string[] {
  const flags = findCommand(argv, config)?.command.flags ?? {};
  const isFlagValue = (index: number) => {
    const [, flagBefore = ''] = /^--(.+)$/.exec(argv[index - 1] ?? '') ?? [];
    return flags[flagBefore]?.type === 'option';
  };
  const isSubject = (word: string, index: number) => dashedSubject.test(word) && !isFlagValue(index);
  // With a `--` of their own, people have placed the subjects themselves.
  if (argv.includes('--') || !argv.some(isSubject)) return [...argv];
  const others = argv.filter((word, index) => !isSubject(word, index));
  return [...others, '--', ...argv.filter(isSubject)];
}

/** Returns the failure if a command without arguments gets one. oclif would say that there is no command of that name. */
function findUnknownArgument(argv: readonly string[], config: Config): Failure | undefined {
  const { command, name, firstArgument: extra } = findCommand(argv, config) ?? {};
  if (!command || extra === undefined || Object.keys(command.args).length > 0) return undefined;
  const [, prefix = ''] = /^([a-z]{3})_/.exec(extra) ?? [];
  const flag = flagsOfIds[prefix];
  const suggestion = flag && flag in command.flags ? `; did you mean --${flag} ${extra}?` : '';
  return {
    code: 'usage',
    message: `${name} takes no argument ${extra}${suggestion}`,
    exit: exits.usage,
    hint: `\`${config.bin} ${name} --help\` says what it takes.`,
  };
}

/** Replaces `-h` by `--help`, and `-v` without a command by `--version`. */
function expandShortFlags(argv: readonly string[]): string[] {
  if (argv[0] === '-v') return ['--version'];
  const end = argv.indexOf('--');
  return argv.map((word, index) => (word === '-h' && (end === -1 || index < end) ? '--help' : word));
}

async function runCommand(typed: readonly string[], program: ProgramName): Promise<number> {
  const config = await loadConfig(program);
  const argv = moveSubjectsLast(expandShortFlags(typed), config);
  const failure = findUnknownCommand(argv, config) ?? findUnknownArgument(argv, config);
  if (failure) return report(failure, argv);
  try {
    await run(argv, config);
  } catch (error) {
    // oclif ends `--version` and similar flags by throwing an exit, which is not an error.
    if ((error as { oclif?: { exit?: number } }).oclif?.exit === exits.ok) return exits.ok;
    return report(toFailure(error, { url: 'the server', program }), argv);
  }
  // A command that has found faults, such as `doctor`, sets the exit code without an exception.
  return Number(process.exitCode ?? exits.ok);
}

function report(failure: Failure, argv: readonly string[]): number {
  process.stderr.write(`${renderFailure(failure, wantsJson(argv))}\n`);
  return failure.exit;
}

/** Resolves when the reader of a pipe closes it early, as `| head` does. This is not a failure. */
function waitForClosedReader(stream: NodeJS.WriteStream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const onError = ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') resolve();
    };
    stream.on('error', onError);
    signal.addEventListener('abort', () => void stream.off('error', onError));
  });
}

/** Resolves when this process has written all its output, even if the reader is slow. */
const waitForFlush = (stream: NodeJS.WriteStream) =>
  new Promise<void>((resolve) => void stream.write('', () => resolve()));

/**
 * Runs one command line. Its value is written to stdout, everything else, also failures, to stderr.
 * @returns the exit code, which is the same with and without `--json`
 */
export async function runCommandLine(argv: string[], program: ProgramName = 'svcadmin'): Promise<number> {
  // The commands are already compiled, so oclif must not transpile them, whatever NODE_ENV is.
  settings.enableAutoTranspile = false;
  const finished = new AbortController();
  const readerClosed = waitForClosedReader(process.stdout, finished.signal);
  const exit = await runCommand(argv, program);
  // The caller ends the process, which would cut output that is not written yet. To a closed pipe, nothing can be written.
  await Promise.race([waitForFlush(process.stdout), readerClosed]);
  finished.abort();
  return exit;
}
