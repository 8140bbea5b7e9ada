import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { distinctStatements, isKeyringRead, planFaults, type SentCommand } from '../../harness/statements.ts';
import { within } from '../../harness/time-limits.ts';
import { type SignedInMember, signedIn } from './signed-in.ts';

const clock = manualClock();
const commands: SentCommand[] = [];
/** More deliveries and clients than one call of the admin API returns. */
const many = { deliveries: 600, clients: 500, members: 150 };
let server: TestServer;
let partner: TestPartner;
let owner: SignedInMember;

const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(22, '0')}`;

beforeAll(async () => {
  server = await startTestServer({
    ...{ clock, env: { SVC_PORTAL: 'on' }, replacements: { sweepsByHand: true } },
    onCommand: ({ commandName, command }) => void commands.push({ commandName, command }),
  });
  partner = await createPartner(server);
  const { keyId, clientId, partnerId } = partner;
  await server.admin.webhooks.set.mutate({ keyId, url: 'http://localhost:9/hooks' });
  await server.admin.webhooks.test.mutate({ keyId });
  owner = await signedIn(server, partnerId, 'owner');
  const copies = async (collection: string, prefix: string, count: number, filter: object) => {
    const records = server.db.collection<{ _id: string }>(collection);
    const one = await records.findOne(filter);
    const now = clock.now();
    const rows = Array.from({ length: count }, (_, n) => ({
      ...one,
      _id: id(prefix, n),
      createdAt: new Date(now - n * 1_000),
      ...(collection === 'deliveries' ? { status: 'delivered', nextAttemptAt: null, lease: null } : {}),
      ...(collection === 'members' ? { passkey: undefined, email: `m${n}@shop.example` } : {}),
    }));
    // The connection of the tests has a timeout of only seconds.
    for (let from = 0; from < rows.length; from += 500)
      await records.insertMany(rows.slice(from, from + 500), { ignoreUndefined: true });
  };
  await copies('deliveries', 'dlv', many.deliveries, { partnerId });
  await copies('clients', 'cli', many.clients, { _id: clientId });
  await copies('members', 'mem', many.members, { _id: owner.id });
}, within(60_000));
afterAll(() => server.stop());

/** Follows a list's links to the next page, and returns the ids and the number of pages. */
async function walk(path: string, pattern: RegExp): Promise<{ ids: Set<string>; pages: number }> {
  const ids = new Set<string>();
  let pages = 0;
  for (let next: string | undefined = path; next !== undefined; pages += 1) {
    if (pages % 100 === 99) clock.advance(60_000);
    const { html, status } = await owner.browser.open(next);
    expect([next, status]).toEqual([next, 200]);
    const [table = ''] = /<table>.*?<\/table>/s.exec(html) ?? [];
    for (const [found] of table.matchAll(pattern)) ids.add(found);
    next = /<a href="\/portal([^"]+)" rel="next">/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }
  return { ids, pages };
}

/** Matches statements with small results, which may be sorted in memory: jobs, and records of one user, session or event. */
const isFew = /^find jobs|"(eventId|sub|userId|sessionId|requestId)":/;

describe('a list of the portal', () => {
  it(
    'has every delivery on one of its pages',
    async () => {
      const { ids, pages } = await walk('/deliveries?status=delivered', /dlv_\w{22}/g);
      expect([ids.size, pages]).toEqual([many.deliveries, many.deliveries / 50 + 1]);
    },
    within(120_000),
  );

  it(
    'has every client and every member on one of its pages',
    async () => {
      clock.advance(60_000);
      expect((await walk('/clients', /cli_\w{22}/g)).ids.size).toBe(many.clients + 1);
      expect((await walk('/members', /mem_\w{22}/g)).ids.size).toBe(many.members + 1);
    },
    within(60_000),
  );
});

it('the database queries behind portal pages scan no whole collection, and sort few records in memory', async () => {
  clock.advance(60_000);
  commands.length = 0;
  for (const path of [
    ...[
      ...['/', '/warnings', '/clients', '/clients?status=active', '/keys', '/webhooks', '/deliveries'],
      '/requests',
    ],
    ...[
      '/deliveries?status=failed',
      `/deliveries?key=${partner.keyId}`,
      '/sessions',
      '/users',
      '/users?sub=x',
    ],
    ...['/wallet', '/members', '/log', '/news', `/clients/${partner.clientId}`, `/keys/${partner.keyId}`],
    ...[`/webhooks/${partner.keyId}`, `/members/${owner.id}`, `/clients?key=${partner.keyId}`],
  ])
    expect([path, (await owner.browser.open(path)).status]).toEqual([path, 200]);
  const own = commands.filter(
    ({ command }) => command['$db'] === server.db.databaseName && !isKeyringRead(command),
  );
  expect(own.length).toBeGreaterThan(40);
  const faults: string[] = [];
  for (const [shape, statement] of distinctStatements(own)) {
    const found = await planFaults(server.db, statement);
    const real = found.filter((fault) => fault !== 'SORT' || !isFew.test(shape));
    faults.push(...real.map((fault) => `${fault} in ${shape}`));
  }
  expect(faults).toEqual([]);
});
