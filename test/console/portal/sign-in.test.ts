import { Collection, MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { TestAuthenticator } from '../../harness/authenticator.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';
import {
  acceptInvitation,
  createPortalBrowser,
  fieldIn,
  invite,
  memberApi,
  openInvitation,
  signedIn,
  signInBy,
} from './signed-in.ts';

const minute = 60_000;
const clock = manualClock();
let server: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server);
});
afterAll(() => server.stop());

let count = 0;
/** Signs a new member in. Advances the clock by a minute, because requests are limited per minute. */
const member = (role: 'owner' | 'developer' | 'viewer' = 'owner') => {
  clock.advance(minute);
  count += 1;
  return signedIn(server, partner.partnerId, role, `member${count}`);
};
const authenticator = () => new TestAuthenticator(new URL(server.baseUrl).origin);

describe('an invitation', () => {
  it('is accepted with a new passkey, signs the member in, and cannot be used again (404)', async () => {
    const { link, api, browser } = await member();
    expect(await api.partners.show.query({ partnerId: partner.partnerId })).toMatchObject({
      name: 'Acme Cinema',
    });
    expect([...browser.cookies.keys()].toSorted()).toEqual(['svc_portal', 'svc_portal_nonce']);
    expect((await openInvitation(createPortalBrowser(server), link)).status).toBe(404);
  });

  it('is accepted once (303) if two browsers use it simultaneously, and the other browser gets 404', async () => {
    clock.advance(minute);
    const wanted = { partnerId: partner.partnerId, email: 'race@shop.example', role: 'owner' } as const;
    const { link } = await invite(server, wanted);
    const both = [authenticator(), authenticator()];
    const ended = await Promise.all(
      both.map((one) => acceptInvitation(createPortalBrowser(server), link, one)),
    );
    expect(ended.map(({ status }) => status).toSorted()).toEqual([303, 404]);
  });

  it('has its secret in the fragment, and a pasted link works too', async () => {
    clock.advance(minute);
    const wanted = { partnerId: partner.partnerId, email: 'pasted@shop.example', role: 'viewer' } as const;
    const { link } = await invite(server, wanted);
    const { pathname, hash } = new URL(link);
    expect(pathname).toBe('/portal/invitations');
    const browser = createPortalBrowser(server);
    const { html, response } = await browser.open('/invitations');
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'");
    const pasted = await browser.post('/invitations', { csrf: fieldIn(html, 'csrf'), code: ` ${link} ` });
    expect(pasted.html).toContain(wanted.email);
    // A path would be in logs and in the history of the browser.
    expect((await browser.open(`/invitations/${hash.slice(1)}`)).status).toBe(404);
    const unknown = await browser.post('/invitations', { csrf: fieldIn(html, 'csrf'), code: 'x' });
    expect(unknown.status).toBe(404);
  });

  it('gets 401 with a foreign passkey or a malformed answer, 403 with a forged CSRF token, and stays valid', async () => {
    clock.advance(minute);
    const wanted = { partnerId: partner.partnerId, email: 'forged@shop.example', role: 'owner' } as const;
    const { link } = await invite(server, wanted);
    const one = authenticator();
    for (const forgery of [{ origin: 'https://evil.example' }, { crossOrigin: true }, { verified: false }])
      expect((await acceptInvitation(createPortalBrowser(server), link, one, forgery)).status).toBe(401);
    const browser = createPortalBrowser(server);
    const path = '/invitations';
    const page = await openInvitation(browser, link);
    const code = fieldIn(page.html, 'code');
    for (const answer of ['', '{}', 'x', JSON.stringify({ id: 'x', response: {} })])
      expect((await browser.post(path, { csrf: fieldIn(page.html, 'csrf'), code, answer })).status).toBe(401);
    expect((await browser.post(path, { csrf: 'forged', code, answer: '{}' })).status).toBe(403);
    expect((await acceptInvitation(browser, link, one)).status).toBe(303);
  });

  it("is refused with 401 for another member's passkey, and can then be used with a new one", async () => {
    const other = await member();
    const wanted = { partnerId: partner.partnerId, email: 'same@shop.example', role: 'viewer' } as const;
    const { link } = await server.admin.members.invite.mutate(wanted);
    const browser = createPortalBrowser(server);
    expect((await acceptInvitation(browser, link, other.authenticator)).status).toBe(401);
    expect((await acceptInvitation(browser, link, authenticator())).status).toBe(303);
  });

  it('signs the member in, although the answer is 503, if deleting the earlier session of the browser fails', async () => {
    const { browser } = await member();
    const earlier = browser.cookies.get('svc_portal');
    const wanted = { partnerId: partner.partnerId, email: 'kept@shop.example', role: 'viewer' } as const;
    const { link } = await invite(server, wanted);
    const { deleteOne } = Collection.prototype;
    const deletion = vi.spyOn(Collection.prototype, 'deleteOne').mockImplementation(function (
      this: Collection,
      ...parts
    ) {
      const isSession = this.collectionName === 'memberSessions';
      return isSession ? Promise.reject(new MongoNetworkError('away')) : deleteOne.apply(this, parts);
    });
    onTestFinished(() => deletion.mockRestore());
    expect((await acceptInvitation(browser, link, authenticator())).status).toBe(503);
    expect(browser.cookies.get('svc_portal')).not.toBe(earlier);
    expect((await browser.open('/')).html).toContain(wanted.email);
  });

  it("replaces an existing member's passkey, and ends the sessions of the old passkey", async () => {
    const lost = await member();
    const wanted = { partnerId: partner.partnerId, email: lost.email, role: 'owner' } as const;
    const again = await invite(server, wanted);
    expect(again.id).toBe(lost.id);
    expect((await lost.browser.open('/trpc/partners.show?input={}')).status).toBe(200);
    const fresh = authenticator();
    expect((await acceptInvitation(createPortalBrowser(server), again.link, fresh)).status).toBe(303);
    expect((await lost.browser.open('/trpc/partners.show?input={}')).status).toBe(401);
    expect((await signInBy(createPortalBrowser(server), lost.authenticator)).status).toBe(401);
    clock.advance(1);
    expect((await signInBy(createPortalBrowser(server), fresh)).status).toBe(303);
  });
});

describe("a member's passkey", () => {
  it('ends the earlier session of its browser, also for a copied cookie, at a sign-in and when an invitation is accepted', async () => {
    const [first, second] = [await member(), await member()];
    const copyOf = ({ browser }: typeof first) => {
      const copy = createPortalBrowser(server);
      for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
      return copy;
    };
    clock.advance(1);
    const beforeSignIn = copyOf(first);
    expect((await signInBy(first.browser, second.authenticator)).status).toBe(303);
    expect((await beforeSignIn.open('/keys')).status).toBe(303);
    const beforeInvitation = copyOf(first);
    const wanted = { partnerId: partner.partnerId, email: 'third@shop.example', role: 'viewer' } as const;
    const { link } = await invite(server, wanted);
    expect((await acceptInvitation(first.browser, link, authenticator())).status).toBe(303);
    expect((await first.browser.open('/keys')).status).toBe(200);
    expect((await beforeInvitation.open('/keys')).status).toBe(303);
    expect((await second.browser.open('/keys')).status).toBe(200);
  });

  it('signs the member in, and its answer to a challenge is accepted once', async () => {
    const { authenticator: own } = await member();
    clock.advance(1);
    const browser = createPortalBrowser(server);
    const page = await browser.open('/sign-in');
    const options = JSON.parse(
      /data-passkey="([^"]*)"/.exec(page.html)?.[1]?.replaceAll('&quot;', '"') ?? '{}',
    );
    const form = { csrf: fieldIn(page.html, 'csrf'), answer: own.get(options) };
    expect((await browser.post('/sign-in', form)).status).toBe(303);
    expect((await browser.post('/sign-in', form)).status).toBe(401);
  });

  it('is refused with 401 after two minutes, from another browser, with a lower counter, or if unknown', async () => {
    const { authenticator: own } = await member();
    clock.advance(1);
    const late = createPortalBrowser(server);
    const page = await late.open('/sign-in');
    const options = JSON.parse(
      /data-passkey="([^"]*)"/.exec(page.html)?.[1]?.replaceAll('&quot;', '"') ?? '{}',
    );
    const answer = own.get(options);
    const thief = createPortalBrowser(server);
    const elsewhere = await thief.open('/sign-in');
    const stolen = { csrf: fieldIn(elsewhere.html, 'csrf'), answer };
    expect((await thief.post('/sign-in', stolen)).status).toBe(401);
    clock.advance(2 * minute);
    expect((await late.post('/sign-in', { csrf: fieldIn(page.html, 'csrf'), answer })).status).toBe(401);
    expect((await signInBy(createPortalBrowser(server), own)).status).toBe(303);
    clock.advance(1);
    expect((await signInBy(createPortalBrowser(server), own, { counter: 1 })).status).toBe(401);
    expect((await signInBy(createPortalBrowser(server), authenticator())).status).toBe(401);
  });

  it('signs the member in, and redirects to the requested page only if it belongs to the portal', async () => {
    const { authenticator: own } = await member();
    for (const [next, to] of [
      ['/wallet', '/portal/wallet'],
      ['/wallet?mode=test&from=2026-07-01+09%3A00', '/portal/wallet?mode=test&from=2026-07-01+09%3A00'],
      ['/?mode=test', '/portal/?mode=test'],
      ['/wallet?next=//evil.example', '/portal/'],
      ['/../account', '/portal/'],
      ['//evil.example', '/portal/'],
      ['https://evil.example', '/portal/'],
      ['/\\evil.example', '/portal/'],
    ] as const) {
      clock.advance(1);
      const browser = createPortalBrowser(server);
      const page = await browser.open('/sign-in');
      const options = JSON.parse(
        /data-passkey="([^"]*)"/.exec(page.html)?.[1]?.replaceAll('&quot;', '"') ?? '{}',
      );
      const form = { csrf: fieldIn(page.html, 'csrf'), answer: own.get(options), next };
      expect((await browser.post('/sign-in', form)).response.headers.get('location')).toBe(to);
    }
  });
});

describe('a session of the portal', () => {
  const show = (browser: { open(path: string): Promise<{ status: number }> }) =>
    browser.open('/trpc/partners.show?input={}');

  it('ends after 12 hours, and is stored as a hash', async () => {
    const { browser } = await member();
    const secret = browser.cookies.get('svc_portal') ?? '';
    const stored = JSON.stringify(await server.db.collection('memberSessions').find().toArray());
    expect(secret).toMatch(/^svc_member_/);
    expect(stored).not.toContain(secret);
    clock.advance(12 * 60 * minute - 1);
    expect((await show(browser)).status).toBe(200);
    clock.advance(1);
    expect((await show(browser)).status).toBe(401);
  });

  it('ends when the member is removed, also for a copied cookie', async () => {
    const { id: memberId, browser } = await member();
    const thief = createPortalBrowser(server);
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
    expect((await show(thief)).status).toBe(200);
    await server.admin.members.remove.mutate({ memberId });
    expect((await show(browser)).status).toBe(401);
    expect((await show(thief)).status).toBe(401);
    expect(await server.db.collection('memberSessions').countDocuments({ memberId })).toBe(0);
  });

  it("gets the rights of the member's new role at the next call", async () => {
    const { id: memberId, api } = await member('viewer');
    const wanted = { keyId: partner.keyId };
    expect(await refusal(api.webhooks.resume.mutate(wanted))).toBe('not_permitted');
    await server.admin.members.setRole.mutate({ memberId, role: 'developer' });
    expect(await api.webhooks.resume.mutate(wanted)).toMatchObject(wanted);
  });

  it('can change secrets for 30 minutes after the passkey sign-in, and again after another sign-in', async () => {
    const { api, browser, authenticator: own } = await member('developer');
    const wanted = { partnerId: partner.partnerId, mode: 'test' } as const;
    expect(await api.keys.create.mutate(wanted)).toMatchObject({ partnerId: partner.partnerId });
    clock.advance(30 * minute);
    expect(await refusal(api.keys.create.mutate(wanted))).toBe('passkey_required');
    expect(await api.keys.list.query({})).not.toEqual([]);
    expect((await signInBy(browser, own)).status).toBe(303);
    expect(await memberApi(server, browser).api.keys.create.mutate(wanted)).toMatchObject(wanted);
  });

  it('ends at the sign-out, also for a copied cookie', async () => {
    const { browser, csrf } = await member();
    expect((await browser.post('/sign-out', { csrf: 'forged' })).status).toBe(403);
    const copy = createPortalBrowser(server);
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    expect((await browser.post('/sign-out', { csrf: await csrf() })).status).toBe(303);
    expect((await show(copy)).status).toBe(401);
  });

  it('is refused for a forged cookie with 401, and after many requests from one address with 429', async () => {
    clock.advance(minute);
    const browser = createPortalBrowser(server);
    browser.cookies.set('svc_portal', 'svc_member_x');
    expect((await show(browser)).status).toBe(401);
    let status = 401;
    for (let sent = 0; sent < 60 && status === 401; sent += 1) ({ status } = await show(browser));
    expect(status).toBe(429);
  });
});

it("a mutation needs the CSRF token of the same session, from the portal's own origin (else 403)", async () => {
  const { browser, csrf } = await member();
  const call = (headers: Record<string, string>) =>
    fetch(`${server.publicUrl}/portal/trpc/webhooks.resume`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: browser.cookie(), ...headers },
      body: JSON.stringify({ keyId: partner.keyId }),
    });
  expect((await call({})).status).toBe(403);
  expect((await call({ 'x-csrf-token': 'forged' })).status).toBe(403);
  const token = await csrf();
  const foreign = await call({ 'x-csrf-token': token, origin: 'https://evil.example' });
  expect(foreign.status).toBe(403);
  const other = await member();
  expect((await call({ 'x-csrf-token': await other.csrf() })).status).toBe(403);
  expect((await call({ 'x-csrf-token': token })).status).toBe(200);
});
