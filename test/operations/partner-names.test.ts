import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
});
afterAll(() => server.stop());

/** Queries with lists that have ids of partners without names, and why. */
const withoutNames = [
  // The table of jobs does not show their keys. `bulk show` does, with names.
  'bulk.list',
  // The partner is an argument of the call.
  'members.list',
  // `users show` names the client of an enrollment. `users find` has the names of partners.
  'users.show',
];

interface JsonSchema {
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  anyOf?: JsonSchema[];
}

/** The fields of the rows of each list in a schema, also of one within another. */
function rowsOf({ items, properties = {}, anyOf = [] }: JsonSchema): string[][] {
  const parts = [...Object.values(properties), ...anyOf, ...(items ? [items] : [])];
  return [...(items?.properties ? [Object.keys(items.properties)] : []), ...parts.flatMap(rowsOf)];
}

describe('a list of the admin API', () => {
  it('has the name of the partner in each row with the id of one', () => {
    const { procedures } = server.services.admin.router._def as unknown as {
      procedures: Record<string, { _def: { type: string; output: z.ZodType } }>;
    };
    const lists = Object.entries(procedures)
      .filter(([, { _def }]) => _def.type === 'query')
      .map(([name, { _def }]) => ({
        name,
        rows: rowsOf(z.toJSONSchema(_def.output, { unrepresentable: 'any' }) as JsonSchema),
      }));
    const ofPartners = lists.filter(({ rows }) => rows.some((fields) => fields.includes('partnerId')));
    expect(ofPartners.length).toBeGreaterThan(15);
    const isNameless = (fields: string[]) => fields.includes('partnerId') && !fields.includes('partnerName');
    const nameless = ofPartners.filter(({ rows }) => rows.some(isNameless));
    expect(nameless.map(({ name }) => name).toSorted()).toEqual(withoutNames);
  });

  it('reads the names for enrollments, found users and events', async () => {
    const partner = await createPartner(server);
    await exchangeCode(server, partner, await completeSession(server, partner));
    await server.sweep();
    const { partnerId } = partner;
    const { enrollments, users, events } = server.admin;
    const [enrollment] = await enrollments.list.query({ partnerId });
    const named = { partnerId, partnerName: 'Acme Cinema' };
    expect(enrollment).toMatchObject(named);
    expect(await users.find.query({ of: enrollment?.sub ?? '' })).toMatchObject([named]);
    expect((await events.list.query({ partnerId }))[0]).toMatchObject(named);
  });
});
