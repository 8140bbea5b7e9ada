import type { Command } from '@oclif/core';

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Returns the first sentence of a text without its full stop, which is short enough for a menu. */
const firstSentence = (text: string): string => text.split(/\.(?:\s|$)/)[0]?.trim() ?? '';

/** Returns the settings of fish for the values of a flag. */
function offeredValue(flag: Command.Flag.Cached): string[] {
  if (flag.type === 'boolean') return [];
  if (flag.options) return ['-x', '-a', quoted(flag.options.join(' '))];
  return flag.helpValue === 'FILE' ? ['-r', '-F'] : ['-x'];
}

interface Described {
  description: string | undefined;
}

/**
 * Renders a completion script for fish: the words of all commands, and the flags of each with their values.
 * @param bin the name of the program
 * @param topics the descriptions of the groups of commands
 */
export function renderFishCompletion(
  bin: string,
  commands: readonly Command.Loadable[],
  topics: Readonly<Record<string, Described>>,
): string {
  const words = `__${bin}_words`;
  const brief = (text = ''): string => firstSentence(text.replaceAll('<%= config.bin %>', bin));
  const complete = (condition: string, ...rest: string[]): string =>
    ['complete', '-c', bin, '-n', quoted(condition), ...rest].join(' ');
  const offer = (before: readonly string[], word: string, description: string | undefined): string =>
    complete(`${words} ${['at', ...before].join(' ')}`, '-a', word, '-d', quoted(brief(description)));

  const groups = new Set(commands.flatMap(({ id }) => (id.includes(':') ? (id.split(':')[0] ?? '') : [])));
  for (const { id } of commands) groups.delete(id);
  const lines = [...groups].map((topic) => offer([], topic, topics[topic]?.description));
  for (const { id, summary, description, flags } of commands) {
    const path = id.split(':');
    lines.push(offer(path.slice(0, -1), path.at(-1) ?? '', summary ?? description));
    for (const flag of Object.values(flags).filter(({ hidden }) => !hidden)) {
      const short = flag.char ? ['-s', flag.char] : [];
      const about = ['-d', quoted(brief(flag.summary ?? flag.description))];
      lines.push(
        complete(`${words} in ${path.join(' ')}`, '-l', flag.name, ...short, ...offeredValue(flag), ...about),
      );
    }
  }
  return `# Completion of ${bin} for fish.
function ${words} -d 'whether the words typed so far are (at) or begin with (in) these'
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
