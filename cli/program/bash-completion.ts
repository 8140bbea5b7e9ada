import type { Command } from '@oclif/core';

/** Quotes a text for the shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Stands for the names of files among the values of a flag. */
const fileNames = 'FILE';

/** Returns a shell function that prints a value for each key. */
function renderLookup(name: string, rows: ReadonlyMap<string, string>): string {
  const cases = [...rows].map(([key, value]) => `    ${quoted(key)}) echo ${quoted(value)} ;;`);
  return `${name}() {\n  case "$1" in\n${cases.join('\n')}\n  esac\n}`;
}

/** The words that may follow the words typed so far: topics, commands, and the verbs of a topic. */
function nextWords(ids: readonly string[]): Map<string, string> {
  const words = new Map<string, Set<string>>();
  for (const id of ids) {
    const path = id.split(':');
    for (const [index, word] of path.entries()) {
      const before = path.slice(0, index).join(' ');
      words.set(before, (words.get(before) ?? new Set()).add(word));
    }
  }
  return new Map([...words].map(([before, found]) => [before, [...found].sort().join(' ')]));
}

/** The values of the flags that take a value: its choices, or `FILE`. Keys are such as `partners list --status`. */
function flagValues(commands: readonly Command.Loadable[]): Map<string, string> {
  const rows = commands.flatMap(({ id, flags }) =>
    Object.values(flags).flatMap((flag) => {
      if (flag.type === 'boolean') return [];
      const values = flag.options?.join(' ') ?? (flag.helpValue === 'FILE' ? fileNames : ' ');
      return [[`${id.replaceAll(':', ' ')} --${flag.name}`, values] as const];
    }),
  );
  return new Map(rows);
}

/**
 * Renders a completion script for bash, which zsh runs too: the words of all commands, their flags and the values of these.
 * @param bin the name of the program
 * @param shell `zsh` begins with the line that lets zsh read completions of bash
 */
export function renderBashCompletion(
  bin: string,
  commands: readonly Command.Loadable[],
  shell: 'bash' | 'zsh',
): string {
  const flagNames = commands.map(({ id, flags }) => {
    const visible = Object.values(flags).filter(({ hidden }) => !hidden);
    return [id.replaceAll(':', ' '), visible.map(({ name }) => `--${name}`).join(' ')] as const;
  });
  return `# Completion of ${bin} for ${shell}.
${shell === 'zsh' ? 'autoload -U +X compinit bashcompinit && compinit && bashcompinit\n' : ''}${renderLookup(`_${bin}_words`, nextWords(commands.map(({ id }) => id)))}
${renderLookup(`_${bin}_flags`, new Map(flagNames))}
${renderLookup(`_${bin}_values`, flagValues(commands))}
_${bin}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" typed='' word index offered
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$word" in -*) continue ;; esac
    # What is no word of a command is an argument, or the value of a flag.
    case " $(_${bin}_words "$typed") " in *" $word "*) typed="\${typed:+$typed }$word" ;; esac
  done
  offered="$(_${bin}_values "$typed $previous")"
  if [ -z "$offered" ]; then
    case "$current" in
      -*) offered="$(_${bin}_flags "$typed")" ;;
      *) offered="$(_${bin}_words "$typed")" ;;
    esac
  fi
  if [ "$offered" = ${fileNames} ]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$offered" -- "$current"))
  fi
}
complete -F _${bin} ${bin}
`;
}
