import { describe, expect, it } from 'vitest';
import { adviseUsersOf, listedErrors } from '../../../cli/errors/search.ts';
import { rewordFor } from '../../../cli/program/program.ts';
import { commandProcedures } from '../../../cli/roles/procedures.ts';
import { commands, origins } from '../../../cli/svc/commands.ts';
import { topics } from '../../../cli/svc/topics.ts';
import { adviseAnswer } from '../../../contracts/receiver-advice.ts';
import { AttemptError } from '../../../contracts/webhooks.ts';
import { scope } from '../../../server/console/portal/calls/scope.ts';
import { svcCommandLine } from './member-line.ts';

const rows = Object.entries(commands);

it('advice for members speaks to them, and never of the partner', () => {
  const answers = [
    ...AttemptError.options,
    ...Array.from({ length: 300 }, (_, index) => String(300 + index)),
  ];
  const advice = answers.map((answer) => rewordFor('svc', adviseAnswer(answer) ?? ''));
  expect(advice.filter((text) => text === '' || /partner/i.test(text))).toEqual([]);
  expect(rewordFor('svcadmin', adviseAnswer('404') ?? '')).toContain('Have the partner check the URL');
});

it('the advice of svc on an error names only commands that svc has', () => {
  const advice = listedErrors.map((error) => adviseUsersOf('svc', error).advice).join('\n');
  const named = [...advice.matchAll(/`(svc(?:admin)? )?(\w[a-z-]*(?: [a-z-]+)?)/g)]
    .filter(([, program, name = '']) => program !== undefined || name in commandProcedures)
    .map(([, program = '', name = '']) => [program === 'svcadmin ', name.replace(' ', ':')] as const);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(([isForSupport, name]) => isForSupport || !commands[name])).toEqual([]);
});

it.each([
  ['show dlv_1', 'deliveries show dlv_1'],
  ['show req_1', 'requests show req_1'],
  ['show txn_1', 'entry txn_1'],
  ['request req_1', 'requests'],
  ['wallets list', 'wallet'],
])('svc has no `%s` and suggests `%s`', async (typed, meant) => {
  const svc = svcCommandLine('http://localhost:1');
  const { code, stderr } = await svc.run(typed.split(' '));
  expect([code, stderr.split('\n')[0]]).toEqual([
    2,
    `Error: ${typed} is not an svc command; did you mean ${meant}?`,
  ]);
});

describe('every command of svc', () => {
  it('calls only procedures of the server that members may call', () => {
    const faults = Object.entries(origins).flatMap(([name, origin]) =>
      (commandProcedures[origin] ?? []).filter((path) => !scope[path]).map((path) => `${name}: ${path}`),
    );
    expect(faults).toEqual([]);
    expect(Object.keys(origins).length).toBeGreaterThan(50);
  });

  it('has no argument or flag for a partner or a reason, and its help names neither svcadmin nor operator roles', () => {
    for (const [id, { args = {}, flags = {}, summary = '', description = '', examples = [] }] of rows) {
      const names = [...Object.keys(args), ...Object.keys(flags)];
      expect([id, names.filter((name) => name === 'partner' || name === 'reason')]).toEqual([id, []]);
      const texts = [
        summary,
        description,
        ...examples.map(String),
        ...Object.values(flags).map((flag) => flag.description ?? ''),
      ];
      expect([
        id,
        texts.filter((text) => /svcadmin|SVCADMIN|ptr_|of a partner|\brole (support|ops)\b/.test(text)),
      ]).toEqual([id, []]);
    }
  });

  it('has examples that begin with its own name, and a topic that is in the list of topics', () => {
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
