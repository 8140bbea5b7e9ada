import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIdentityWalletSources } from '../../contracts/identity-wallet-sources.ts';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';
import { faultsInWords } from './faults.ts';

let service: TestServer;
const partners = new Map<string, TestPartner>();
const claims = ['age_18_plus', 'identity_verified', 'country'] as const;

beforeAll(async () => {
  service = await startTestServer();
  for (const { name } of testIdentityWalletSources) {
    partners.set(name, await createPartner(service, { client: { sources: [name] } }));
  }
});
afterAll(() => service.stop());

/** Opens the partner's link, the page that asks for the wallet, and the page of the test identity wallet. */
async function ask(source: string, scope: string = claims.join(' ')) {
  const partner = partners.get(source);
  if (!partner) throw new Error(source);
  const pages = openPages(service);
  const { page, sessionId, codeVerifier } = await pages.start(partner, scope);
  const link =
    /href="([^"]*\/verify\/test-wallet\?[^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const wallet = await pages.open(link);
  const act = (name: string, more: Record<string, string> = {}) =>
    pages.open(`${service.baseUrl}/verify/test-wallet`, { ...wallet.fields, act: name, ...more });
  const show = () => service.admin.sessions.show.query({ sessionId });
  return { partner, pages, page, wallet, act, show, sessionId, codeVerifier };
}

/** Faults with the same reason in all sources: in words, the reason, and the name of the form's button. */
const faults: [fault: string, why: string, name: string][] = [
  [faultsInWords.expired, 'attestation expired', 'expired'],
  [faultsInWords['not-yet-valid'], 'attestation not yet valid', 'not-yet-valid'],
  [faultsInWords['unknown-issuer'], 'unknown issuer', 'unknown-issuer'],
  [faultsInWords.revoked, 'attestation revoked', 'revoked'],
  [faultsInWords['too-much'], 'more than was asked for', 'too-much'],
];

describe.each(testIdentityWalletSources.map(({ name }) => name))(
  'a session with the identity wallet %s',
  (source) => {
    it('ends with a code in the same browser', async () => {
      const { wallet, act, show } = await ask(source);
      expect(wallet.status).toBe(200);
      const end = await act('present');
      expect(end.returned).toMatchObject({ code: expect.stringMatching(/^svc_code_/) as string });
      const { status, timeline } = await show();
      expect(status).toBe('complete');
      expect(timeline.map(({ event }) => event)).toEqual([
        ...['started', 'consented', 'returned', 'authenticated', 'verified', 'completed'],
      ]);
    });

    it('shows a new request if the user refuses in the wallet, and its answer yields a code', async () => {
      const first = await ask(source);
      const page = await first.act('refuse');
      expect(page.returned).toBeUndefined();
      expect(page.html).toContain('You said no in your identity wallet.');
      // The page waits for no answer, so it does not reload while the user decides.
      expect(page.refreshAfter).toBeGreaterThan(10);
      const link =
        /href="([^"]*\/verify\/test-wallet\?[^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const { fields } = await first.pages.open(link);
      const end = await first.pages.open(`${service.baseUrl}/verify/test-wallet`, {
        ...fields,
        act: 'present',
      });
      expect(end.returned).toHaveProperty('code');
    });

    it('answers 400 to a second answer of the wallet to the same request', async () => {
      const { act } = await ask(source);
      await act('present');
      const again = await act('present');
      expect(again.status).toBe(400);
      expect(again.html).toContain('no longer open');
    });
  },
);

// An SD-JWT, and an mdoc as that of the third source.
describe.each(['test-wallet-pid', 'test-wallet-age'])('a session with the identity wallet %s', (source) => {
  const nonceRefusal = source === 'test-wallet-pid' ? 'wrong nonce' : 'holder proof wrong';
  const audienceRefusal = source === 'test-wallet-pid' ? 'wrong audience' : 'holder proof wrong';

  it.each<[fault: string, why: string, name: string]>([
    ...faults,
    [faultsInWords['wrong-nonce'], nonceRefusal, 'wrong-nonce'],
    [faultsInWords['wrong-audience'], audienceRefusal, 'wrong-audience'],
    [faultsInWords.replay, nonceRefusal, 'replay'],
  ])('ends with verification_failed for %s; only operators see "%s"', async (_fault, why, name) => {
    const { act, show } = await ask(source);
    const end = await act(name);
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    expect(end.returned?.['error_description']).not.toContain(why);
    const session = await show();
    expect(session).toMatchObject({
      status: 'pending',
      failure: { reason: 'document_rejected' },
      code: null,
    });
    expect(session.timeline.at(-1)).toMatchObject({ event: 'failed', note: `document_rejected: ${why}` });
  });
});

it('the page of the test identity wallet is in English, because it is for developers', async () => {
  const { pages, page } = await ask('test-wallet-age');
  const { html } = await pages.open(`${page.at}?lang=de`);
  const link = /href="([^"]*\/verify\/test-wallet\?[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect((await pages.open(link)).html).toContain('<html lang="en">');
});

it('errors of the token endpoint have the same text before and after an answer of the test identity wallet', async () => {
  const refusal = async () => {
    const headers = { 'content-type': 'application/json' };
    const url = `${service.baseUrl}/api/oauth/token`;
    return (await fetch(url, { method: 'POST', headers, body: '[]' })).json();
  };
  const before = await refusal();
  const [source] = partners.keys();
  const { act } = await ask(source ?? '');
  await act('present');
  expect(await refusal()).toEqual(before);
});
