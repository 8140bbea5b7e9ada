import type { Command } from '@oclif/core';

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Returns the first sentence of a text without its full stop, because a menu has no room for more. */
const firstSentence = (text: string): string => text.split(/\.(?:\s|$)/)[0]?.trim() ?? '';

/** Returns the options of fish's `complete` for the value of a flag: its choices, a file, or any text (`-x`). */
function valueSettings(flag: Command.Flag.Cached): string[] {
  if (flag.type === 'boolean') return [];
  if (flag.options) return ['-x', '-a', quoted(flag.options.join(' '))];
  const takesFile = flag.helpValue === 'FILE';
  return takesFile ? ['-r', '-F'] : ['-x'];
}

/**
 * Returns the name of a function that the script defines in the fish shell. It compares the typed words with arguments.
 * Called with `at WORDS`, it succeeds if exactly these words are typed; with `in WORDS`, if they are the first ones.
 */
const functionName = (bin: string): string => `__${bin}_words`;

/** Returns functions that write the `complete` lines of a program. Each line has a condition on the words typed so far. */
function createLines(bin: string) {
  const describe = (text = ''): string[] => [
    '-d',
    quoted(firstSentence(text.replaceAll('<%= config.bin %>', bin))),
  ];
  const complete = (condition: string, ...rest: string[]): string =>
    ['complete', '-c', bin, '-n', quoted(`${functionName(bin)} ${condition}`), ...rest].join(' ');
  return {
    /** Offers `word` after exactly the words `typedWords`. */
    wordLine: (typedWords: readonly string[], word: string, description: string | undefined): string =>
      complete(['at', ...typedWords].join(' '), '-a', word, ...describe(description)),
    /** Offers a flag if the typed words begin with those of its command. */
    flagLine(commandWords: readonly string[], flag: Command.Flag.Cached): string {
      const short = flag.char ? ['-s', flag.char] : [];
      const description = describe(flag.summary ?? flag.description);
      const condition = `in ${commandWords.join(' ')}`;
      return complete(condition, '-l', flag.name, ...short, ...valueSettings(flag), ...description);
    },
  };
}

/** Returns the topics: the first words of commands that are not commands themselves. */
function topicNames(commands: readonly Command.Loadable[]): string[] {
  const ids = new Set(commands.map(({ id }) => id));
  const names = commands.flatMap(({ id }) => (id.includes(':') ? (id.split(':')[0] ?? '') : []));
  return [...new Set(names)].filter((name) => !ids.has(name));
}

/**
 * Renders a completion script for fish: the words of all commands, and the flags of each with their values.
 * @param bin the name of the program
 * @param topics the descriptions of the groups of commands
 */
export function renderFishCompletion(
  bin: string,
  commands: readonly Command.Loadable[],
  topics: Readonly<Record<string, { description: string | undefined }>>,
): string {
  const { wordLine, flagLine } = createLines(bin);
  const topicLines = topicNames(commands).map((name) => wordLine([], name, topics[name]?.description));
  const commandLines = commands.flatMap(({ id, summary, description, flags }) => {
    const words = id.split(':');
    const visibleFlags = Object.values(flags).filter(({ hidden }) => !hidden);
    return [
      wordLine(words.slice(0, -1), words.at(-1) ?? '', summary ?? description),
      ...visibleFlags.map((flag) => flagLine(words, flag)),
    ];
  });
  return renderScript(bin, [...topicLines, ...commandLines]);
}

/** Returns the script: the fish function that the conditions call, then the lines. */
function renderScript(bin: string, lines: readonly string[]): string {
  return `# Completion of ${bin} for fish.
function ${functionName(bin)} -d 'whether the words typed so far are (at) or begin with (in) these'
    set -l typed (string match -v -- '-*' (commandline -opc)[2..])
    set -l wanted $argv[2..]
    if test $argv[1] = at
        test "$typed" = "$wanted"
    else if test (count $typed) -ge (count $wanted)
        test "$typed[1..$(count $wanted)]" = "$wanted"
    else
        false
    end
end
complete -c ${bin} -f
${lines.join('\n')}
`;
}
