import { fileURLToPath } from 'node:url';
import { Flags } from '@oclif/core';
import { expect, it } from 'vitest';
import { AdminCommand } from '../../../cli/program/base-command.ts';
import { loadCommands } from '../reference.ts';

/** A command with a flag whose parser throws an error of JavaScript, as `toISOString` does. */
class Probe extends AdminCommand<typeof Probe> {
  static override id = 'probe';
  static override flags = {
    at: Flags.custom<string>({ parse: async (text) => new Date(Number(text)).toISOString() })(),
  };

  async run() {
    return this.flags.at;
  }
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('whatever the parser of a flag throws is wrong use, with the command that shows the help', async () => {
  expect(await Probe.run(['--at', '0'], { root })).toBe('1970-01-01T00:00:00.000Z');
  await expect(Probe.run(['--at', '1e99'], { root })).rejects.toMatchObject({
    failure: {
      code: 'usage',
      message: '--at: Invalid time value',
      hint: expect.stringContaining('probe --help'),
    },
  });
});

it.each([['svcadmin'], ['svc']] as const)(
  'each command of %s refuses a form of its output beside --json',
  async (program) => {
    const commands = await loadCommands(program);
    const forms = commands.flatMap(({ id, flags }) =>
      ['csv', 'columns']
        .filter((name) => name in flags)
        .map((name) => ({ command: `${id} --${name}`, exclusive: flags[name]?.exclusive ?? [] })),
    );
    expect(forms.length).toBeGreaterThan(20);
    expect(forms.filter(({ exclusive }) => !exclusive.includes('json'))).toEqual([]);
  },
);
