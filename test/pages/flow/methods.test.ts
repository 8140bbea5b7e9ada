import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHostileProvider } from '../../sessions/sources/hostile-provider.ts';
import { type Answer, openBrowser } from '../browser.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';

let provider: Awaited<ReturnType<typeof startHostileProvider>>;
let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  provider = await startHostileProvider();
  const bank = { label: 'The bank', issuer: provider.issuer, clientId: 'svc' };
  const sources = [
    { ...bank, name: 'bank', claims: { age_18_plus: { claim: 'adult' } } },
    { ...bank, name: 'country-only', label: 'The registry', claims: { country: { claim: 'country' } } },
    { ...bank, name: 'gone', label: 'The old bank', issuer: 'http://localhost:1' },
    { ...bank, name: 'live-only', modes: ['live'] },
  ];
  hosted = await startHosted({ env: { SVC_OIDC_SOURCES: JSON.stringify(sources) } });
  const names = ['bank', 'sandbox', 'test-wallet-age', 'country-only', 'live-only'];
  ({ clientId } = await onboard(hosted, { sources: names.filter((name) => name !== 'live-only') }));
});
afterAll(async () => {
  await hosted.close();
  await provider.close();
});

const sessionOf = async (id: string) => (await hosted.stores.sessions.find(id)) ?? expect.fail('no session');
const timelineOf = async (id: string) =>
  (await sessionOf(id)).timeline.map(({ event, note }) => (note === undefined ? event : `${event} ${note}`));
/** Returns the methods on a list page, in order. */
const offeredIn = (body: string) =>
  [...body.matchAll(/name="method" value="([^"]*)"/g)].map(([, name = '']) => name);
const linkIn = (body: string) =>
  /<a class="button primary" href="([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
const throughProvider = async (link: string) =>
  (await fetch(link, { redirect: 'manual' })).headers.get('location') ?? expect.fail('no redirect');

/** Returns the address to which a page or a redirect sends the browser. */
const redirectOf = ({ location, headers }: Answer) =>
  location || (/^0; url=(.*)$/.exec(String(headers['refresh'] ?? ''))?.[1] ?? '');

/** Starts a session in a new browser, and consents. */
async function reachList(client = clientId, scope = 'age_18_plus') {
  const browser = openBrowser(hosted);
  await browser.start(client, { scope });
  const sessionId = browser.sessionId();
  await browser.press({ decision: 'accept' });
  return { browser, sessionId };
}

describe('the list of methods', () => {
  it("contains in the client's order only methods that can prove a requested claim", async () => {
    const { browser } = await reachList();
    expect(browser.page.body).toContain('How do you want to prove it?');
    expect(offeredIn(browser.page.body)).toEqual(['bank', 'sandbox', 'test-wallet-age']);
  });

  it('is skipped if only one method remains', async () => {
    const { clientId: only } = await onboard(hosted, { sources: ['country-only', 'bank'] });
    const { browser, sessionId } = await reachList(only);
    expect(offeredIn(browser.page.body)).toEqual([]);
    expect(linkIn(browser.page.body)).toContain(provider.issuer);
    expect(browser.page.body).not.toContain('Use another method');
    expect(await sessionOf(sessionId)).toMatchObject({ source: 'bank' });
    expect((await sessionOf(sessionId)).methods).toBeUndefined();
  });

  it('shows a provider that could not be reached last, and marks it as "Not available now"', async () => {
    const { clientId: two } = await onboard(hosted, { sources: ['gone', 'sandbox'] });
    const { browser, sessionId } = await reachList(two);
    expect(offeredIn(browser.page.body)).toEqual(['gone', 'sandbox']);
    await browser.press({ method: 'gone' });
    expect(browser.page.body).toContain('The old bank gave no usable answer');
    expect(offeredIn(browser.page.body)).toEqual(['sandbox', 'gone']);
    expect(browser.page.body).toContain('Not available now');
    await browser.press({ method: 'sandbox' });
    await browser.press({ person: 'adult' });
    expect(redirectOf(browser.page)).toContain('code=');
    expect(await timelineOf(sessionId)).toEqual([
      'started',
      'consented',
      'method_chosen gone',
      'method_chosen sandbox',
      'authenticated sandbox',
      'verified by the source',
      'completed',
    ]);
  });

  it('answers 400 to a method that it does not contain, and to a form of another page', async () => {
    const { browser, sessionId } = await reachList();
    for (const fields of [{ method: 'country-only' }, { method: '' }, { person: 'adult' }, {}]) {
      const form = browser.form();
      const answer = await browser.request(form.action, { ...form.fields, ...fields } as never);
      expect(answer.status).toBe(400);
      await browser.open(`/verify/session/${sessionId}`);
    }
    expect(await timelineOf(sessionId)).toEqual(['started', 'consented']);
  });

  it('is not shown for a client with one source, and a form that chooses another source gets 400', async () => {
    const { clientId: one } = await onboard(hosted);
    const { browser, sessionId } = await reachList(one);
    expect(browser.page.body).toContain('Choose who to be');
    const form = browser.form();
    for (const fields of [{ method: 'bank' }, { decision: 'other-method' }])
      expect((await browser.request(form.action, { ...form.fields, ...fields } as never)).status).toBe(400);
    expect(await timelineOf(sessionId)).toEqual(['started', 'consented']);
  });
});

describe('a verification method', () => {
  it("disappears from the list after it has rejected the user's document, and the session stays pending", async () => {
    const { browser, sessionId } = await reachList();
    await browser.press({ method: 'sandbox' });
    await browser.press({ person: 'rejected' });
    expect(browser.page.body).toContain('Test people: what was presented could not be accepted.');
    expect(offeredIn(browser.page.body)).toEqual(['bank', 'test-wallet-age']);
    expect((await timelineOf(sessionId)).at(-1)).toBe('method_failed sandbox: document_rejected');
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'pending' });
    expect(await hosted.events({ sessionId })).toEqual([]);
  });

  it('fails the session with source_error if it was the last one and its source fails', async () => {
    const { clientId: two } = await onboard(hosted, { sources: ['sandbox', 'test-wallet-age'] });
    const { browser, sessionId } = await reachList(two);
    const { expiresAt, methods } = await sessionOf(sessionId);
    expect(expiresAt).toBeInstanceOf(Date);
    // The wallet has already rejected the user.
    await hosted.db.collection<{ _id: string }>('sessions').updateOne(
      { _id: sessionId },
      {
        $set: {
          methods: { ...methods, failed: [{ source: 'test-wallet-age', reason: 'document_rejected' }] },
        },
      },
    );
    await browser.open(`/verify/session/${sessionId}`);
    expect(offeredIn(browser.page.body)).toEqual(['sandbox']);
    await browser.press({ method: 'sandbox' });
    await browser.press({ person: 'source-down' });
    expect(redirectOf(browser.page)).toContain('source_error');
    expect(await sessionOf(sessionId)).toMatchObject({ failure: { reason: 'source_error' } });
  });

  it('can be chosen again after the user has left it, and late answers of its provider are ignored', async () => {
    const { browser, sessionId } = await reachList();
    await browser.press({ method: 'bank' });
    expect(browser.page.body).toContain('Use another method');
    const late = await throughProvider(linkIn(browser.page.body));
    await browser.press({ decision: 'other-method' });
    expect(offeredIn(browser.page.body)).toEqual(['bank', 'sandbox', 'test-wallet-age']);
    const exchanges = provider.exchanges();
    await browser.open(late);
    expect(offeredIn(browser.page.body)).toHaveLength(3);
    await browser.press({ method: 'bank' });
    await browser.open(late);
    expect(linkIn(browser.page.body)).toContain(provider.issuer);
    await browser.press({ decision: 'other-method' });
    await browser.press({ method: 'sandbox' });
    await browser.open(late);
    expect(provider.exchanges()).toBe(exchanges);
    expect(await timelineOf(sessionId)).toEqual([
      'started',
      'consented',
      'method_chosen bank',
      'method_left bank',
      'method_chosen bank',
      'method_left bank',
      'method_chosen sandbox',
    ]);
    expect(browser.page.body).toContain('Choose who to be');
  });

  it('ignores a form that was opened before the user left the method and chose it again', async () => {
    const { browser, sessionId } = await reachList();
    await browser.press({ method: 'sandbox' });
    const { action, fields } = browser.form();
    await browser.press({ decision: 'other-method' });
    await browser.press({ method: 'sandbox' });
    const timelineBefore = await timelineOf(sessionId);
    await browser.request(action, { ...fields, person: 'adult' });
    expect(await timelineOf(sessionId)).toEqual(timelineBefore);
    await browser.open(`/verify/session/${sessionId}`);
    await browser.press({ person: 'adult' });
    expect(redirectOf(browser.page)).toContain('code=');
  });

  it('cannot be changed after the user has authenticated: later forms add nothing to the timeline', async () => {
    const { browser, sessionId } = await reachList();
    await browser.press({ method: 'sandbox' });
    const { action, fields } = browser.form();
    await browser.press({ person: 'adult' });
    const timelineAtEnd = await timelineOf(sessionId);
    for (const more of [{ decision: 'other-method' }, { method: 'bank' }] as const)
      await browser.request(action, { ...fields, ...more } as never);
    expect(await timelineOf(sessionId)).toEqual(timelineAtEnd);
  });

  it('is chosen once if three tabs choose different methods simultaneously', async () => {
    const { browser, sessionId } = await reachList();
    const { action, fields } = browser.form();
    const answers = await Promise.all(
      ['bank', 'sandbox', 'test-wallet-age'].map((method) => browser.request(action, { ...fields, method })),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    const chosen = (await timelineOf(sessionId)).filter((entry) => entry.startsWith('method_chosen'));
    expect(chosen).toHaveLength(1);
  });

  it('can be changed fewer than 30 times; then the session fails as abandoned', async () => {
    const { browser, sessionId } = await reachList();
    for (let turn = 0; turn < 30 && redirectOf(browser.page) === ''; turn += 1) {
      await browser.press({ method: 'sandbox' });
      await browser.press({ decision: 'other-method' });
    }
    expect(redirectOf(browser.page)).toContain('error=verification_failed');
    const { timeline, failure } = await sessionOf(sessionId);
    expect(failure?.reason).toBe('abandoned');
    expect(timeline.length).toBeLessThan(50);
  });

  it('can be cancelled after it is chosen: the session then fails as abandoned', async () => {
    const { browser, sessionId } = await reachList();
    await browser.press({ method: 'bank' });
    await browser.press({ decision: 'cancel' });
    expect(await sessionOf(sessionId)).toMatchObject({ failure: { reason: 'abandoned' } });
  });
});

it('operators see the outcome of each method in sessions show and sources list', async () => {
  const { browser, sessionId } = await reachList();
  await browser.press({ method: 'sandbox' });
  await browser.press({ person: 'rejected' });
  await browser.press({ method: 'bank' });
  await browser.press({ decision: 'cancel' });
  const { timeline } = await hosted.admin.sessions.show.query({ sessionId });
  expect(timeline.map(({ event }) => event)).toEqual([
    'started',
    'consented',
    'method_chosen',
    'method_failed',
    'method_chosen',
    'failed',
  ]);
  const sources = await hosted.admin.sources.list.query();
  expect(sources.find(({ name }) => name === 'sandbox')?.lastDay?.failed).toBeGreaterThan(0);
  expect(sources.find(({ name }) => name === 'sandbox')?.lastDay?.authenticated).toBeGreaterThan(0);
  expect(sources.find(({ name }) => name === 'bank')?.lastDay?.failed).toBeGreaterThan(0);
});
