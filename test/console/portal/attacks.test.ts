import { isDeepStrictEqual } from 'node:util';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordingLogger } from '../../harness/log-lines.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';
import { isKeyringRead } from '../../harness/statements.ts';
import { within } from '../../harness/time-limits.ts';
import { createPortalBrowser, fieldIn, type SignedInMember, signedIn, signInBy } from './signed-in.ts';

const clock = manualClock();
const { logger, lines } = recordingLogger();
const commands: string[] = [];
let server: TestServer;
let partner: TestPartner;
let other: TestPartner;
let owner: SignedInMember;
let viewer: SignedInMember;
beforeAll(async () => {
  server = await startTestServer({
    ...{ clock, logger, env: { SVC_PORTAL: 'on' }, replacements: { sweepsByHand: true } },
    onCommand({ commandName, command }) {
      if (!isKeyringRead(command)) commands.push(`${commandName} ${String(command[commandName])}`);
    },
  });
  partner = await createPartner(server);
  other = await createPartner(server, { name: 'Other' });
  await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'http://localhost:9/hooks' });
  owner = await signedIn(server, partner.partnerId, 'owner');
  viewer = await signedIn(server, partner.partnerId, 'viewer');
}, within(30_000));
afterAll(() => server.stop());

const paths = () => [
  ...['/', '/warnings', '/clients', '/keys', '/webhooks', '/deliveries', '/requests', '/sessions', '/users'],
  ...[
    '/wallet',
    '/logo',
    '/members',
    '/log',
    '/news',
    `/clients/${partner.clientId}`,
    `/keys/${partner.keyId}`,
  ],
  ...[`/webhooks/${partner.keyId}`, `/members/${viewer.id}`],
];

/** Returns the action names (`act`) of a page's forms, without the preview, which changes nothing. */
const actsOn = (html: string) => [
  ...new Set(
    [...html.matchAll(/name="act" value="(\w+)"/g)].flatMap(([, act]) =>
      act === undefined || act === 'preview' ? [] : [act],
    ),
  ),
];

describe('a page of the portal', () => {
  it('has headers against caching, framing and loading from other hosts, and no inline script or style', async () => {
    for (const path of paths()) {
      clock.advance(1_000);
      const { status, response, html } = await owner.browser.open(path);
      expect([path, status]).toEqual([path, 200]);
      const { headers } = response;
      expect([path, headers.get('cache-control'), headers.get('x-frame-options')]).toEqual([
        ...[path, 'no-store', 'DENY'],
      ]);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('content-security-policy')).not.toMatch(/unsafe|https:|\*/);
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(html).not.toMatch(/<script(?! src="[^"]*" defer><\/script>)|\son\w+="|\sstyle="/);
    }
  });

  it("answers 404 in the browser's language for an unknown path", async () => {
    const { status, html } = await owner.browser.open('/nothing/here?x=1', { 'accept-language': 'fr' });
    expect(status).toBe(404);
    expect(html).toContain('<html lang="fr"');
    expect(html).toContain('Le portail n’a pas cette page.');
  });

  it("shows a client's branding in a preview that no other site can frame, and that runs no scripts or forms", async () => {
    const path = `/clients/${partner.clientId}/preview?brandName=%3Cb%3E&brandColor=%23zz`;
    const { status, html, response } = await owner.browser.open(path);
    expect(status).toBe(200);
    expect(html).toContain('&lt;b&gt;');
    const policy = response.headers.get('content-security-policy') ?? '';
    for (const part of ["frame-ancestors 'self'", "form-action 'none'", "default-src 'none'", 'sandbox'])
      expect(policy).toContain(part);
    expect(policy).not.toContain('allow-scripts');
    expect((await owner.browser.open(`/clients/${other.clientId}/preview`)).status).toBe(404);
  });
});

/** The actions of forms that a viewer may send: the choice of the own e-mails. */
const harmless: Record<string, string[]> = { '/warnings': ['wish'] };

describe('a form of the portal', () => {
  it('is refused with 403 if a viewer sends it although it is not shown to viewers', async () => {
    let tried = 0;
    const csrf = await viewer.csrf();
    for (const path of paths()) {
      clock.advance(15_000);
      const shown = await owner.browser.open(path);
      const own = actsOn((await viewer.browser.open(path)).html);
      expect([path, own]).toEqual([path, harmless[path] ?? []]);
      for (const act of actsOn(shown.html).filter((one) => !own.includes(one))) {
        const form = { csrf, act, mode: 'test', hours: '1', role: 'owner', event: 'vae.resolved' };
        const more = { keepOld: '0', email: 'x@shop.example', body: '{}', signature: 'x', last4: 'aaaa' };
        const { status } = await viewer.browser.post(path, { ...form, ...more });
        expect([path, act, status]).toEqual([path, act, 403]);
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(15);
    // The token is valid: with it, the viewer may send the own form.
    expect((await viewer.browser.post('/warnings', { csrf, act: 'wish' })).status).toBe(303);
  });

  it('is refused with 404 or 400 for a member of another partner, and changes no record', async () => {
    const stranger = await signedIn(server, other.partnerId, 'owner', 'stranger');
    const csrf = fieldIn((await stranger.browser.open('/')).html, 'csrf');
    for (const path of paths().filter((one) => one.split('/').length > 2)) {
      clock.advance(5_000);
      expect([path, (await stranger.browser.open(path)).status]).toEqual([path, 404]);
      for (const act of actsOn((await owner.browser.open(path)).html)) {
        const form = { csrf, act, uri: 'https://evil.example/', keepOld: '0', role: 'owner', hours: '1' };
        const { status } = await stranger.browser.post(path, { ...form, url: 'https://evil.example/' });
        expect([path, act, status === 404 || status === 400]).toEqual([path, act, true]);
      }
    }
    expect(await server.admin.clients.show.query({ clientId: partner.clientId })).toMatchObject({
      ...{ status: 'active', redirectUris: [partner.redirectUri] },
    });
    expect(await server.admin.keys.show.query({ keyId: partner.keyId })).toMatchObject({
      ...{ status: 'active', rotatedAt: null },
    });
    expect(await server.admin.members.show.query({ memberId: viewer.id })).toMatchObject({ role: 'viewer' });
  });

  it('gets 400 or 403 and changes nothing if it is too large, repeats its CSRF token, or has an unknown type or action', async () => {
    clock.advance(60_000);
    const keys = () => server.admin.keys.count.query({ partnerId: partner.partnerId });
    const before = await keys();
    const csrf = fieldIn((await owner.browser.open('/keys')).html, 'csrf');
    const form = { csrf, act: 'create', mode: 'test' };
    const large = await owner.browser.post('/keys', { ...form, more: 'x'.repeat(70_000) });
    expect([large.status, large.html.includes('<h1>')]).toEqual([400, true]);
    const send = (body: string, type = 'application/x-www-form-urlencoded') =>
      fetch(`${server.publicUrl}/portal/keys`, {
        method: 'POST',
        headers: { cookie: owner.browser.cookie(), 'content-type': type },
        body,
      });
    const text = new URLSearchParams(form).toString();
    expect((await send(`${text}&csrf=${encodeURIComponent(csrf)}`)).status).toBe(403);
    expect((await send(JSON.stringify(form), 'text/plain')).status).toBe(400);
    expect((await send(text.replace('act=create', 'act=nothing'))).status).toBe(400);
    expect((await send(text.replace('act=create', 'act=__proto__'))).status).toBe(400);
    expect(await keys()).toEqual(before);
  });

  it('takes a logo only from a member with its CSRF token, up to 512 KiB, and for its own partner', async () => {
    clock.advance(60_000);
    const csrf = await owner.browser.csrf();
    const picture = new PNG({ width: 64, height: 64 });
    picture.data.fill(200);
    const form = { csrf, act: 'set', image: PNG.sync.write(picture).toString('base64') };
    const statusOf = async (fields: object) =>
      (await owner.browser.post('/logo', { ...form, ...fields })).status;
    expect(await statusOf({ image: 'A'.repeat(512 * 1024) })).toBe(400);
    expect(await statusOf({ image: 'A'.repeat(400_000) })).toBe(400);
    expect(await statusOf({ csrf: '' })).toBe(403);
    const unknown = await createPortalBrowser(server).post('/logo', { ...form, more: 'x'.repeat(400_000) });
    expect([unknown.status, unknown.response.headers.get('location')]).toEqual([
      ...[303, expect.stringContaining('/sign-in?')],
    ]);
    const requestOf = async ({ partnerId }: TestPartner) =>
      (await server.admin.partners.show.query({ partnerId })).brandRequest;
    expect(await requestOf(partner)).toBeNull();
    expect(await statusOf({ partnerId: other.partnerId })).toBe(303);
    expect([await requestOf(partner), await requestOf(other)]).toEqual([expect.anything(), null]);
  });
});

describe('a member of a partner', () => {
  it("gets 404 for another partner's id after the same database reads as for an unknown id", async () => {
    // A minute's first request inserts its counter and later ones update it, so all comparisons are within one minute.
    clock.advance(60_000 - (clock.now() % 60_000));
    await owner.browser.open('/');
    const ids = { keyId: other.keyId, clientId: other.clientId };
    const kinds: [string, Record<string, string>][] = [
      ['keys.show', { keyId: ids.keyId }],
      ['clients.show', { clientId: ids.clientId }],
      ['deliveries.list', { keyId: ids.keyId }],
      ['requests.list', { clientId: ids.clientId }],
      ['webhooks.health', { keyId: ids.keyId }],
    ];
    const readsOf = async (path: string, input: object) => {
      clock.advance(100);
      const from = commands.length;
      const query = encodeURIComponent(JSON.stringify(input));
      const { status } = await owner.browser.open(`/trpc/${path}?input=${query}`);
      expect([path, status]).toEqual([path, 404]);
      // Polls for jobs and records of earlier requests may be sent at any time.
      return commands.slice(from).filter((command) => !/ (?:jobs|requestLog)$/.test(command));
    };
    for (const [path, input] of kinds) {
      const absent = Object.fromEntries(
        Object.entries(input).map(([name, id]) => [name, id.replace(/.{6}$/, 'zzzzzz')]),
      );
      const readsOfBoth = async () => [await readsOf(path, input), await readsOf(path, absent)];
      let [foreign = [], unknown] = await readsOfBoth();
      // A heartbeat may be sent during one of the two. Reads that depend on the id differ each time.
      if (!isDeepStrictEqual(foreign, unknown)) [foreign = [], unknown] = await readsOfBoth();
      expect(foreign.length).toBeGreaterThan(0);
      expect([path, foreign]).toEqual([path, unknown]);
    }
  });

  it('cannot invite an address with a header injection, nor into another partner', async () => {
    clock.advance(60_000);
    const { api } = owner;
    const { partnerId } = partner;
    for (const email of [
      'a@shop.example\r\nBcc: b@shop.example',
      'a@shop.example,b@shop.example',
      '<a@x.example>',
    ])
      expect(await refusal(api.members.invite.mutate({ partnerId, email, role: 'owner' }))).toBe('bad_input');
    const emails = ['a@shop.example\r\nBcc: b@shop.example'];
    expect(await refusal(api.warnings.set.mutate({ partnerId, emails }))).toBe('bad_input');
    const elsewhere = { partnerId: other.partnerId, email: 'spy@shop.example', role: 'owner' } as const;
    expect(await refusal(api.members.invite.mutate(elsewhere))).toBe('not_found');
  });

  it('can change the own e-mail settings, but neither change nor read those of another member (not_permitted)', async () => {
    const { api, id: memberId } = viewer;
    clock.advance(60_000);
    expect(await api.members.setWishes.mutate({ memberId, warnings: true })).toEqual({
      memberId,
      warnings: true,
    });
    expect(await api.members.wishes.query({ memberId })).toEqual({ memberId, warnings: true });
    const others = { memberId: owner.id, warnings: true };
    expect(await refusal(api.members.setWishes.mutate(others))).toBe('not_permitted');
    expect(await refusal(owner.api.members.wishes.query({ memberId }))).toBe('not_permitted');
  });
});

it('a copied session cookie stops working when the member signs in again', async () => {
  clock.advance(60_000);
  const thief = createPortalBrowser(server);
  for (const [name, value] of owner.browser.cookies) thief.cookies.set(name, value);
  expect((await thief.open('/')).status).toBe(200);
  expect((await signInBy(owner.browser, owner.authenticator)).status).toBe(303);
  expect((await owner.browser.open('/')).status).toBe(200);
  expect((await thief.open('/')).status).toBe(303);
});

it('logs, request log and audit log contain no invitation secret, no session cookie and no new API key', async () => {
  clock.advance(60_000);
  const csrf = fieldIn((await owner.browser.open('/keys')).html, 'csrf');
  const made = await owner.browser.post('/keys', { csrf, act: 'create', mode: 'test' });
  const [, apiKey = ''] = /<pre>(svc_test_\w+)/.exec(made.html) ?? [];
  expect(apiKey.length).toBeGreaterThan(40);
  const secrets = [apiKey, new URL(owner.link).hash.slice(1), owner.browser.cookies.get('svc_portal') ?? ''];
  await server.sweep();
  await server.services.admin.flush();
  const rows = await server.db.collection('requestLog').find().toArray();
  const entries = await server.db.collection('auditLog').find().toArray();
  const written = JSON.stringify([lines, rows, entries]);
  expect(lines.length).toBeGreaterThan(50);
  for (const secret of secrets) expect(written).not.toContain(secret);
});
