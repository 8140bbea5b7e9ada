import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadKeyring } from '../../../server/platform/keys/keyring.ts';
import { createSealing } from '../../../server/platform/keys/sealing.ts';
import { createAuthorizationRequests } from '../../../server/sessions/sources/authorization-request.ts';
import { startHostileProvider } from '../../sessions/sources/hostile-provider.ts';
import { type Answer, openBrowser } from '../browser.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';

let provider: Awaited<ReturnType<typeof startHostileProvider>>;
let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  provider = await startHostileProvider();
  const source = { name: 'idp', label: 'The bank', issuer: provider.issuer, clientId: 'svc' };
  hosted = await startHosted({ env: { SVC_OIDC_SOURCES: JSON.stringify([source]) } });
  ({ clientId } = await onboard(hosted, { sources: ['idp'] }));
});
afterAll(async () => {
  await hosted.close();
  await provider.close();
});

const events = async (id: string) =>
  (await hosted.stores.sessions.find(id))?.timeline.map(({ event }) => event) ?? expect.fail('no session');
/** Returns the page's link to the provider. */
const linkOf = ({ body }: Answer) =>
  /<a class="button primary" href="([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
/** Follows the link to the provider. @returns the callback address with a code, to which the provider redirects */
const throughProvider = async (link: string) =>
  (await fetch(link, { redirect: 'manual' })).headers.get('location') ?? expect.fail('no redirect');

/** Starts a hand-off. @returns the computer, and the link to the provider from its page before the hand-off */
async function offerHandoff() {
  const computer = openBrowser(hosted);
  await computer.start(clientId);
  const sessionId = computer.sessionId();
  const linkBefore = linkOf(await computer.press({ decision: 'accept' }));
  const { body } = await computer.press({ decision: 'phone' });
  return { computer, sessionId, linkBefore, body };
}

/** Starts a hand-off, and enters its code on a phone. */
async function claimHandoff() {
  const { computer, sessionId, linkBefore, body } = await offerHandoff();
  const phone = openBrowser(hosted);
  await phone.open(/https:\/\/verify\.example\/verify\/p\/[0-9a-z]+/.exec(body)?.[0] ?? '');
  await phone.press({ code: /<p class="code"[^>]*>([\d ]+)</.exec(body)?.[1] ?? '' });
  expect((await events(sessionId)).at(-1)).toBe('handoff_claimed');
  return { computer, phone, sessionId, linkBefore };
}

/** Returns the link that this service would make for the computer's present cookie. */
async function ownLink(sessionId: string, secret: string, like: string): Promise<string> {
  const keyring = await loadKeyring(hosted.db, createSealing([new Uint8Array(32).fill(7)]));
  const request = createAuthorizationRequests(keyring.id).begin({ sessionId, device: 'computer', secret });
  const link = new URL(like);
  link.searchParams.set('state', request.state);
  link.searchParams.set('nonce', request.nonce);
  return link.href;
}

it('a form that chooses a sandbox user gets 400 if users verify at a provider, and adds nothing to the timeline', async () => {
  const computer = openBrowser(hosted);
  await computer.start(clientId);
  await computer.press({ decision: 'accept' });
  expect((await computer.press({ person: 'adult' })).status).toBe(400);
  expect((await events(computer.sessionId())).at(-1)).toBe('consented');
});

it('a computer that returns from the provider during a hand-off sees the hand-off page', async () => {
  const { computer, sessionId, linkBefore, body } = await offerHandoff();
  const back = await computer.open(await throughProvider(linkBefore));
  expect([back.status, back.body.includes(/<p class="code"[^>]*>[\d ]+</.exec(body)?.[0] ?? '?')]).toEqual([
    200,
    true,
  ]);
  expect((await events(sessionId)).at(-1)).toBe('handoff_offered');
});

it('a computer that returns from the provider after a phone claimed the hand-off sees the waiting page', async () => {
  const { computer, phone, sessionId, linkBefore } = await claimHandoff();
  const exchanges = provider.exchanges();
  const back = await computer.open(await throughProvider(linkBefore));
  expect(back.body).toContain('Now continue on your phone');
  expect([provider.exchanges(), (await events(sessionId)).at(-1)]).toEqual([exchanges, 'handoff_claimed']);
  expect((await phone.open(await throughProvider(linkOf(phone.page)))).body).toContain(
    'Is this your computer?',
  );
});

it("a provider's answer for the computer is ignored after a phone claimed the hand-off", async () => {
  const { computer, sessionId, linkBefore } = await claimHandoff();
  const { value } = computer.jar.get(`svc_${sessionId}`) ?? expect.fail('no cookie');
  const exchanges = provider.exchanges();
  const back = await computer.open(await throughProvider(await ownLink(sessionId, value, linkBefore)));
  expect(back.body).toContain('Now continue on your phone');
  expect([provider.exchanges(), (await events(sessionId)).at(-1)]).toEqual([exchanges, 'handoff_claimed']);
});
