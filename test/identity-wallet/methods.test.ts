import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPartner, redirectUri, type TestPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { newStart, startUrl } from '../journey/pkce.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';

let service: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  service = await startTestServer();
  partner = await createPartner(service, { client: { sources: ['sandbox', 'test-wallet-age'] } });
});
afterAll(() => service.stop());

const offeredIn = (html: string) =>
  [...html.matchAll(/name="method" value="([^"]*)"/g)].map(([, name = '']) => name);
const walletIn = (html: string) =>
  /href="([^"]*\/verify\/test-wallet\?[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';

/** Chooses the test identity wallet in a new session, and opens it. */
async function openWallet() {
  const pages = openPages(service);
  const { page: list, sessionId } = await pages.start(partner, 'age_18_plus');
  expect(offeredIn(list.html)).toEqual(['sandbox', 'test-wallet-age']);
  const page = await pages.open(list.at, { ...list.fields, method: 'test-wallet-age' });
  const wallet = await pages.open(walletIn(page.html));
  return {
    ...{ pages, page, sessionId },
    act: (name: string) =>
      pages.open(`${service.baseUrl}/verify/test-wallet`, { ...wallet.fields, act: name }),
    last: async () => {
      const { timeline } = await service.admin.sessions.show.query({ sessionId });
      return timeline.map(({ event, note }) => (note === null ? event : `${event} ${note}`)).at(-1);
    },
  };
}

it('the list of verification methods still offers an identity wallet in which the user refused', async () => {
  const { act, last } = await openWallet();
  const list = await act('refuse');
  expect(list.html).toContain('You stopped with');
  expect(offeredIn(list.html)).toEqual(['sandbox', 'test-wallet-age']);
  expect(await last()).toBe('method_failed test-wallet-age: abandoned: wallet: access_denied');
});

it('the list of verification methods no longer offers an identity wallet whose proof was refused', async () => {
  const { pages, act, last } = await openWallet();
  const list = await act('expired');
  expect(list.html).toContain('could not be accepted');
  expect(offeredIn(list.html)).toEqual(['sandbox']);
  expect(await last()).toBe('method_failed test-wallet-age: document_rejected: attestation expired');
  const people = await pages.open(list.at, { ...list.fields, method: 'sandbox' });
  const end = await pages.open(people.at, { ...people.fields, person: 'adult' });
  expect(end.returned).toMatchObject({ code: expect.stringMatching(/^svc_code_/) as string });
});

it('an answer to an earlier wallet request changes nothing after the user left the wallet, even if it was chosen again', async () => {
  const { pages, page, act, last } = await openWallet();
  const list = await pages.open(page.at, { ...page.fields, decision: 'other-method' });
  expect(offeredIn(list.html)).toHaveLength(2);
  await act('present');
  expect(await last()).toBe('method_left test-wallet-age');
  const again = await pages.open(list.at);
  await pages.open(again.at, { ...again.fields, method: 'test-wallet-age' });
  await act('present');
  expect(await last()).toBe('method_chosen test-wallet-age');
});

it('a Digital Credentials API answer changes nothing after the user left the wallet', async () => {
  const { pages, page, last } = await openWallet();
  const { csrf = '', token = '' } = page.fields;
  await pages.open(page.at, { ...page.fields, decision: 'other-method' });
  await pages.open(`${page.at}/wallet`, { csrf, token, data: '{"vp_token":{}}' });
  expect(await last()).toBe('method_left test-wallet-age');
});

it('the consent page and the wallet page say which claims the wallet can prove, and name the personal number only for a PID', async () => {
  const claims = ['age_18_plus', 'country'] as const;
  const { clientId } = await createPartner(service, {
    client: { sources: ['test-wallet-age'], claims: [...claims] },
  });
  const of = async (source: string) => {
    await service.admin.clients.update.mutate({ clientId, sources: [source] });
    const pages = openPages(service);
    const query = { baseUrl: service.baseUrl, clientId, redirectUri };
    const { codeChallenge, state } = newStart();
    const consent = await pages.open(startUrl({ ...query, scope: claims.join(' '), state, codeChallenge }));
    const wallet = await pages.open(consent.at, { ...consent.fields, decision: 'accept' });
    return { consent: consent.html, wallet: wallet.html };
  };
  const age = await of('test-wallet-age');
  expect(age.consent).toMatch(/Your country\s*<span>\(if known from before\)/);
  expect(age.consent).toContain('This verification cannot show it');
  expect(age.consent).not.toContain('personal number');
  expect(age.wallet).not.toContain('Your country');
  const person = await of('test-wallet-pid');
  expect(person.consent).not.toContain('if known from before');
  expect(person.consent).toContain('personal number');
  expect(person.wallet).toContain('Your country');
  expect(person.wallet).toContain('only to recognise you, not kept, not shared');
});

it('the test identity wallet shows only the elements that it will present, without alternatives', async () => {
  const { clientId } = await createPartner(service, {
    client: { sources: ['test-wallet-pid'], claims: ['age_18_plus', 'country'] },
  });
  const pages = openPages(service);
  const { codeChallenge, state } = newStart();
  const about = { baseUrl: service.baseUrl, clientId, redirectUri, scope: 'age_18_plus country' };
  const consent = await pages.open(startUrl({ ...about, state, codeChallenge }));
  const page = await pages.open(consent.at, { ...consent.fields, decision: 'accept' });
  const { html } = await pages.open(walletIn(page.html));
  expect(html).toContain('age_over_18');
  expect(html).toContain('nationality');
  expect(html).not.toContain('birth_date');
  expect(html).not.toContain('issuing_country');
});
