import { describe, expect, it } from 'vitest';
import { commandProcedures } from '../../../cli/roles/procedures.ts';
import { commands, origins } from '../../../cli/svc/commands.ts';
import { topics } from '../../../cli/svc/topics.ts';
import { scope } from '../../../server/portal/scope.ts';

const rows = Object.entries(commands);

describe('every command of svc', () => {
  it('calls only procedures that members may call', () => {
    const faults = Object.entries(origins).flatMap(([name, origin]) =>
      (commandProcedures[origin] ?? []).filter((path) => !scope[path]).map((path) => `${name}: ${path}`),
    );
    expect(faults).toEqual([]);
    expect(Object.keys(origins).length).toBeGreaterThan(50);
  });

  it('asks for no partner and no reason, and mentions no command of operators', () => {
    for (const [id, { args = {}, flags = {}, summary = '', description = '', examples = [] }] of rows) {
      const names = [...Object.keys(args), ...Object.keys(flags)];
      expect([id, names.filter((name) => name === 'partner' || name === 'reason')]).toEqual([id, []]);
      const texts = [
        summary,
        description,
        ...examples.map(String),
        ...Object.values(flags).map((flag) => flag.description ?? ''),
      ];
      expect([id, texts.filter((text) => /svcadmin|SVCADMIN|ptr_|of a partner/.test(text))]).toEqual([
        id,
        [],
      ]);
    }
  });

  it('has an example and a described topic', () => {
    for (const [id, { examples = [] }] of rows) {
      const [topic = '', verb] = id.split(':');
      if (verb !== undefined) expect(Object.keys(topics)).toContain(topic);
      expect([id, String(examples[0])]).toEqual([
        id,
        expect.stringContaining(`<%= config.bin %> ${id.replaceAll(':', ' ')}`),
      ]);
    }
  });
});
