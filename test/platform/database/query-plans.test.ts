import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, codeFor, createShop, fields, sign } from '../../api/storefront/shop.ts';
import { adminQueries, type Known, type Queries } from '../../harness/admin-queries.ts';
import { createPartner, exchangeCode, post, verifyUser } from '../../harness/partner.ts';
import { adminToken, manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { distinctStatements, isKeyringRead, planFaults, type SentCommand } from '../../harness/statements.ts';

const clock = manualClock();
const commands: SentCommand[] = [];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    clock,
    onCommand: ({ commandName, command }) => void commands.push({ commandName, command }),
  });
});
afterAll(() => server.stop());

const ownCommands = () =>
  commands.filter(({ command }) => command['$db'] === server.db.databaseName && !isKeyringRead(command));

/**
 * Allowed sorts of small results: jobs, processes, due unsent events, the waiting brands of a partner, users under a legal hold,
 * and the records of one event, user, session, second or request.
 */
const isFew =
  /^find (jobs|processes)|"brandWaitsSince":\{[^}]*\},"(partnerId|_id)"|"(eventId|sub|userId|sessionId|requestId|use)":|"(nextAttemptAt|hold.until)":\{"\$(gte|lte|gt)"/;

it('every request, webhook and sweep avoids a read of a whole collection', async () => {
  const { admin, baseUrl } = server;
  const partner = await createPartner(server);
  const { keyId, apiKey, partnerId } = partner;
  await admin.webhooks.set.mutate({ keyId, url: 'http://localhost:9/hooks' });
  const url = (path: string) => `${baseUrl}/api/${path}`;
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  const verifications = [await verifyUser(server, partner), await verifyUser(server, partner)];
  for (const person of ['teen', 'rejected']) await verifyUser(server, partner, person);
  let sub = '';
  for (const one of verifications) {
    const answer = await exchangeCode(server, partner, one);
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const userinfo = await fetch(url('oauth/userinfo'), bearer(token));
    ({ sub } = (await userinfo.json()) as { sub: string });
    const { clientId: client_id, clientSecret: client_secret } = partner;
    await post(url('oauth/revoke'), { token, client_id, client_secret });
    // A second exchange, of a code that is already used.
    await exchangeCode(server, partner, one);
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
    .poll(async () => {
      await server.sweep();
      return failed();
    })
    .toBe(true);

  const statements = distinctStatements(ownCommands());
  expect(statements.size).toBeGreaterThan(50);
  const scans: string[] = [];
  for (const [name, statement] of statements) {
    const faults = await planFaults(server.db, statement);
    scans.push(...faults.filter((fault) => fault !== 'SORT').map((fault) => `${fault}: ${name}`));
  }
  expect(scans).toEqual([]);
});

it('every query of an operator, of /metrics and of /ops avoids a read or sort of a whole collection', async () => {
  const { admin, adminUrl, db } = server;
  const headers = { authorization: `Bearer ${adminToken}` };
  const [enrollment] = await db.collection('enrollments').find().toArray();
  const idIn = async (collection: string, filter = {}) =>
    String((await db.collection(collection).findOne(filter, { sort: { _id: -1 } }))?._id);
  // Requests are recorded after their answers, and events later.
  for (const name of ['requestLog', 'events', 'deliveries'])
    await expect.poll(() => db.collection(name).findOne()).not.toBeNull();
  const { partnerId, keyId, clientId } = enrollment as unknown as Record<string, string>;
  const [entry] = (await admin.wallets.statement.query({ partnerId: String(partnerId), mode: 'test' }))
    .entries;
  const known = {
    ...{ partnerId: String(partnerId), keyId: String(keyId), clientId: String(clientId) },
    ...{ enrollmentId: String(enrollment?._id), sub: String(enrollment?.['sub']), entryId: entry?.id ?? '' },
    ...{ sessionId: await idIn('sessions'), eventId: await idIn('events') },
    ...{ deliveryId: await idIn('deliveries'), requestId: await idIn('requestLog') },
    ...{ integrationId: await idIn('integrations'), jobId: (await admin.jobs.list.query({}))[0]?.id },
  };
  commands.length = 0;
  const faults: string[] = [];
  const asked: Queries = {
    ...adminQueries(admin, known),
    '/metrics': () => fetch(`${adminUrl}/metrics`, { headers }),
    '/ops': () => fetch(`${adminUrl}/ops`, { headers }),
  };
  for (const [name, ask] of Object.entries(asked)) {
    commands.length = 0;
    await ask?.();
    for (const [shape, statement] of distinctStatements(ownCommands())) {
      const found = await planFaults(server.db, statement);
      const real = found.filter((fault) => fault !== 'SORT' || !isFew.test(shape));
      faults.push(...real.map((fault) => `${name}: ${fault} in ${shape}`));
    }
  }
  expect(faults).toEqual([]);
});

it('every query of the admin API has a test of its query plan', async () => {
  const procedures = Object.entries(
    server.services.admin.router._def.procedures as unknown as Record<string, { _def: { type: string } }>,
  );
  const queries = procedures.filter(([, { _def }]) => _def.type === 'query').map(([name]) => name);
  const asked = new Set(
    Object.keys(adminQueries(server.admin, {} as Known)).map((name) => name.split(' ', 1)[0]),
  );
  expect(queries.length).toBeGreaterThan(20);
  expect(queries.filter((name) => !asked.has(name))).toEqual([]);
});
