import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../harness/free-port.ts';
import { exchangeCode, type TestPartner } from '../../harness/partner.ts';
import type { TestServer } from '../../harness/server.ts';
import { openPages, partnerOf, startWithSources } from './oidc-site.ts';
import { clientId, clientSecret, signIn, startProvider } from './provider.ts';

let provider: Awaited<ReturnType<typeof startProvider>>;
let service: TestServer;
let partner: TestPartner;
let other: TestPartner;
beforeAll(async () => {
  const port = await freePort();
  provider = await startProvider(`http://localhost:${port}/verify/callback/bank-id`);
  const { issuer } = provider;
  const bank = {
    name: 'bank-id',
    issuer,
    clientId,
    clientSecret,
    scope: 'openid profile address loa',
    claims: {
      age_18_plus: { birthdate: 'birthdate' },
      country: { claim: 'address.country' },
      identity_verified: { claim: 'verified' },
    },
  };
  const away = { name: 'away', issuer: 'http://localhost:1' };
  service = await startWithSources(port, [bank, away]);
  partner = await partnerOf(service, 'bank-id');
  other = await partnerOf(service, 'away');
});
afterAll(async () => {
  await service.stop();
  await provider.close();
});

async function verifyAs(person: string | undefined, at = partner) {
  const pages = openPages(service);
  const { page, codeVerifier, sessionId } = await pages.start(at);
  const back = await signIn(page.provider, person);
  return { pages, page, back, codeVerifier, sessionId, end: await pages.open(back) };
}

async function userinfoOf({ end, codeVerifier }: Awaited<ReturnType<typeof verifyAs>>) {
  const code = end.returned?.['code'] ?? '';
  const answer = await exchangeCode(service, partner, { code, codeVerifier });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}` };
  const userinfo = await fetch(`${service.baseUrl}/api/oauth/userinfo`, { headers });
  return (await userinfo.json()) as { sub: string; claims: Record<string, unknown> };
}

const session = (sessionId: string) => service.admin.sessions.show.query({ sessionId });

describe('a verification at an OpenID provider', () => {
  it('yields the claims, and the same subject for the same user', async () => {
    const verified = await verifyAs('adult');
    expect(verified.page.html).toContain('Verify with The bank-id');
    expect(verified.end.returned).toMatchObject({ code: expect.stringMatching(/^svc_code_/) });
    const { claims, sub } = await userinfoOf(verified);
    expect(claims).toEqual({ age_18_plus: true, identity_verified: null, country: 'FR' });
    const events = (await session(verified.sessionId)).timeline.map(({ event }) => event);
    expect(events).toEqual(['started', 'consented', 'returned', 'authenticated', 'verified', 'completed']);

    const again = await userinfoOf(await verifyAs('adult'));
    expect(again.sub).toBe(sub);
    const teen = await userinfoOf(await verifyAs('teen'));
    expect(teen.claims).toEqual({ age_18_plus: false, identity_verified: null, country: 'DE' });
    expect(teen.sub).not.toBe(sub);
  });

  it('stores only the derived claims in the database', async () => {
    await verifyAs('adult');
    const collections = await service.db.listCollections().toArray();
    for (const { name } of collections) {
      const text = JSON.stringify(await service.db.collection(name).find().toArray());
      for (const personal of ['1990-05-04', 'birthdate', '"adult"', 'id_token'])
        expect(text.includes(personal), `${personal} in ${name}`).toBe(false);
    }
  });

  it('ends with verification_failed and the reason abandoned if the user cancels at the provider', async () => {
    const { end, sessionId } = await verifyAs(undefined);
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    expect(end.returned?.['error_description']).toMatch(/^abandoned: /);
    expect((await session(sessionId)).failure).toMatchObject({ reason: 'abandoned', retryable: true });
  });

  it('yields the same redirect if the callback is opened twice', async () => {
    const { pages, back, end } = await verifyAs('adult');
    expect((await pages.open(back)).returned).toEqual(end.returned);
  });

  it('redirects a user with a planted session cookie with a code, and answers 401 to the attacker who planted it', async () => {
    const attacker = openPages(service);
    const { page, sessionId } = await attacker.start(partner);
    const victim = openPages(service);
    for (const [name, value] of attacker.cookies) victim.cookies.set(name, value);
    const end = await victim.open(await signIn(page.provider, 'adult'));
    expect(end.returned).toHaveProperty('code');

    const state = new URL(page.provider).searchParams.get('state') ?? '';
    const own = `${service.baseUrl}/verify/session/${sessionId}`;
    for (const query of [{ state }, { state, code: 'guessed' }]) {
      const taken = await attacker.open(`${own}/return/bank-id?${new URLSearchParams(query)}`);
      expect([taken.status, taken.returned]).toEqual([401, undefined]);
    }
    expect((await attacker.open(own)).status).toBe(401);
  });

  it('is answered with 401 if another browser opens its callback, and the session does not change', async () => {
    const victim = openPages(service);
    const { page, sessionId } = await victim.start(partner);
    const back = await signIn(page.provider, 'adult');
    expect((await openPages(service).open(back)).status).toBe(401);
    expect((await session(sessionId)).timeline).toHaveLength(2);
    expect((await victim.open(back)).returned).toHaveProperty('code');
  });

  it.each([
    ['changed', (state: string) => `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`],
    ['missing', () => ''],
    ['that of another session', (state: string) => state.replace(/^ses_\w+/, `ses_${'0'.repeat(22)}`)],
    ['that of a phone', (state: string) => state.replace('.computer.', '.phone.')],
  ])(
    'does not change, and an error page is shown, if the state parameter of its callback is %s',
    async (_how, change) => {
      const pages = openPages(service);
      const { page, sessionId } = await pages.start(partner);
      const back = new URL(await signIn(page.provider, 'adult'));
      back.searchParams.set('state', change(back.searchParams.get('state') ?? ''));
      expect((await pages.open(back.href)).status).toBeGreaterThanOrEqual(400);
      expect((await session(sessionId)).timeline).toHaveLength(2);
    },
  );

  it('is answered with 403 if the browser returns to the callback of another verification source', async () => {
    const pages = openPages(service);
    const { page } = await pages.start(partner);
    const back = await signIn(page.provider, 'adult');
    expect((await pages.open(back.replace('/callback/bank-id', '/callback/away'))).status).toBe(403);
  });

  it('shows a page with 503 while the provider is unreachable, and the user can cancel', async () => {
    const pages = openPages(service);
    const { page, sessionId } = await pages.start(other);
    expect(page.status).toBe(503);
    expect(page.html).toContain('The verification service does not answer');
    expect((await session(sessionId)).failure).toBeNull();
    const end = await pages.open(page.at, { ...page.fields, decision: 'cancel' });
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
  });
});

describe('clients update', () => {
  it("refuses a verification source that does not exist in the client's mode, and names those that do", async () => {
    const { clientId: id } = partner;
    const update = service.admin.clients.update.mutate({ clientId: id, sources: ['bank'] });
    await expect(update).rejects.toThrow(
      'No verification source bank for test clients; there is sandbox, test-wallet-age, test-wallet-pid, test-wallet-mdl, bank-id, away',
    );
  });
});
