import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { addFullPages } from '../../billing/wallets/long-wallet.ts';
import { type SignedInMember, signedIn } from '../../console/portal/signed-in.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { encodeJpeg } from '../../partners/jpeg-files.ts';
import { acceptedInput, type KnownValues } from './largest-input.ts';
import { shareOfBound } from './longest-stretch.ts';

/** The most entries of a signed statement, in full pages with 128 entries. The funding is one more. */
const fullPages = 78;
const copied = 1_000;

let server: TestServer;
let partner: TestPartner;
let owner: SignedInMember;
let known: KnownValues;

async function insertCopies(collection: string, prefix: string): Promise<string> {
  const records = server.db.collection<{ _id: string }>(collection);
  const { partnerId } = partner;
  await vi.waitFor(async () => expect(await records.findOne({ partnerId })).not.toBeNull());
  const { _id, ...one } = (await records.findOne({ partnerId })) ?? { _id: '' };
  const rows = Array.from({ length: copied }, (_, n) => ({
    ...{ ...one, _id: `${prefix}_${String(n).padStart(22, '0')}` },
    ...(collection === 'deliveries' ? { status: 'failed', nextAttemptAt: null, lease: null } : {}),
  }));
  for (let from = 0; from < copied; from += 250) await records.insertMany(rows.slice(from, from + 250));
  return _id;
}

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' }, replacements: { sweepsByHand: true } });
  partner = await createPartner(server);
  const { partnerId, keyId, clientId } = partner;
  owner = await signedIn(server, partnerId, 'owner');
  await server.admin.webhooks.set.mutate({ keyId, url: 'http://localhost:9/hooks' });
  await exchangeCode(server, partner, await completeSession(server, partner));
  await addFullPages(server.db, `${partnerId}:test`, { pages: fullPages, at: Date.now() });
  const [session, event, delivery] = await Promise.all([
    insertCopies('sessions', 'ses'),
    insertCopies('events', 'evt'),
    insertCopies('deliveries', 'dlv'),
    insertCopies('requestLog', 'req'),
    insertCopies('clients', 'cli'),
  ]);
  const deliveries = Array.from({ length: 500 }, (_, n) => `dlv_${String(n).padStart(22, '0')}`);
  const pixels = { width: 512, height: 512, data: new Uint8Array(512 * 512 * 4).fill(120) };
  const { entries } = await server.admin.wallets.statement.query({ partnerId, limit: 2 });
  const [enrollment] = await server.admin.enrollments.list.query({ partnerId });
  const since = '2020-01-01T00:00:00Z';
  const until = '2100-01-01T00:00:00Z';
  known = {
    ...{ partnerId, keyId, clientId, memberId: owner.id, mode: 'test', limit: 1_000, reason: 'a reason' },
    ...{ sessionId: session, eventId: event, deliveryId: delivery, deliveryIds: deliveries },
    ...{ enrollmentId: enrollment?.id, entryId: entries[1]?.id, sub: enrollment?.sub, from: since, since },
    ...{ to: until, until, body: 'x"'.repeat(32_000), filter: { partnerId, keyId, since } },
    image: (await encodeJpeg(pixels)).toString('base64'),
    // With these, a list would be empty.
    ...{ after: undefined, untilSeq: undefined, afterSeq: undefined, status: undefined },
  };
}, within(120_000));
afterAll(() => server.stop());

interface Call {
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}
let lastStatus = 0;
async function send({ url, method = 'GET', headers = {}, body }: Call): Promise<void> {
  const answer = await request(url, { method, headers, body: body ?? null });
  await answer.body.dump({ limit: 64_000_000 });
  lastStatus = answer.statusCode;
}

/** Returns the calls that hold the event loop too long, with the share of the bound. */
async function tooLong(calls: readonly [name: string, call: Call][]): Promise<string[]> {
  const found: string[] = [];
  for (const [name, call] of calls) {
    const share = await shareOfBound(() => send(call));
    if (share >= 1) found.push(`${name}: ${share.toFixed(1)} of the bound, status ${lastStatus}`);
  }
  return found;
}

interface Procedure {
  _def: { type: 'query' | 'mutation'; inputs: z.ZodType[] };
}

describe('the event loop', () => {
  it(
    'is held at most 50 ms by each procedure with its largest input',
    async () => {
      const procedures = server.services.admin.router._def.procedures as unknown as Record<string, Procedure>;
      const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
      // Those that end something are last, so that the others find all records.
      const order = Object.entries(procedures).sort(([, one], [, two]) =>
        two._def.type.localeCompare(one._def.type),
      );
      let accepted = 0;
      const found: string[] = [];
      for (const [name, { _def }] of order) {
        const [schema] = _def.inputs;
        const input = JSON.stringify(schema ? acceptedInput(schema, known) : {});
        const url = `${server.adminUrl}/trpc/${name}`;
        const call: Call =
          _def.type === 'query'
            ? { url: `${url}?input=${encodeURIComponent(input).slice(0, 15_000)}`, headers }
            : { url, method: 'POST', headers, body: input };
        found.push(...(await tooLong([[name, call]])));
        if (lastStatus === 200) accepted += 1;
      }
      expect(found).toEqual([]);
      expect(accepted).toBeGreaterThan(85);
    },
    within(300_000),
  );

  it(
    'is held at most 50 ms by each page of the portal, and by each file of the documentation',
    async () => {
      const headers = { cookie: owner.browser.cookie(), accept: 'text/html', 'accept-language': 'ar' };
      const { partnerId: _partner, ...ids } = known;
      const portal = [
        ...['', 'warnings', 'news', 'users', 'log', 'clients', 'keys', 'webhooks', 'deliveries', 'requests'],
        ...['sessions', 'members', 'devices', 'wallet?mode=test', 'wallet/statement.csv?mode=test'],
        'wallet/statement.jws?mode=test',
        ...[`clients/${ids['clientId']}`, `webhooks/${ids['keyId']}`, `sessions/${ids['sessionId']}`],
        ...[`deliveries/${ids['deliveryId']}`, `deliveries?eventId=${'x'.repeat(12_000)}`],
      ].map((path): [string, Call] => [path, { url: `${server.publicUrl}/portal/${path}`, headers }]);
      const site = [
        ...['docs', 'docs/search.json', 'docs/cli', 'docs/errors', 'docs/api', 'openapi.json', 'status'],
      ];
      const files = site.map((path): [string, Call] => [path, { url: `${server.publicUrl}/${path}` }]);
      expect(await tooLong([...portal, ...files])).toEqual([]);
    },
    within(120_000),
  );

  it(
    'is held at most 50 ms by each endpoint with the largest body, header or URL',
    async () => {
      const deep = `${'{"a":['.repeat(15)}${'1,'.repeat(900)}1${']}'.repeat(15)}`;
      const wide = JSON.stringify(
        Object.fromEntries(Array.from({ length: 1_990 }, (_, n) => [`m${n}`, 'x'.repeat(20)])),
      );
      const long = JSON.stringify({ code: '\\u0061"'.repeat(7_000) });
      const form = Array.from({ length: 32 }, (_, n) => `f${n}=${'%61'.repeat(600)}`).join('&');
      const paths = [
        ...['oauth/token', 'oauth/revoke', 'checkbox/resolve', 'integrations/storefront/verify/exchange'],
      ];
      const calls = paths.flatMap((path) =>
        Object.entries({ deep, wide, long, form }).map(([kind, body]): [string, Call] => [
          `${path} ${kind}`,
          {
            ...{ url: `${server.publicUrl}/api/${path}`, method: 'POST', body },
            headers: {
              'content-type': kind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
              ...{ authorization: `Bearer ${partner.apiKey}`, 'idempotency-key': 'x'.repeat(200) },
            },
          },
        ]),
      );
      const readers = [
        ...['api/oauth/userinfo', 'api/events', 'verify/start', 'verify/session/ses_1', 'portal/sign-in'],
        ...['docs', 'verify/p/', 'nowhere/'],
      ];
      const names = ['cookie', 'authorization', 'accept', 'accept-language', 'origin', 'user-agent'];
      // Texts whose repetition is expensive for patterns and splitting.
      const units = ['a=b;', 'Version/1 ', 'Bearer ', ', '];
      const heads = readers.flatMap((path, at) =>
        [...names, 'x-forwarded-for'].map((name, index): [string, Call] => {
          const unit = units[(at + index) % units.length] ?? '';
          const header = `x${unit.repeat(14_800 / unit.length)}x`;
          return [
            `${path} ${name} ${unit}`,
            { url: `${server.publicUrl}/${path}`, headers: { [name]: header } },
          ];
        }),
      );
      const query = new URLSearchParams({ scope: 'a '.repeat(3_000), state: 'x'.repeat(4_000) });
      const urls = [
        `verify/start?${query}`,
        `verify/p/${'a&'.repeat(7_000)}`,
        `nowhere/${'/p'.repeat(7_000)}`,
      ];
      const longUrls = urls.map((path): [string, Call] => [
        path.slice(0, 12),
        { url: `${server.publicUrl}/${path}` },
      ]);
      expect(await tooLong([...calls, ...heads, ...longUrls])).toEqual([]);
    },
    within(120_000),
  );
});
