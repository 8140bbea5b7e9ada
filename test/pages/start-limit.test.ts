import { Collection } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { indexes } from '../../server/operations/schema/collections.ts';
import { sweepExpired } from '../../server/platform/database/sweep.ts';
import { networkOf } from '../../server/platform/http/limits/client-network.ts';
import { openBrowser } from './browser.ts';
import { type Hosted, onboard, startHosted, startQuery } from './hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted({ env: { SVC_STARTS_PER_MINUTE: '3', SVC_TRUST_PROXY: 'true' } });
});
afterAll(() => hosted.close());

function start(clientId: string, address = '192.0.2.1', accept = '*/*') {
  const headers = { accept, 'x-forwarded-for': address };
  return hosted.send(`/verify/start?${startQuery(clientId)}`, { headers });
}

async function statuses(clientId: string, addresses: readonly string[]): Promise<number[]> {
  const answers = [];
  for (const address of addresses) answers.push((await start(clientId, address)).status);
  return answers;
}

const sessions = () => hosted.db.collection('sessions');

describe('the limit of starts per minute', () => {
  it('answers 429 with Retry-After, as JSON or as a page, and stores no session', async () => {
    const { clientId } = await onboard(hosted);
    expect(await statuses(clientId, Array(3).fill('192.0.2.1'))).toEqual([302, 302, 302]);

    const refused = await start(clientId);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(JSON.parse(refused.body)).toEqual({
      success: false,
      error: 'Too many verifications were started from this address',
    });
    const page = await start(clientId, '192.0.2.1', 'text/html');
    expect([page.status, page.headers['content-type']]).toEqual([429, 'text/html; charset=utf-8']);
    expect(page.headers['retry-after']).toBeDefined();
    expect(page.body).toContain('Too many verifications at once');
    expect(await sessions().countDocuments({ clientId })).toBe(3);
  });

  it('counts starts of each client and address separately, and answers 429 to the fourth one if it is 3', async () => {
    const { clientId } = await onboard(hosted);
    const another = await onboard(hosted);
    expect(await statuses(clientId, Array(4).fill('192.0.2.7'))).toEqual([302, 302, 302, 429]);
    expect(await statuses(clientId, ['192.0.2.8'])).toEqual([302]);
    expect(await statuses(another.clientId, ['192.0.2.7'])).toEqual([302]);
    hosted.clock.advance(60_000);
    expect(await statuses(clientId, ['192.0.2.7'])).toEqual([302]);
  });

  it('counts all addresses of one IPv6 /64 together', async () => {
    const { clientId } = await onboard(hosted);
    const one = ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:1', '2001:db8:0:0:9::1'];
    expect(await statuses(clientId, one)).toEqual([302, 302, 302, 429]);
    expect(await statuses(clientId, ['2001:db8:0:1::1'])).toEqual([302]);
  });

  it('does not count starts that are answered with 400', async () => {
    const { clientId } = await onboard(hosted);
    const url = `/verify/start?${startQuery(clientId, { redirect_uri: 'https://elsewhere.example/' })}`;
    for (let n = 0; n < 5; n += 1) expect((await hosted.send(url)).status).toBe(400);
  });
});

it('100 simultaneous starts are stored in fewer than 50 writes', async () => {
  const { clientId } = await onboard(hosted);
  const addresses = Array.from({ length: 100 }, (_, n) => `192.0.2.${n + 1}`);
  const spies = [vi.spyOn(Collection.prototype, 'insertOne'), vi.spyOn(Collection.prototype, 'insertMany')];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const answers = await Promise.all(addresses.map((address) => start(clientId, address)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
  expect(await sessions().countDocuments({ clientId })).toBe(100);
  const inserted = spies.flatMap(({ mock }) => mock.contexts as Collection[]);
  const writes = inserted.filter(({ collectionName }) => collectionName === 'sessions').length;
  expect(writes).toBeGreaterThan(0);
  expect(writes).toBeLessThan(50);
});

describe('a user whom the sandbox creates', () => {
  async function verify(person: string, clientId: string): Promise<void> {
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    await browser.press({ decision: 'accept' });
    await browser.press({ person });
  }
  const count = async (name: string) => hosted.db.collection(name).countDocuments();
  /** Counts documents. A user has two in `users`, one of them for the identity. */
  const people = async () => [await count('users'), await count('enrollments')];

  it('is deleted with the enrollment after a day, while other users stay', async () => {
    const { clientId } = await onboard(hosted);
    await verify('adult', clientId);
    const [users = 0, enrollments = 0] = await people();
    await verify('new-adult', clientId);
    await verify('new-adult', clientId);
    expect(await people()).toEqual([users + 4, enrollments + 2]);

    const purge = (after: number) => sweepExpired(hosted.db, indexes, new Date(hosted.clock.now() + after));
    await purge(86_399_000);
    expect(await people()).toEqual([users + 4, enrollments + 2]);
    await purge(86_401_000);
    expect(await people()).toEqual([users, enrollments]);
  });
});

describe('the network by which starts of a client address are grouped', () => {
  const prefixes = { ipv4: 24, ipv6: 48 };
  it.each([
    ['192.0.2.0/24', 'the IPv4 address 192.0.2.77', '192.0.2.77'],
    ['192.0.2.0/24', 'the mapped IPv4 address ::ffff:192.0.2.77', '::ffff:192.0.2.77'],
    ['2001:db8:1::/48', 'the IPv6 address 2001:db8:1:2::3', '2001:db8:1:2::3'],
    ['fe80::/48', 'the address fe80::1%eth0, with a zone', 'fe80::1%eth0'],
    ['unknown', 'a text that is no address', 'nonsense'],
    ['unknown', 'an empty text', ''],
  ])('is %s for %s', (network, _, address) => {
    expect(networkOf(address, prefixes)).toBe(network);
  });
});
