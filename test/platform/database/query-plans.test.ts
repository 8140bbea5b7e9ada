import type { CommandStartedEvent, Db, Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts';
import { createPartner, post, tokenForm, visit } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { call, codeFor, createShop, fields, sign } from '../../storefront/shop.ts';

const clock = manualClock();
const commands: { name: string; command: Document }[] = [];
let server: TestServer;
let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase({ keep: true });
  server = await startTestServer({
    clock,
    env: { MONGODB_URI: `${database.uri}?monitorCommands=true` },
    replacements: {
      foundation({ client }) {
        client.on('commandStarted', ({ commandName: name, command }: CommandStartedEvent) => {
          commands.push({ name, command });
        });
        return {};
      },
    },
  });
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

/** What `explain` takes of a command: each of the statements of a bulk write is one. */
function statementsOf({ name, command }: (typeof commands)[number]): Document[] {
  const collection = command[name];
  switch (name) {
    case 'find':
      // The keyring is a handful of keys, and read whole.
      if (collection === 'keys') return [];
      return [{ find: collection, filter: command['filter'], sort: command['sort'] ?? {} }];
    case 'aggregate':
      return [{ aggregate: collection, pipeline: command['pipeline'], cursor: {} }];
    case 'count':
    case 'distinct':
      return [
        { [name]: collection, query: command['query'] ?? {}, ...(command['key'] && { key: command['key'] }) },
      ];
    case 'findAndModify':
      return [{ find: collection, filter: command['query'], sort: command['sort'] ?? {} }];
    case 'update':
      return (command['updates'] as Document[]).map(({ q }) => ({ find: collection, filter: q }));
    case 'delete':
      return (command['deletes'] as Document[]).map(({ q }) => ({ find: collection, filter: q }));
    default:
      return [];
  }
}

/** The same for statements that differ in their values alone. */
const shapeOf = (statement: Document): string =>
  JSON.stringify(statement, (_key, value: unknown) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? typeof value : value,
  );

/** Statements that read a whole collection. */
async function scansOf(db: Db): Promise<string[]> {
  const statements = new Map<string, Document>();
  for (const command of commands.filter(({ command }) => command['$db'] === db.databaseName))
    for (const statement of statementsOf(command)) {
      const name = `${Object.keys(statement)[0]} ${Object.values(statement)[0]}`;
      statements.set(`${name} ${shapeOf(statement)}`, statement);
    }
  expect(statements.size).toBeGreaterThan(50);
  const scans: string[] = [];
  for (const [name, statement] of statements) {
    const plan = await db.command({ explain: statement, verbosity: 'queryPlanner' });
    const text = JSON.stringify(plan);
    if (text.includes('"COLLSCAN"') || text.includes('"NestedLoopJoin"')) scans.push(name);
  }
  return scans;
}

it('no request, webhook or sweep reads a whole collection', { timeout: 60_000 }, async () => {
  const { admin, baseUrl } = server;
  const partner = await createPartner(server);
  const { keyId, apiKey, partnerId } = partner;
  await admin.webhooks.set.mutate({ keyId, url: 'http://localhost:9/hooks' });
  const url = (path: string) => `${baseUrl}/api/${path}`;
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  const visits = [await visit(server, partner), await visit(server, partner)];
  for (const person of ['teen', 'rejected']) await visit(server, partner, person);
  let sub = '';
  for (const one of visits) {
    const answer = await post(url('oauth/token'), tokenForm(partner, one));
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const userinfo = await fetch(url('oauth/userinfo'), bearer(token));
    ({ sub } = (await userinfo.json()) as { sub: string });
    const { clientId: client_id, clientSecret: client_secret } = partner;
    await post(url('oauth/revoke'), { token, client_id, client_secret });
    await post(url('oauth/token'), tokenForm(partner, one)); // used
  }
  await fetch(url('verify/hvf-session/ses_0000000000000000000000'), bearer(apiKey));
  const shop = await createShop(server);
  const body = JSON.stringify(fields(await codeFor(server, shop)));
  expect((await call(server, body, sign(shop, body, clock.now()))).status).toBe(200);
  const [enrollment] = await admin.enrollments.list.query({ partnerId, sub });
  const resolved = await fetch(url('checkbox/resolve'), {
    method: 'POST',
    headers: { ...bearer(apiKey).headers, 'idempotency-key': 'one', 'content-type': 'application/json' },
    body: JSON.stringify({ enrollment_id: enrollment?.id, claims: ['age_18_plus'] }),
  });
  expect(resolved.status).toBe(200);
  const failed = async () =>
    (await admin.deliveries.list.query({ partnerId })).some((one) => one.attempts.length > 1);
  await server.sweep();
  clock.advance(60_000);
  await expect
    .poll(
      async () => {
        await server.sweep();
        return failed();
      },
      { timeout: 10_000 },
    )
    .toBe(true);

  expect(await scansOf(database.db)).toEqual([]);
});
