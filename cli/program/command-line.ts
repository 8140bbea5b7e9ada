import type { Config } from '@oclif/core';
import '@oclif/core/command';
import { run } from '@oclif/core/run';
import { settings } from '@oclif/core/settings';
import { closest } from '../../contracts/closest.ts';
import { exitOf, exits, type Failure, renderFailure, toFailure } from '../errors/failure.ts';
import { loadConfig } from './config.ts';
import type { ProgramName } from './program.ts';

/** Returns the words of a command line before the first one that `isEnd` accepts; all of them if it accepts none. */
function wordsBefore(argv: readonly string[], isEnd: (word: string) => boolean): readonly string[] {
  const end = argv.findIndex(isEnd);
  return end === -1 ? argv : argv.slice(0, end);
}

/** Returns the words before a `--`. The words after it are arguments, even if they begin with a dash. */
const wordsBeforeDashes = (argv: readonly string[]) => wordsBefore(argv, (word) => word === '--');
/** Returns the words before the first flag, which name the command. */
const commandWords = (argv: readonly string[]) => wordsBefore(argv, (word) => word.startsWith('-'));

const wantsJson = (argv: readonly string[]): boolean => wordsBeforeDashes(argv).includes('--json');

/** Returns the command of a topic whose verb is similar to the typed one: `wallets fund` for `wallets fnud`. */
function closestInTopic(topic: string, typedVerb: string, names: readonly string[]): string | undefined {
  const namesInTopic = names.filter((name) => name.startsWith(`${topic} `));
  const guess = closest(
    typedVerb,
    namesInTopic.map((name) => name.slice(topic.length + 1)),
  );
  return guess && `${topic} ${guess}`;
}

/** The flag that takes an id and the command that shows its record, by the first four characters of the id. */
const recordsOfIds: Readonly<Record<string, { flag?: string; show?: string }>> = {
  ptr_: { flag: 'partner' },
  cli_: { flag: 'client', show: 'clients show' },
  key_: { flag: 'key', show: 'keys show' },
  ses_: { flag: 'session', show: 'sessions show' },
  enr_: { flag: 'enrollment', show: 'enrollments show' },
  int_: { show: 'integrations show' },
  evt_: { show: 'events show' },
  dlv_: { show: 'deliveries show' },
  blk_: { show: 'bulk show' },
  txn_: { show: 'entry' },
  req_: { show: 'requests show' },
};

/** Returns the command that shows the record of an id, for `svc show ID`: only svcadmin has one command for all ids. */
function showCommand([verb, id = '']: readonly string[], names: readonly string[]): string | undefined {
  const { show } = recordsOfIds[id.slice(0, 4)] ?? {};
  return verb === 'show' && show !== undefined && names.includes(show) ? `${show} ${id}` : undefined;
}

/** Returns the failure of a command line that names no command. Its message suggests the command that was probably meant. */
function findUnknownCommand(argv: readonly string[], config: Config): Failure | undefined {
  const { commandIDs, bin, topics } = config;
  const words = commandWords(argv);
  if (words.length === 0 || findCommand(argv, config)) return undefined;
  const names = commandIDs.map((id) => id.replaceAll(':', ' '));
  const [topic = '', verb] = words;
  const isTopic = names.some((name) => name.startsWith(`${topic} `));
  // The help of oclif answers a topic without a verb.
  if (isTopic && verb === undefined) return undefined;
  const typed = words.slice(0, 2).join(' ');
  const known = [...names, ...topics.map(({ name }) => name)];
  const { guess, hint } = isTopic
    ? {
        guess: closestInTopic(topic, verb ?? '', names),
        hint: `\`${bin} ${topic} --help\` lists what there is.`,
      }
    : {
        guess: showCommand(words, names) ?? closest(typed, known) ?? closest(topic, known),
        hint: `See \`${bin} help\`.`,
      };
  const suggestion = guess ? `; did you mean ${guess}?` : '';
  const message = `${typed} is not ${bin === 'svc' ? 'an' : 'a'} ${bin} command${suggestion}`;
  return { code: 'unknown_command', message, hint };
}

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
  /** Whether the word at an index is the value of the flag before it, as in `--sub SUBJECT`. */
  const isFlagValue = (index: number) => {
    const wordBefore = argv[index - 1] ?? '';
    return wordBefore.startsWith('--') && flags[wordBefore.slice(2)]?.type === 'option';
  };
  const isSubject = (word: string, index: number) => dashedSubject.test(word) && !isFlagValue(index);
  // With a `--` of their own, people have placed the subjects themselves.
  if (argv.includes('--') || !argv.some(isSubject)) return [...argv];
  const others = argv.filter((word, index) => !isSubject(word, index));
  return [...others, '--', ...argv.filter(isSubject)];
}

/** Returns the failure if a command without arguments gets one. oclif would say that there is no command of that name. */
function findUnknownArgument(argv: readonly string[], config: Config): Failure | undefined {
  const { command, name, firstArgument } = findCommand(argv, config) ?? {};
  if (!command || firstArgument === undefined || Object.keys(command.args).length > 0) return undefined;
  const { flag } = recordsOfIds[firstArgument.slice(0, 4)] ?? {};
  const suggestion = flag && flag in command.flags ? `; did you mean --${flag} ${firstArgument}?` : '';
  return {
    code: 'usage',
    message: `${name} takes no argument ${firstArgument}${suggestion}`,
    hint: `\`${config.bin} ${name} --help\` says what it takes.`,
  };
}

/** Replaces `-h` by `--help`, and `-v` without a command by `--version`. */
function expandShortFlags(argv: readonly string[]): string[] {
  if (argv[0] === '-v') return ['--version'];
  const options = wordsBeforeDashes(argv);
  return [...options.map((word) => (word === '-h' ? '--help' : word)), ...argv.slice(options.length)];
}

/** Replaces `-o json` and `--output json`, as other programs have it, by `--json`. */
function expandOutput(argv: readonly string[]): string[] {
  const options = wordsBeforeDashes(argv);
  const isOutput = (word: string | undefined) => word === '-o' || word === '--output';
  const json = options.findIndex((word, index) => isOutput(word) && options[index + 1] === 'json');
  if (json !== -1) return [...argv.slice(0, json), '--json', ...argv.slice(json + 2)];
  return argv.map((word, index) =>
    index < options.length && /^(-o|--output=)json$/.test(word) ? '--json' : word,
  );
}

/** Flags of every command. A value follows those with `true`. */
const sharedFlags = new Map([
  ['--json', false],
  ['--url', true],
  ['--server', true],
  ['--profile', true],
  ['--ca', true],
]);

/** Moves shared flags before the command, as in `svcadmin --profile main partners list`, behind its words. */
function moveFlagsBehindCommand(argv: readonly string[]): string[] {
  let count = 0;
  for (;;) {
    const [name = '', value] = (argv[count] ?? '').split('=', 2);
    const takesValue = sharedFlags.get(name);
    if (takesValue === undefined) break;
    count += takesValue && value === undefined ? 2 : 1;
  }
  const rest = argv.slice(count);
  const words = commandWords(rest);
  return [...words, ...argv.slice(0, count), ...rest.slice(words.length)];
}

/** Replaces `ls` by `list` where a topic has this verb. */
function expandList(argv: readonly string[], config: Config): string[] {
  const [topic, verb, ...rest] = argv;
  const isList = verb === 'ls' && config.findCommand(`${topic}:list`) && !config.findCommand(`${topic}:ls`);
  return isList ? [topic ?? '', 'list', ...rest] : [...argv];
}

/** Returns the command line in the form that oclif reads. */
const normalise = (typed: readonly string[], config: Config): string[] =>
  moveSubjectsLast(expandList(moveFlagsBehindCommand(expandOutput(expandShortFlags(typed))), config), config);

async function runCommand(typed: readonly string[], program: ProgramName): Promise<number> {
  const config = await loadConfig(program);
  const argv = normalise(typed, config);
  const failure = findUnknownCommand(argv, config) ?? findUnknownArgument(argv, config);
  if (failure) return reportFailure(failure, argv);
  try {
    await run(argv, config);
  } catch (error) {
    // oclif ends `--version` and similar flags by throwing an exit, which is not an error.
    if ((error as { oclif?: { exit?: number } }).oclif?.exit === exits.ok) return exits.ok;
    return reportFailure(toFailure(error, { url: 'the server', program }), argv);
  }
  // A command that has found faults, such as `doctor`, sets the exit code without an exception.
  return Number(process.exitCode ?? exits.ok);
}

function reportFailure(failure: Failure, argv: readonly string[]): number {
  process.stderr.write(`${renderFailure(failure, wantsJson(argv))}\n`);
  return exitOf(failure);
}

/**
 * Resolves when nothing more can be written to a stream.
 * @param signal ends the waiting
 * @returns the error of the stream
 */
function waitForEndOfOutput(stream: NodeJS.WriteStream, signal: AbortSignal): Promise<WriteError> {
  return new Promise((resolve) => {
    // The handler that oclif adds with its `command` would end the process with a stack trace.
    stream.removeAllListeners('error');
    const onError = (error: NodeJS.ErrnoException) => resolve(error);
    stream.on('error', onError);
    signal.addEventListener('abort', () => void stream.off('error', onError));
  });
}

type WriteError = NodeJS.ErrnoException | null | undefined;

/** Resolves when this process has written all its output, even if the reader is slow. @returns the error of a failed write */
const waitForFlush = (stream: NodeJS.WriteStream) =>
  new Promise<WriteError>((resolve) => void stream.write('', (error) => resolve(error)));

/**
 * Runs one command line. Its value is written to stdout, everything else, also failures, to stderr.
 * @returns the exit code, which is the same with and without `--json`
 */
export async function runCommandLine(argv: string[], program: ProgramName = 'svcadmin'): Promise<number> {
  // The commands are already compiled, so oclif must not transpile them, whatever NODE_ENV is.
  settings.enableAutoTranspile = false;
  const finished = new AbortController();
  const outputEnded = waitForEndOfOutput(process.stdout, finished.signal);
  const exit = await runCommand(argv, program);
  // The caller ends the process, which would cut output that is not written yet. To a closed pipe, nothing can be written.
  const error = await Promise.race([waitForFlush(process.stdout), outputEnded]);
  // After an error, the stream emits one more for each write that still waits. So it keeps its handler.
  if (!error) finished.abort();
  // A reader that closes its pipe early, as `| head` does, is no failure.
  if (!error || error.code === 'EPIPE') return exit;
  process.stderr.write(`The output could not be written: ${error.message}\n`);
  return exits.failure;
}
