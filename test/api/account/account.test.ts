import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventsResponse, WalletResponse } from '../../../contracts/account.ts';
import { type Answer, conform } from '../../contract/conformance.ts';
import { type Harness, minute, startHarness } from '../../contract/harness.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';

const day = 86_400_000;
let harness: Harness;
/** A partner of tests that change nothing. */
let anyPartner: TestPartner;
beforeAll(async () => {
  harness = await startHarness();
  anyPartner = await harness.partner();
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

async function ask(
  path: 'events' | 'wallet',
  authorization: string | undefined,
  query = '',
): Promise<Answer> {
  const headers = authorization === undefined ? {} : { authorization };
  return conform(`GET /api/${path}`, await fetch(`${harness.baseUrl}/api/${path}${query}`, { headers }));
}
const bearer = ({ apiKey }: Pick<TestPartner, 'apiKey'>) => `Bearer ${apiKey}`;

/** Reads one page of the events of an API key. */
async function read(of: Pick<TestPartner, 'apiKey'>, query: Record<string, string> = {}) {
  const { status, body } = await ask('events', bearer(of), `?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return EventsResponse.parse(body);
}

/** Declines consent in a new session, which causes one event. */
async function declineConsent(partner: TestPartner): Promise<void> {
  const { browser, first } = await harness.open(partner);
  await browser.press(first, 'decision=decline');
}

const stored = (filter: object) => harness.server.db.collection('events').countDocuments(filter);

/** Waits until `count` events are published, and advances the clock until they are listed. */
async function waitForEvents(partner: TestPartner, count: number): Promise<void> {
  await expect.poll(() => stored({ keyId: partner.keyId })).toBe(count);
  harness.clock.advance(30_000);
}

describe('GET /api/events', () => {
  it('returns the events of the API key as webhooks send them, oldest first and in pages', async () => {
    const partner = await harness.partner();
    await harness.token(partner);
    for (let sessions = 0; sessions < 3; sessions += 1) {
      harness.clock.advance(1_000);
      await declineConsent(partner);
    }
    await waitForEvents(partner, 5);
    const all = await read(partner);
    expect(all.hasMore).toBe(false);
    const names = all.events.map(({ event }) => event);
    expect(names.toSorted()).toEqual([
      'enrollment.created',
      'verification.session.completed',
      ...Array(3).fill('verification.session.failed'),
    ]);
    expect(names.slice(2)).toEqual(Array(3).fill('verification.session.failed'));
    const bodies = await harness.server.db.collection('events').find({ keyId: partner.keyId }).toArray();
    for (const event of all.events) {
      const sent = bodies.find(({ _id }) => String(_id) === event.event_id);
      expect(JSON.parse(String(sent?.['body']))).toEqual(event);
    }
    const pages: unknown[] = [];
    for (let after: string | undefined; ; ) {
      const page = await read(partner, { limit: '2', ...(after ? { after } : {}) });
      pages.push(...page.events);
      after = page.events.at(-1)?.event_id;
      if (!page.hasMore) break;
      expect(page.events).toHaveLength(2);
    }
    expect(pages).toEqual(all.events);
    const last = all.events.at(-1)?.event_id ?? '';
    expect(await read(partner, { after: last })).toMatchObject({ events: [], hasMore: false });
  });

  it('lists an event from 30 seconds after its time, so that no earlier event can appear after it', async () => {
    const partner = await harness.partner();
    await declineConsent(partner);
    await expect.poll(() => stored({ keyId: partner.keyId })).toBe(1);
    harness.clock.advance(29_999);
    expect((await read(partner)).events).toEqual([]);
    harness.clock.advance(1);
    expect((await read(partner)).events).toHaveLength(1);
  });

  it('returns no event of another key, mode or partner, neither in the list nor by id', async () => {
    const partner = await harness.partner();
    await declineConsent(partner);
    await waitForEvents(partner, 1);
    const [event] = (await read(partner)).events;
    const { partnerId } = partner;
    const second = await harness.admin.keys.create.mutate({ partnerId, mode: 'test' });
    const live = await harness.admin.keys.create.mutate({ partnerId, mode: 'live' });
    for (const other of [second, live, await harness.partner()]) {
      expect((await read(other)).events).toEqual([]);
      const refused = await ask('events', bearer(other), `?after=${event?.event_id}`);
      expect(refused).toMatchObject({ status: 404, body: { success: false, error: 'Event not found' } });
    }
  });

  it('answers 404 if the event that the query parameter `after` names has been deleted', async () => {
    const partner = await harness.partner();
    await declineConsent(partner);
    await waitForEvents(partner, 1);
    const [event] = (await read(partner)).events;
    await harness.server.db.collection('events').deleteMany({ keyId: partner.keyId });
    expect((await ask('events', bearer(partner), `?after=${event?.event_id}`)).status).toBe(404);
  });

  it('returns the events of an erased user with the user_id "erased"', async () => {
    const partner = await harness.partner();
    const verified = await harness.verifyUser(partner, 'new-adult');
    await harness.exchange(partner, verified);
    await waitForEvents(partner, 2);
    const [{ sub = null } = {}] = (await harness.admin.sessions.list.query({ clientId: partner.clientId }))
      .rows;
    const { id } = await harness.admin.users.show.query({ user: sub ?? '' });
    await harness.admin.users.erase.mutate({ userId: id });
    const { events } = await read(partner);
    expect(events.map((event) => 'user_id' in event && event.user_id)).toEqual(['erased', 'erased']);
  });

  it.each([
    ['a malformed event_id as `after`', 'after=evt_x', 'after must be an event_id'],
    ['a text of 5,000 characters as `after`', `after=${'x'.repeat(5_000)}`, 'after must be an event_id'],
    ['the limit 0', 'limit=0', 'limit must be a number from 1 to 200'],
    ['the limit 201', 'limit=201', 'limit must be a number from 1 to 200'],
    ['the limit 1.5', 'limit=1.5', 'limit must be a number from 1 to 200'],
    ['the limit 1e1', 'limit=1e1', 'limit must be a number from 1 to 200'],
    ['the limit 0x10', 'limit=0x10', 'limit must be a number from 1 to 200'],
    ['a limit with a space', 'limit=+5', 'limit must be a number from 1 to 200'],
    ['the limit "ten"', 'limit=ten', 'limit must be a number from 1 to 200'],
    ['two limits', 'limit=1&limit=2', 'limit must be given once'],
  ])('answers 400 to a query with %s', async (_what, query, error) => {
    const answer = await ask('events', bearer(anyPartner), `?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { success: false, error } });
  });
});

describe('GET /api/wallet', () => {
  it('returns the balance, the spend caps and their use for the mode of the API key', async () => {
    const partner = await harness.partner();
    const { partnerId } = partner;
    await harness.token(partner);
    await harness.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 7, perHour: 70 });
    const { body } = await ask('wallet', bearer(partner));
    const { wallet } = WalletResponse.parse(body);
    expect(wallet).toMatchObject({
      isTestMode: true,
      balance: await harness.balance(partner),
      currency: 'USD',
    });
    expect(wallet.limits).toEqual({ perMinute: 7, perHour: 70, usedThisMinute: 1, usedThisHour: 1 });
    harness.clock.advance(2 * day);
    const { wallet: later } = WalletResponse.parse((await ask('wallet', bearer(partner))).body);
    const shown = await harness.admin.wallets.show.query({ partnerId, mode: 'test' });
    expect([later.spentPerDay, later.daysLeft]).toEqual([shown.spentPerDay, shown.daysLeft]);
    expect(later.daysLeft).toBeGreaterThan(0);
    expect(later.limits).toMatchObject({ usedThisMinute: 0, usedThisHour: 0 });
    const live = await createPartner(harness.server, {
      mode: 'live',
      funds: 5_000,
      client: { redirectUris: ['https://shop.example/callback'] },
    });
    const answer = await ask('wallet', bearer(live));
    expect(answer.body).toMatchObject({
      wallet: { isTestMode: false, balance: 5_000, spentPerDay: 0, daysLeft: null },
    });
  });
});

describe.each(['events', 'wallet'] as const)('GET /api/%s', (path) => {
  it('answers 401 without an active API key of an active partner', async () => {
    const missing = 'Missing API key. Use Authorization: Bearer {key}';
    for (const none of [undefined, 'Basic x', 'Bearer'])
      expect(await ask(path, none)).toMatchObject({ status: 401, body: { error: missing } });
    expect((await ask(path, 'Bearer svc_test_x')).status).toBe(401);
    const partner = await harness.partner();
    expect((await ask(path, bearer(partner))).status).toBe(200);
    await harness.admin.partners.suspend.mutate({ partnerId: partner.partnerId });
    await expect.poll(async () => (await ask(path, bearer(partner))).status).toBe(401);
    const other = await harness.partner();
    await harness.admin.keys.revoke.mutate({ keyId: other.keyId });
    expect((await ask(path, bearer(other))).status).toBe(401);
  });

  it('answers 429 to the 61st request of an API key in a minute, while session queries with this key still get 200', async () => {
    const partner = await harness.partner();
    const { sessionId } = await harness.open(partner);
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(path, bearer(partner))));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    const { status, headers, body } = await ask(path, bearer(partner));
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(body).toEqual({ success: false, error: 'Rate limit exceeded' });
    expect((await harness.session(sessionId, bearer(partner))).status).toBe(200);
    harness.clock.advance(minute);
    expect((await ask(path, bearer(partner))).status).toBe(200);
  });
});
