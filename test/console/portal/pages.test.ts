import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderStatement } from '../../../contracts/admin/statement-csv.ts';
import { documents, pages as pageRows } from '../../../server/console/portal/feature.ts';
import { addFullPages } from '../../billing/wallets/long-wallet.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { createPortalBrowser, fieldIn, type SignedInMember, signedIn } from './signed-in.ts';

const clock = manualClock();
let server: TestServer;
let partner: TestPartner;
const members = {} as Record<'owner' | 'developer' | 'finance' | 'viewer', SignedInMember>;
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server, { name: 'Acme <b>Cinema</b>' });
  await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'http://localhost:9/hooks' });
  const verified = await completeSession(server, partner);
  expect((await exchangeCode(server, partner, verified)).status).toBe(200);
  for (const role of ['owner', 'developer', 'finance', 'viewer'] as const)
    members[role] = await signedIn(server, partner.partnerId, role);
}, within(30_000));
afterAll(() => server.stop());

/** The roles that may see each page: owner, developer, finance, viewer. */
const pages = {
  '/': 'odfv',
  '/warnings': 'odfv',
  '/news': 'odfv',
  '/users': 'odv',
  '/log': 'o',
  '/clients': 'odfv',
  '/keys': 'odfv',
  '/webhooks': 'odfv',
  '/deliveries': 'odv',
  '/requests': 'odv',
  '/sessions': 'odv',
  '/wallet': 'ofv',
  '/members': 'o',
};

/** Opens a page, and sends a form with the CSRF token of that page. */
async function submit(member: SignedInMember, path: string, form: Record<string, string>) {
  const { html } = await member.browser.open(path);
  return member.browser.post(path, { csrf: fieldIn(html, 'csrf'), ...form });
}
const decodeJws = (jws: string) => ({
  payload: JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()),
});
const secretOn = (html: string) => /<pre>([^<]+)<\/pre>/.exec(html)?.[1] ?? '';
const owner = () => {
  clock.advance(60_000);
  return members.owner;
};

describe('a page of the portal', () => {
  it('answers 200 to roles that may call its procedure, which have a link to it; others get 403 and no link', async () => {
    for (const [role, { browser }] of Object.entries(members)) {
      const { html } = await browser.open('/');
      for (const [path, may] of Object.entries(pages)) {
        const isAllowed = may.includes(role.charAt(0));
        expect([role, path, (await browser.open(path)).status]).toEqual([role, path, isAllowed ? 200 : 403]);
        expect([role, path, html.includes(`href="/portal${path}"`)]).toEqual([role, path, isAllowed]);
      }
    }
  });

  it('redirects a visitor without a session to the sign-in page, with the page to return to', async () => {
    clock.advance(60_000);
    const stranger = createPortalBrowser(server);
    const { status, response } = await stranger.open('/clients/cli_x');
    expect(status).toBe(303);
    expect(response.headers.get('location')).toBe('/portal/sign-in?next=%2Fclients%2Fcli_x');
  });

  it('leads a visitor who wants a document to the page of the document, because a browser that saves a file stays at the sign-in', async () => {
    clock.advance(60_000);
    const stranger = createPortalBrowser(server);
    for (const { path } of documents) {
      const [, page = ''] = /^(.+)\/[^/]+$/.exec(path) ?? [];
      expect(pageRows.map((row) => row.path)).toContain(page);
      const saved = await stranger.open(`${path.replace(':client', 'cli_x')}?mode=test`);
      const next = encodeURIComponent(`${page.replace(':client', 'cli_x')}?mode=test`);
      expect(saved.response.headers.get('location')).toBe(`/portal/sign-in?next=${next}`);
    }
    expect((await stranger.post('/clients', { act: 'create' })).status).toBe(303);
  });

  it('shows the first steps and the variables of an integration to those who make clients, without secrets', async () => {
    for (const [role, { browser }] of Object.entries(members)) {
      const { html } = await browser.open('/');
      const makesClients = role === 'owner' || role === 'developer';
      expect(html.includes(`SVC_BASE_URL=${server.baseUrl}`)).toBe(makesClients);
      expect(html.includes(`SVC_CLIENT_ID=${partner.clientId}`)).toBe(makesClients);
      expect(html).not.toContain(partner.clientSecret);
      expect(html).not.toContain(partner.apiKey);
      expect(/First claim[\s\S]{0,200}\/sessions\/ses_/.test(html)).toBe(makesClients);
    }
  });

  it("escapes the partner's name", async () => {
    expect((await owner().browser.open('/')).html).toContain('Acme &lt;b&gt;Cinema&lt;/b&gt;');
  });

  it("is in the browser's language, or in the language that the member chose on the same site", async () => {
    const { browser } = owner();
    const german = await browser.open('/clients', { 'accept-language': 'de-CH,de;q=0.9' });
    expect(german.html).toContain('<html lang="de" dir="ltr">');
    const chosen = await browser.open('/clients?lang=ar', { 'sec-fetch-site': 'same-origin' });
    expect(chosen.status).toBe(303);
    expect((await browser.open('/clients')).html).toContain('<html lang="ar" dir="rtl">');
    expect((await browser.open('/clients?lang=fr', { 'sec-fetch-site': 'cross-site' })).status).toBe(200);
    browser.cookies.delete('svc_language');
  });
});

describe('a form of the portal', () => {
  it('is refused with 403 from another site, or without its CSRF token', async () => {
    const { browser } = owner();
    const csrf = fieldIn((await browser.open('/keys')).html, 'csrf');
    const form = { act: 'create', mode: 'test' };
    const before = await server.admin.keys.count.query({ partnerId: partner.partnerId });
    expect((await browser.post('/keys', form)).status).toBe(403);
    expect((await browser.post('/keys', { ...form, csrf: `${csrf}x` })).status).toBe(403);
    const origin = { origin: 'https://evil.example' };
    expect((await browser.post('/keys', { ...form, csrf }, origin)).status).toBe(403);
    expect((await browser.post('/keys', { ...form, csrf }, { 'sec-fetch-site': 'cross-site' })).status).toBe(
      403,
    );
    expect(await server.admin.keys.count.query({ partnerId: partner.partnerId })).toEqual(before);
  });

  it('answers a wrong value with 422, an alert and the entered value, escaped', async () => {
    const path = `/clients/${partner.clientId}`;
    const { status, html } = await submit(owner(), path, { act: 'addUri', uri: 'http://evil.example/"x' });
    expect(status).toBe(422);
    expect(html).toContain('role="alert"');
    expect(html).toContain('http://evil.example/&quot;x');
  });
});

describe('an owner in the portal', () => {
  it('adds and removes redirect URIs, sets the branding and rotates a secret', async () => {
    const path = `/clients/${partner.clientId}`;
    const uri = 'http://localhost:9999/second';
    const added = await submit(owner(), path, { act: 'addUri', uri });
    expect([added.status, added.response.headers.get('location')]).toEqual([303, `/portal${path}?done`]);
    const clientId = partner.clientId;
    expect((await server.admin.clients.show.query({ clientId })).redirectUris).toContain(uri);
    expect((await submit(members.owner, path, { act: 'removeUri', uri })).status).toBe(303);
    const brand = { brandName: 'Acme', brandColor: '#0a7f5c', purpose: 'Tickets', privacyUrl: '' };
    expect((await submit(members.owner, path, { act: 'brand', ...brand })).status).toBe(303);
    const shown = await members.owner.browser.open(path);
    const [, frame = ''] = /<iframe class="preview" src="\/portal([^"]+)"/.exec(shown.html) ?? [];
    const preview = await members.owner.browser.open(frame.replaceAll('&amp;', '&'));
    expect(preview.html).toContain('/verify/assets/brand/0a7f5c.css');
    expect(preview.html).toContain('Tickets');
    expect(preview.response.headers.get('content-security-policy')).toContain('sandbox');
    const openid = { openid: 'on', defaultClaims: 'age_18_plus', idTokenAlg: 'ES256' };
    expect((await submit(members.owner, path, { act: 'openid', ...openid })).status).toBe(303);
    expect(await server.admin.clients.show.query({ clientId })).toMatchObject({
      openid: true,
      defaultClaims: ['age_18_plus'],
      idTokenAlg: 'ES256',
    });
    const off = { openid: 'off', defaultClaims: '', idTokenAlg: 'RS256' };
    expect((await submit(members.owner, path, { act: 'openid', ...off })).status).toBe(303);
    expect(await server.admin.clients.show.query({ clientId })).toMatchObject({
      openid: false,
      defaultClaims: [],
    });
    const rotated = await submit(members.owner, path, { act: 'rotate', keepOld: '86400' });
    expect(secretOn(rotated.html)).toMatch(/^svc_secret_/);
    expect((await members.owner.browser.open(path)).html).not.toContain(secretOn(rotated.html));
    const { secrets, ...client } = await server.admin.clients.show.query({ clientId });
    expect(client).toMatchObject({
      brandName: 'Acme',
      privacyUrl: null,
      redirectUris: ['http://localhost:9999/callback'],
    });
    expect(secrets).toHaveLength(2);
  });

  it('creates a key and a client, and the client exchanges a code', async () => {
    const key = await submit(owner(), '/keys', { act: 'create', mode: 'test' });
    expect(secretOn(key.html)).toMatch(/^svc_test_/);
    const [, keyId = ''] = /(key_\w{22})/.exec(key.html) ?? [];
    const made = await submit(members.owner, '/clients', {
      ...{ act: 'create', name: 'Second', keyId, redirectUris: 'http://localhost:9999/callback' },
      ...{ claim_age_18_plus: 'yes', claim_identity_verified: 'yes', claim_country: 'yes', kind: 'oauth' },
    });
    const clientSecret = secretOn(made.html);
    const [, clientId = ''] = /<h2>[^<]*(cli_\w{22})/.exec(made.html) ?? [];
    const second = { ...partner, keyId, clientId, clientSecret };
    expect((await exchangeCode(server, second, await completeSession(server, second))).status).toBe(200);
    for (const keepOld of [{}, { keepOld: '' }])
      expect((await submit(members.owner, `/keys/${keyId}`, { act: 'rotate', ...keepOld })).status).toBe(400);
    const rotated = await submit(members.owner, `/keys/${keyId}`, { act: 'rotate', keepOld: '0' });
    expect(secretOn(rotated.html)).toMatch(/^svc_test_/);
    expect((await submit(members.owner, `/keys/${keyId}`, { act: 'revoke' })).status).toBe(303);
  });

  it('shows what the receiver answered to a test event, with advice, and is not well while the endpoint fails', async () => {
    const receiver = await createReceiver((_count, _request, response) =>
      response.writeHead(401).end('bad signature'),
    );
    const { id: keyId } = await server.admin.keys.create.mutate({
      partnerId: partner.partnerId,
      mode: 'test',
    });
    await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
    const sent = await submit(owner(), `/webhooks/${keyId}`, { act: 'test' });
    const to = sent.response.headers.get('location')?.replace('/portal', '') ?? '';
    expect(to).toMatch(/^\/deliveries\/dlv_/);
    const { html } = await members.owner.browser.open(to);
    expect(html).toContain('The receiver refuses the signature');
    expect(html).not.toContain('partner check');
    const list = await members.owner.browser.open(`/deliveries?key=${keyId}`);
    expect(list.html).toMatch(/Answer<.*>401</s);
    const overview = await members.owner.browser.open('/');
    expect(overview.html).toContain('failing: 401');
    expect(overview.html).not.toContain('All is well');
    await server.admin.keys.revoke.mutate({ keyId });
  });

  it('says of an endpoint that answers just in time that it is slow', async () => {
    const receiver = await createReceiver();
    const { partnerId } = partner;
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
    await submit(owner(), `/webhooks/${keyId}`, { act: 'test' });
    const note = 'Answer at once, and work afterwards';
    const open = async () => (await members.owner.browser.open(`/webhooks/${keyId}`)).html;
    expect(await open()).not.toContain(note);
    const last = { $set: { 'attempts.0.durationMs': 9_900 } };
    await server.db.collection('deliveries').updateOne({ keyId }, last);
    expect(await open()).toMatch(new RegExp(`${note}[^]*>slow<`));
    await server.admin.keys.revoke.mutate({ keyId });
  });

  it('sets a webhook URL, prepares and switches its secret, and sees deliveries with their bodies', async () => {
    const path = `/webhooks/${partner.keyId}`;
    const prepared = await submit(owner(), path, { act: 'prepare' });
    expect(secretOn(prepared.html)).toMatch(/^whsec_/);
    const last4 = fieldIn((await members.owner.browser.open(path)).html, 'last4');
    expect(secretOn(prepared.html).endsWith(last4)).toBe(true);
    expect((await submit(members.owner, path, { act: 'switch', last4 })).status).toBe(303);
    const wrong = await submit(members.owner, path, { act: 'set', url: 'ftp://x' });
    expect(wrong.status).toBe(422);
    const [delivery] = await server.admin.deliveries.list.query({ keyId: partner.keyId });
    const shown = await members.owner.browser.open(`/deliveries/${delivery?.id}`);
    expect(shown.html).toContain(delivery?.eventId);
    expect(shown.html).toContain('event_id');
    const resent = await submit(members.owner, `/deliveries/${delivery?.id}`, { act: 'resend' });
    expect(resent.response.headers.get('location')).toMatch(/\/portal\/deliveries\/dlv_\w{22}\?done$/);
  });

  it("rotates an integration's secret with or without a time for the old one, and a viewer gets 403", async () => {
    const { partnerId, keyId } = partner;
    const { id: clientId } = await server.admin.clients.create.mutate({
      ...{ partnerId, keyId, name: 'Shop', kind: 'storefront', claims: ['age_18_plus'] },
      redirectUris: ['http://localhost:9999/shop'],
    });
    const shops = ['shop.example'];
    const { id } = await server.admin.integrations.create.mutate({ partnerId, clientId, shops });
    const path = `/integrations/${id}`;
    const secrets = async () => {
      const { last4, oldSecret } = await server.admin.integrations.show.query({ integrationId: id });
      return { last4, old: oldSecret?.last4 };
    };
    const first = await secrets();
    const kept = await submit(owner(), path, { act: 'rotate', keepOld: '86400' });
    const second = secretOn(kept.html).slice(-4);
    expect(await secrets()).toEqual({ last4: second, old: first.last4 });
    const form = { act: 'rotate', keepOld: '0' };
    expect((await members.owner.browser.post(path, { ...form, csrf: 'x' })).status).toBe(403);
    expect((await members.viewer.browser.open(path)).html).not.toContain('name="act"');
    expect((await submit(members.viewer, path, form)).status).toBe(403);
    expect(await secrets()).toEqual({ last4: second, old: first.last4 });
    const atOnce = await submit(members.owner, path, form);
    expect(await secrets()).toEqual({ last4: secretOn(atOnce.html).slice(-4), old: undefined });
    expect((await members.owner.browser.open(path)).html).not.toContain(secretOn(atOnce.html));
  });

  it('shows a disabled integration without forms, because it cannot be changed any more', async () => {
    const { partnerId, keyId } = partner;
    const { id: clientId } = await server.admin.clients.create.mutate({
      ...{ partnerId, keyId, name: 'Closed shop', kind: 'storefront', claims: ['age_18_plus'] },
      redirectUris: ['http://localhost:9999/closed'],
    });
    const wanted = { partnerId, clientId, shops: ['closed.example'] };
    const { id: integrationId } = await server.admin.integrations.create.mutate(wanted);
    await server.admin.integrations.disable.mutate({ integrationId });
    const { html } = await owner().browser.open(`/integrations/${integrationId}`);
    expect(html).toContain('closed.example');
    expect(html).not.toContain('name="act"');
  });

  it('resends the failed deliveries of a time span, and sees the progress of the bulk job', async () => {
    await server.db
      .collection('deliveries')
      .updateMany(
        { keyId: partner.keyId, status: 'pending' },
        { $set: { status: 'failed', endedAt: new Date() } },
      );
    const form = { act: 'resendSpan', key: partner.keyId, status: 'failed', since: '2020-01-01', until: '' };
    const { response } = await submit(owner(), '/deliveries', form);
    const to = response.headers.get('location') ?? '';
    expect(to).toMatch(/^\/portal\/bulk\/blk_\w{22}\?done$/);
    const progress = await members.owner.browser.open(to.replace('/portal', ''));
    expect(progress.html).toMatch(/blk_\w{22}/);
    const malformed = { ...form, since: 'yesterday' };
    expect((await submit(members.owner, '/deliveries', malformed)).status).toBe(400);
  });

  it('finds a session by its id, and for a request with a wrong secret the error invalid_client and what to do', async () => {
    const [session] = (await server.admin.sessions.list.query({ partnerId: partner.partnerId })).rows;
    const found = await owner().browser.open(`/sessions?id=${session?.id}`);
    expect(found.html).toContain(`/portal/sessions/${session?.id}`);
    expect((await members.owner.browser.open(`/sessions/${session?.id}`)).html).toContain('complete');
    await exchangeCode(server, { ...partner, clientSecret: 'wrong' }, await completeSession(server, partner));
    const list = () =>
      server.admin.requests.list.query({ partnerId: partner.partnerId, error: 'invalid_client' });
    await expect.poll(async () => (await list()).rows.length).toBeGreaterThan(0);
    const [request] = (await list()).rows;
    const shown = await members.owner.browser.open(`/requests/${request?.id}`);
    expect(shown.html).toContain('invalid_client');
    expect(shown.html).toContain('What to do');
    expect((await members.owner.browser.open('/requests?id=req_x')).status).toBe(404);
  });
});

describe('a member of the role finance', () => {
  it('sees balance, statement and usage, and gets a signed statement', async () => {
    clock.advance(60_000);
    const { html } = await members.finance.browser.open('/wallet?mode=test');
    expect(html).toContain('-0.50 USD');
    expect(html).toContain('<svg class="chart"');
    expect(html).toContain('formaction="/portal/wallet/statement.jws"');
    const period = 'mode=test&from=2020-01-01&to=2100-01-01';
    const { html: jws, response } = await members.finance.browser.open(`/wallet/statement.jws?${period}`);
    const { payload } = decodeJws(jws.trim());
    expect(payload).toMatchObject({ mode: 'test', from: '2020-01-01T00:00:00.000Z' });
    expect(response.headers.get('content-disposition')).toBe(
      'attachment; filename="statement-test-2020-01-01-2100-01-01.jws"',
    );
    expect((await members.developer.browser.open(`/wallet/statement.jws?${period}`)).status).toBe(403);
  });

  it('has links to the statements of the last three months', async () => {
    const before = clock.now();
    clock.set(Date.UTC(2027, 1, 28, 12));
    const partner = await createPartner(server);
    const { browser } = await signedIn(server, partner.partnerId, 'finance', 'months');
    const { html } = await browser.open('/wallet', { 'accept-language': 'de' });
    clock.set(before);
    expect(
      [...html.matchAll(/href="\/portal\/wallet\?mode=live&amp;([^"]*)">([^<]*)/g)].map(
        ([, ...found]) => found,
      ),
    ).toEqual([
      ['from=2027-01-01&amp;to=2027-02-01', 'Januar 2027'],
      ['from=2026-12-01&amp;to=2027-01-01', 'Dezember 2026'],
      ['from=2026-11-01&amp;to=2026-12-01', 'November 2026'],
    ]);
  });

  it('gets 400 for a form of the wallet without a mode, or with an empty one', async () => {
    clock.advance(60_000);
    for (const mode of [{}, { mode: '' }]) {
      const sent = { act: 'caps', perMinute: '3', perHour: '30', ...mode };
      expect([sent, (await submit(members.finance, '/wallet', sent)).status]).toEqual([sent, 400]);
    }
  });

  it('downloads a CSV statement with the entries of the admin API; a viewer may too, a developer gets 403', async () => {
    clock.advance(60_000);
    const period = 'mode=test&from=2020-01-01&to=2100-01-01';
    const page = await members.finance.browser.open(`/wallet?${period}`);
    // The button sends the days that are typed, also before they are shown.
    expect(page.html).toContain('formaction="/portal/wallet/statement.csv"');
    const { response, html: csv } = await members.finance.browser.open(`/wallet/statement.csv?${period}`);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe(
      'attachment; filename="statement-test-2020-01-01-2100-01-01.csv"',
    );
    const { partnerId } = partner;
    const statement = await server.admin.wallets.statement.query({ partnerId, mode: 'test' });
    expect(statement.entries.length).toBeGreaterThan(1);
    expect(csv).toBe(`${renderStatement(statement).join('\r\n')}\r\n`);
    expect((await members.finance.browser.open('/wallet/statement.csv?from=yesterday')).status).toBe(400);
    for (const path of ['/wallet', '/wallet/statement.csv', '/wallet/statement.jws']) {
      const reversed = await members.finance.browser.open(`${path}?mode=test&from=2100-01-01&to=2020-01-01`);
      expect([path, reversed.status]).toEqual([path, 400]);
      expect(reversed.html).toContain('must be later than the beginning of the period');
    }
    expect((await members.developer.browser.open('/wallet/statement.csv?mode=test')).status).toBe(403);
    expect((await members.viewer.browser.open('/wallet/statement.csv?mode=test')).html).toBe(csv);
  });

  it('downloads a CSV statement of more than one part, with each entry once and the closing balance', async () => {
    clock.advance(60_000);
    const { partnerId } = await createPartner(server);
    const viewer = await signedIn(server, partnerId, 'viewer', 'long');
    await addFullPages(server.db, `${partnerId}:test`, { pages: 5, at: clock.now() });
    const { html: csv } = await viewer.browser.open('/wallet/statement.csv?mode=test');
    const statement = await server.admin.wallets.statement.query({ partnerId, mode: 'test', limit: 1_000 });
    expect(statement.entries).toHaveLength(641);
    expect(csv).toBe(`${renderStatement(statement).join('\r\n')}\r\n`);
  });

  it('reads numbers that are typed with the digits of another script', async () => {
    clock.advance(60_000);
    const caps = { act: 'caps', mode: 'test', perMinute: '۸', perHour: '８０' };
    expect((await submit(members.finance, '/wallet', caps)).status).toBe(303);
    const { partnerId } = partner;
    const limits = await server.admin.limits.show.query({ partnerId, mode: 'test' });
    expect(limits).toMatchObject({ perMinute: 8, perHour: 80 });
    for (const [lowBalance, amount, kept] of [
      ['days', '١٤', { days: 14 }],
      ['dollars', '٢٥٠٫٥٠', { cents: 25_050 }],
    ] as const) {
      const warn = { act: 'set', confirmed: 'yes', emails: '', lowBalance, amount };
      expect((await submit(members.finance, '/warnings', warn)).status).toBe(303);
      expect(await server.admin.warnings.settings.query({ partnerId })).toMatchObject({ lowBalance: kept });
    }
  });

  it('sets spend caps and warnings; a value that is no number answers 400', async () => {
    clock.advance(60_000);
    const caps = { act: 'caps', mode: 'test', perMinute: '7', perHour: '70' };
    expect((await submit(members.finance, '/wallet', caps)).status).toBe(303);
    const { partnerId } = partner;
    expect(await server.admin.limits.show.query({ partnerId, mode: 'test' })).toMatchObject({ perMinute: 7 });
    for (const perMinute of ['many', ' ', '1e3', '0x10'])
      expect((await submit(members.finance, '/wallet', { ...caps, perMinute })).status).toBe(400);
    expect(await server.admin.limits.show.query({ partnerId, mode: 'test' })).toMatchObject({ perMinute: 7 });
    const emails = ['a@shop.example', 'b@shop.example'];
    for (const [lowBalance, amount, kept] of [
      ['days', '14', { days: 14 }],
      ['dollars', '250.50', { cents: 25_050 }],
      ['off', '', 'off'],
      ['default', '', null],
    ] as const) {
      const warn = { act: 'set', confirmed: 'yes', emails: emails.join('\n'), lowBalance, amount };
      expect((await submit(members.finance, '/warnings', warn)).status).toBe(303);
      const settings = { partnerId, emails, lowBalance: kept };
      expect(await server.admin.warnings.settings.query({ partnerId })).toEqual(settings);
    }
    // Addresses are stored in lower case, and each once.
    const twice = ['A@b.example', 'a@b.example'];
    const sent = { act: 'set', confirmed: 'yes', emails: twice.join('\n'), lowBalance: 'off', amount: '' };
    expect((await submit(members.finance, '/warnings', sent)).status).toBe(303);
    expect(await server.admin.warnings.settings.query({ partnerId })).toMatchObject({
      emails: ['a@b.example'],
    });
    expect(await server.admin.warnings.set.mutate({ partnerId, emails: twice })).toMatchObject({
      emails: ['a@b.example'],
    });
    const unclear = { act: 'set', confirmed: 'yes', emails: '', lowBalance: 'days', amount: 'many' };
    expect((await submit(members.finance, '/warnings', unclear)).status).toBe(400);
    expect((await members.viewer.browser.open('/warnings')).html).not.toContain('value="set"');
  });
});

it('the overview of the portal counts one charge today after an exchange and a negative adjustment', async () => {
  const partner = await createPartner(server);
  const { partnerId } = partner;
  const { browser } = await signedIn(server, partnerId, 'viewer', 'counter');
  expect((await exchangeCode(server, partner, await completeSession(server, partner))).status).toBe(200);
  const reason = 'a correction';
  await server.admin.wallets.adjust.mutate({ partnerId, mode: 'test', amount: -100, reason });
  const { html } = await browser.open('/');
  expect([...html.matchAll(/Charges today<\/dt><dd>([^<]*)/g)].map(([, count]) => count)).toEqual(['0', '1']);
});

it('an owner invites and changes members, and gets 401 from 30 minutes after the passkey sign-in on', async () => {
  const invited = await submit(owner(), '/members', {
    act: 'invite',
    email: 'new@shop.example',
    role: 'viewer',
  });
  expect(secretOn(invited.html)).toMatch(/\/portal\/invitations#svc_invite_/);
  const [member] = await server.admin.members.list.query({ partnerId: partner.partnerId, limit: 1 });
  const path = `/members/${member?.id}`;
  expect((await submit(members.owner, path, { act: 'role', role: 'finance' })).status).toBe(303);
  clock.advance(30 * 60_000);
  const late = await submit(members.owner, path, { act: 'remove' });
  expect(late.status).toBe(401);
  expect(late.html).toContain('/portal/sign-in?again=1&amp;next=%2Fmembers');
  const { status } = await server.admin.members.show.query({ memberId: member?.id ?? '' });
  expect(status).toBe('invited');
});
