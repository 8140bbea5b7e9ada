import type { Command, Interfaces } from '@oclif/core';

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
