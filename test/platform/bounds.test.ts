import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createShop, type Shop, sign } from '../api/storefront/shop.ts';
import { recordingLogger } from '../harness/log-lines.ts';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { type PublicRoute, parts, publicRoutes } from '../harness/public-routes.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';
import { inputWith, type Leaf, leavesOf } from './schema-bounds.ts';

const { logger, lines, of } = recordingLogger();
let server: TestServer;
let partner: TestPartner;
let shop: Shop;
let routes: PublicRoute[];
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' }, logger });
  [partner, shop, routes] = await Promise.all([
    createPartner(server),
    createShop(server),
    publicRoutes(server),
  ]);
});
afterAll(() => server.stop());

interface Procedure {
  _def: { type: 'query' | 'mutation'; inputs: z.ZodType[] };
}
const procedures = () =>
  Object.entries(server.services.admin.router._def.procedures as unknown as Record<string, Procedure>);

/** Each schema of an input, with the name of its place. */
const schemas = (): [place: string, schema: z.ZodType][] => [
  ...procedures().flatMap(([name, { _def }]) =>
    _def.inputs.map((input) => [name, input] as [string, z.ZodType]),
  ),
  ...routes.flatMap(({ method, url, schema = {} }) =>
    parts.flatMap((part) => {
      const input = schema[part];
      return input ? [[`${String(method)} ${url} ${part}`, input] as [string, z.ZodType]] : [];
    }),
  ),
];

/** Inputs without a bound of their own. Another one holds: that of a path, or those of all bodies (64 KiB, 2,000 values). */
const boundedElsewhere = new Set([
  // An unknown session is a 404, however long its id is. A path has at most 16 KiB.
  'GET /api/verify/hvf-session/:session_id params session_id string',
  // Parameters of OpenID Connect, which are ignored where a client does not speak it. `OpenidStart` bounds them.
  ...['max_age', 'nonce', 'prompt', 'registration', 'request', 'request_uri'].map(
    (name) => `GET /verify/start querystring ${name} string`,
  ),
  // Fields that an identity wallet posts, which are read one by one.
  'POST /verify/wallet/:source/:token body  record',
  'POST /verify/test-wallet/credential body requests.0.data unknown',
]);

describe('every input of a procedure, body, form, query, path and header', () => {
  it('has a bound for each string, number and list, and no open record', () => {
    const unbounded = schemas().flatMap(([place, schema]) =>
      leavesOf(schema).flatMap(({ path, fault }) => (fault ? [`${place} ${path.join('.')} ${fault}`] : [])),
    );
    expect(new Set(unbounded)).toEqual(boundedElsewhere);
    expect(schemas().length).toBeGreaterThan(150);
  });

  it('is refused by its schema for a value that is one over its bound', () => {
    for (const [place, schema] of schemas())
      for (const leaf of leavesOf(schema)) {
        if (leaf.fault) continue;
        const { error } = schema.safeParse(inputWith(leaf));
        const isNamed = error?.issues.some(({ path }) =>
          path.every((name, n) => String(name) === leaf.path[n]),
        );
        expect([place, leaf.path, isNamed]).toEqual([place, leaf.path, true]);
      }
  });
});

/** An input with all values over their bounds, as far as they fit into `most` characters. */
function oversized(leaves: readonly Leaf[], most: number): unknown {
  const whole: Record<string, unknown> = {};
  let length = 0;
  for (const leaf of leaves) {
    const [first = ''] = leaf.path;
    const input = inputWith(leaf) as Record<string, unknown>;
    const added = JSON.stringify(input).length;
    if (leaf.path.length === 0 || first in whole || length + added > most) continue;
    length += added;
    whole[first] = input[first];
  }
  return whole;
}

/** Expects a short 400, and a short line in the log. @returns the body */
async function refused(place: string, sent: Promise<Response>): Promise<string> {
  const answer = await sent;
  const text = await answer.text();
  const isPage = text.startsWith('<!');
  expect([place, answer.status, text.length < (isPage ? 20_000 : 4_000)]).toEqual([place, 400, true]);
  // The line may follow the answer.
  const logged = () => of(answer.headers.get('x-request-id'));
  if (logged().length === 0) await expect.poll(logged).not.toEqual([]);
  for (const line of logged()) expect(JSON.stringify(line).length, place).toBeLessThan(8_000);
  return text;
}

describe('an input with every value one over its bound', () => {
  it('gets bad_input with at most ten faults from every procedure of the admin API, and a short log line', async () => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    for (const [name, { _def }] of procedures()) {
      const [input] = _def.inputs;
      const leaves = input ? leavesOf(input) : [];
      if (leaves.length === 0) continue;
      const isQuery = _def.type === 'query';
      const body = JSON.stringify(oversized(leaves, isQuery ? 8_000 : 380_000));
      const url = `${server.adminUrl}/trpc/${name}`;
      const sent = isQuery
        ? fetch(`${url}?input=${encodeURIComponent(body)}`, { headers })
        : fetch(url, { method: 'POST', headers, body });
      const { error } = JSON.parse(await refused(name, sent)) as {
        error: { message: string; data: { error: string } };
      };
      expect([name, error.data.error]).toEqual([name, 'bad_input']);
      expect(error.message.length).toBeLessThan(2_100);
    }
  });

  it('gets 400 from every endpoint with a body or a query, and a short log line', async () => {
    /** The headers of a caller whom the endpoint knows. Those of OAuth read the body first. */
    function own(url: string, body: string): Record<string, string> {
      if (url.startsWith('/api/oauth/')) return {};
      if (url.startsWith('/api/integrations/storefront/')) return sign(shop, body, Date.now());
      return { authorization: `Bearer ${partner.apiKey}`, 'idempotency-key': 'one' };
    }
    for (const { method, url, schema = {} } of routes) {
      const { body: form, querystring } = schema;
      const input = form ?? querystring;
      if (!input || boundedElsewhere.has(`${String(method)} ${url} body  record`)) continue;
      const values = oversized(leavesOf(input), form ? 60_000 : 12_000) as Record<string, string>;
      const body = JSON.stringify(values);
      const address = `${server.publicUrl}${url.replace(/:\w+/g, 'x')}`;
      const headers = { 'content-type': 'application/json', ...own(url, body) };
      const place = `${String(method)} ${url}`;
      if (form) await refused(place, fetch(address, { method: 'POST', headers, body }));
      else await refused(place, fetch(`${address}?${new URLSearchParams(values)}`, { headers }));
    }
  });
});

it('a list of 180,000 claims gets a short refusal, and so do 2,000 faults and objects with names of a prototype', async () => {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const hostile: unknown[] = [{ toString: 1 }, { constructor: {} }];
  const lists = [Array(180_000).fill(1), Array(1_990).fill(1), ['x'.repeat(300_000)], hostile];
  for (const claims of lists) {
    const body = JSON.stringify({ clientId: partner.clientId, claims });
    const sent = fetch(`${server.adminUrl}/trpc/clients.update`, { method: 'POST', headers, body });
    await refused('clients.update', sent);
  }
  expect(JSON.stringify(lines.slice(-4)).length).toBeLessThan(20_000);
});
