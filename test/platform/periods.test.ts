import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

interface Procedure {
  _def: { inputs: z.ZodType[] };
}
type Properties = Record<string, { properties?: Properties }>;

const early = '2026-06-01T00:00:00Z';
const late = '2026-07-01T00:00:00Z';
const ends = [
  ['since', 'until'],
  ['from', 'to'],
] as const;
/** Values of required fields, besides the period. */
const others = { partnerId: 'ptr_1', keyId: 'key_1', action: 'cancel' };

/** All inputs of the admin API that have a period, each with a function that checks it with these ends. */
function inputsWithPeriods() {
  const { procedures } = server.services.admin.router._def;
  return Object.entries(procedures as unknown as Record<string, Procedure>).flatMap(([name, { _def }]) =>
    _def.inputs.flatMap((schema) => {
      const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
        properties?: Properties;
      };
      const required = Object.fromEntries(Object.entries(others).filter(([field]) => field in properties));
      const check = (input: object) => {
        const { error } = schema.safeParse({ ...required, ...input });
        return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
      };
      const places = [
        { fields: properties, prefix: '', inputOf: (period: object) => period },
        {
          fields: properties['filter']?.properties ?? {},
          prefix: 'filter.',
          inputOf: (filter: object) => ({ filter }),
        },
      ];
      return places.flatMap(({ fields, prefix, inputOf }) =>
        ends
          .filter(([begin, end]) => begin in fields && end in fields)
          .map(([begin, end]) => ({
            name,
            end: `${prefix}${end}`,
            check: (from: string, to: string) => check(inputOf({ [begin]: from, [end]: to })),
          })),
      );
    }),
  );
}

it('a period that does not end after its begin is refused at the field of its end by every procedure that has one', () => {
  const inputs = inputsWithPeriods();
  expect(inputs.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['wallets.statement', 'wallets.signedStatement', 'deliveries.list', 'bulk.start']),
  );
  for (const { name, end, check } of inputs) {
    expect([name, check(early, late)]).toEqual([name, []]);
    for (const [from, to] of [
      [late, early],
      [early, early],
    ] as const)
      expect([name, check(from, to)]).toEqual([
        name,
        [`${end}: must be later than the beginning of the period`],
      ]);
  }
});
