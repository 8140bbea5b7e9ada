import type { Command, Interfaces } from '@oclif/core';
import { closest } from '../../contracts/closest.ts';

/** The static fields of a command class. `args` and `flags` may be absent, although oclif's types do not say so. */
type Declared = Pick<typeof Command, 'id'> & Partial<Pick<typeof Command, 'args' | 'flags'>>;

function valuePlaceholder(flag: Interfaces.Flag<unknown>): string {
  if (flag.type === 'boolean') return '';
  return flag.options?.join('|') ?? flag.helpValue?.toString() ?? 'VALUE';
}

/** Returns the usage of a command: its words, its arguments and its required flags. */
export function usageHint(bin: string, { id, args = {}, flags = {} }: Declared): string {
  const names = Object.entries(args).map(([name, { required, multiple }]) => {
    const shown = `${name.toUpperCase()}${multiple ? '…' : ''}`;
    return required ? shown : `[${shown}]`;
  });
  const needed = Object.entries(flags).filter(([, { required }]) => required);
  const values = needed.map(([name, flag]) => `--${name} ${valuePlaceholder(flag)}`);
  const command = [bin, ...id.split(':')].join(' ');
  return `Usage: ${[command, ...names, ...values].join(' ')}\n\`${command} --help\` says more.`;
}

type WithFlags = Partial<Pick<typeof Command, 'flags' | 'baseFlags'>>;

/** Returns a suggestion such as `; did you mean --limit?` for unknown flags. Empty if no flag of the command is similar. */
export function suggestFlags(error: Error & { flags?: unknown }, { flags, baseFlags }: WithFlags): string {
  // oclif does not export this class, and its errors have no name of their own.
  if (error.constructor.name !== 'NonExistentFlagsError') return '';
  const known = ['json', 'help', ...Object.keys({ ...baseFlags, ...flags })];
  const wrong = Array.isArray(error.flags) ? error.flags.map(String) : [];
  // `--limt=5` is compared as `limt`.
  const wrongNames = wrong.map((flag) => flag.replace(/^-+/, '').replace(/=.*$/s, ''));
  const meant = wrongNames.flatMap((name) => closest(name, known) ?? []);
  return meant.length > 0 ? `; did you mean ${meant.map((name) => `--${name}`).join(', ')}?` : '';
}
