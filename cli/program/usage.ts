import type { Command, Interfaces } from '@oclif/core';
import { closest } from './closest.ts';

/** What a class may leave out, whatever oclif's types say. */
type Declared = Pick<typeof Command, 'id'> & Partial<Pick<typeof Command, 'args' | 'flags'>>;

function valueName(flag: Interfaces.Flag<unknown>): string {
  if (flag.type === 'boolean') return '';
  return flag.options?.join('|') ?? flag.helpValue?.toString() ?? 'VALUE';
}

/** How a command is typed: its words, its arguments, and the flags that it cannot do without. */
export function usageHint(bin: string, { id, args = {}, flags = {} }: Declared): string {
  const names = Object.entries(args).map(([name, { required, multiple }]) => {
    const shown = `${name.toUpperCase()}${multiple ? '…' : ''}`;
    return required ? shown : `[${shown}]`;
  });
  const needed = Object.entries(flags).filter(([, { required }]) => required);
  const values = needed.map(([name, flag]) => `--${name} ${valueName(flag)}`);
  const command = [bin, ...id.split(':')].join(' ');
  return `Usage: ${[command, ...names, ...values].join(' ')}\n\`${command} --help\` says more.`;
}

type WithFlags = Partial<Pick<typeof Command, 'flags' | 'baseFlags'>>;

/** `; did you mean --limit?` for flags that are not there and look like others of the command; else nothing. */
export function suggestFlags(error: Error & { flags?: unknown }, { flags, baseFlags }: WithFlags): string {
  if (error.name !== 'NonExistentFlagsError' && error.constructor.name !== 'NonExistentFlagsError') return '';
  const known = ['json', 'help', ...Object.keys({ ...baseFlags, ...flags })];
  const wrong = Array.isArray(error.flags) ? error.flags.map(String) : [];
  const meant = wrong.flatMap((flag) => closest(flag.replace(/^-+/, '').replace(/=.*$/s, ''), known) ?? []);
  return meant.length > 0 ? `; did you mean ${meant.map((name) => `--${name}`).join(', ')}?` : '';
}
