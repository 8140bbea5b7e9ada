import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemberRole } from '../../../../contracts/admin/members.ts';
import { createPartner, type TestPartner } from '../../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../../harness/server.ts';
import { acceptInvitation, createPortalBrowser, fieldIn, invite, signedIn, signInBy } from '../signed-in.ts';
import { actOnDevices, createDevice } from './device-harness.ts';

const minute = 60_000;
const clock = manualClock();
let server: TestServer;
let partner: TestPartner;
let device: ReturnType<typeof createDevice>;
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server);
  device = createDevice(server);
});
afterAll(() => server.stop());

let count = 0;
/** Signs a new member in. Advances the clock by a minute, because requests are limited per minute. */
const member = (role: MemberRole = 'owner', partnerId = partner.partnerId) => {
  clock.advance(minute);
  count += 1;
  return signedIn(server, partnerId, role, `device${count}`);
};

/** Signs a new member in, who confirms a login of `svc`. Returns the member with the login's token. */
async function loggedIn(role: MemberRole = 'owner', partnerId = partner.partnerId) {
  const one = await member(role, partnerId);
  const { device_code: code, user_code: userCode } = await device.start();
  expect((await actOnDevices(one.browser, 'confirm', { code: userCode })).status).toBe(303);
  const { token } = await device.poll(code);
  expect(token).toMatch(/^svc_login_/);
  return { ...one, token, svc: device.api(token) };
}
const isIn = async (token: string) => (await device.withToken(token)).status === 200;

describe('a login of svc', () => {
  it('yields a token through oauth4webapi, a client library for the device grant (RFC 8628)', async () => {
    const { browser } = await member('developer');
    const as: oauth.AuthorizationServer = {
      issuer: server.publicUrl,
      device_authorization_endpoint: `${server.publicUrl}/portal/device/authorization`,
      token_endpoint: `${server.publicUrl}/portal/device/token`,
    };
    const client = { client_id: 'svc' };
    const insecure = { [oauth.allowInsecureRequests]: true };
    const asked = await oauth.deviceAuthorizationRequest(as, client, oauth.None(), {}, insecure);
    const grant = await oauth.processDeviceAuthorizationResponse(as, client, asked);
    expect(grant).toMatchObject({ expires_in: 600, interval: 5 });
    expect(grant.verification_uri).toBe(`${server.baseUrl}/portal/devices`);
    expect(grant.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    const poll = async () =>
      oauth.processDeviceCodeResponse(
        ...[
          as,
          client,
          await oauth.deviceCodeGrantRequest(as, client, oauth.None(), grant.device_code, insecure),
        ],
      );
    await expect(poll()).rejects.toMatchObject({ error: 'authorization_pending', status: 400 });
    expect((await actOnDevices(browser, 'confirm', { code: grant.user_code })).status).toBe(303);
    clock.advance(5_000);
    const { access_token: token, expires_in: seconds } = await poll();
    expect(seconds).toBe(12 * 3600);
    expect(await device.api(token).keys.list.query({})).not.toEqual([]);
  });

  it('is shown to the member before the confirmation with device name, IP address and the rights of the role', async () => {
    const { browser } = await member('viewer');
    const { user_code: code } = await device.start('build\u001b[2J box');
    const { status, html } = await actOnDevices(browser, 'find', {
      code: code.toLowerCase().replace('-', ' '),
    });
    expect(status).toBe(200);
    for (const shown of [code, 'build [2J box', '127.0.0.1', 'viewer', 'change nothing'])
      expect(html).toContain(shown);
    expect(html).not.toContain('\u001b');
  });

  it('is answered by whoami with its member, and can do only what the role of the member may do', async () => {
    const { svc, token, id, email } = await loggedIn('viewer');
    const { partnerId, keyId } = partner;
    expect(await device.whoami(token)).toMatchObject({
      ...{ memberId: id, email, role: 'viewer', partnerId, partner: 'Acme Cinema', name: 'laptop' },
      environment: 'development',
    });
    expect(await svc.keys.list.query({})).toMatchObject([{ id: keyId }]);
    expect(await refusal(svc.keys.create.mutate({ partnerId, mode: 'test' }))).toBe('not_permitted');
    expect(await refusal(svc.members.list.query({ partnerId }))).toBe('not_permitted');
    expect(await refusal(svc.partners.list.query({}))).toBe('route_not_found');
  });

  it('can create keys for 30 minutes after the passkey sign-in; then the member must sign in and allow it again', async () => {
    const { svc, browser, authenticator, token } = await loggedIn();
    const wanted = { partnerId: partner.partnerId, mode: 'test' } as const;
    expect(await svc.keys.create.mutate(wanted)).toMatchObject(wanted);
    clock.advance(30 * minute);
    expect(await refusal(svc.keys.create.mutate(wanted))).toBe('passkey_required');
    expect((await device.whoami(token)).changesUntil).toBeNull();
    const login = fieldIn((await browser.open('/devices')).html, 'login');
    const stale = await actOnDevices(browser, 'allow', { login });
    expect([stale.status, stale.html.includes('/portal/sign-in?again=1')]).toEqual([401, true]);
    expect((await signInBy(browser, authenticator)).status).toBe(303);
    expect((await actOnDevices(browser, 'allow', { login })).status).toBe(303);
    expect(await svc.keys.create.mutate(wanted)).toMatchObject(wanted);
  });

  it('is in the audit log with its confirmation, its changes and its end', async () => {
    const { svc, id, token } = await loggedIn();
    await svc.clients.update.mutate({ clientId: partner.clientId, name: 'By svc' });
    expect((await device.withToken(token, { method: 'DELETE' })).status).toBe(204);
    const entries = await server.admin.auditLog.list.query({ actor: id });
    expect(entries.map(({ action, operatorName }) => [action, operatorName]).toSorted()).toEqual([
      ['clients.update', 'member (owner) by svc'],
      ['devices.confirm', 'member (owner)'],
      ['devices.end', 'member (owner) by svc'],
      ['members.accept', 'member (owner)'],
    ]);
    expect(JSON.stringify(entries)).not.toContain(token);
  });
});

describe('the login token of svc', () => {
  it('ends after 12 hours, and is stored as a hash', async () => {
    const { token } = await loggedIn();
    const stored = JSON.stringify(await server.db.collection('memberSessions').find().toArray());
    expect(stored).not.toContain(token);
    clock.advance(12 * 60 * minute - 1);
    expect(await isIn(token)).toBe(true);
    clock.advance(1);
    expect(await isIn(token)).toBe(false);
  });

  it('ends at a logout, or if its member ends the login in the portal', async () => {
    const [first, second] = [await loggedIn('developer'), await loggedIn('developer')];
    expect((await device.withToken(first.token, { method: 'DELETE' })).status).toBe(204);
    expect(await isIn(first.token)).toBe(false);
    expect((await device.withToken(first.token, { method: 'DELETE' })).status).toBe(401);
    const login = fieldIn((await second.browser.open('/devices')).html, 'login');
    expect((await actOnDevices(first.browser, 'end', { login })).status).toBe(404);
    expect(await isIn(second.token)).toBe(true);
    expect((await actOnDevices(second.browser, 'end', { login })).status).toBe(303);
    expect(await isIn(second.token)).toBe(false);
  });

  it('can be ended by an owner with a passkey sign-in of the last 30 minutes; other members get 404', async () => {
    const { id, email, token } = await loggedIn('developer');
    const [boss, colleague] = [await member('owner'), await member('developer')];
    const stranger = await member('owner', (await createPartner(server)).partnerId);
    for (const { browser } of [colleague, stranger])
      expect((await browser.open('/devices')).html).not.toContain(`laptop: ${email}`);
    const { html } = await boss.browser.open('/devices');
    const login = fieldIn(html.slice(html.indexOf(`laptop: ${email}`)), 'login');
    for (const { browser } of [colleague, stranger])
      expect((await actOnDevices(browser, 'end', { login })).status).toBe(404);
    expect((await actOnDevices(boss.browser, 'allow', { login })).status).toBe(404);
    clock.advance(30 * minute);
    expect((await actOnDevices(boss.browser, 'end', { login })).status).toBe(401);
    expect(await isIn(token)).toBe(true);
    await signInBy(boss.browser, boss.authenticator);
    expect((await actOnDevices(boss.browser, 'end', { login })).status).toBe(303);
    expect(await isIn(token)).toBe(false);
    await server.sweep();
    const [entry] = await server.admin.auditLog.list.query({ action: 'devices.end', limit: 1 });
    expect(entry).toMatchObject({ operatorId: boss.id, input: { memberId: id, name: 'laptop' } });
  });

  it('ends when the member is removed, gets another role or accepts a new invitation', async () => {
    const [removed, changed, replaced] = [await loggedIn(), await loggedIn(), await loggedIn()];
    await server.admin.members.remove.mutate({ memberId: removed.id });
    expect(await refusal(removed.svc.keys.list.query({}))).toBe('unauthorized');
    await server.admin.members.setRole.mutate({ memberId: changed.id, role: 'viewer' });
    await server.admin.members.setRole.mutate({ memberId: changed.id, role: 'finance' });
    expect(await isIn(changed.token)).toBe(false);
    const wanted = { partnerId: partner.partnerId, email: replaced.email, role: 'owner' } as const;
    const { link } = await invite(server, wanted);
    expect(await isIn(replaced.token)).toBe(true);
    const accepted = await acceptInvitation(createPortalBrowser(server), link, replaced.authenticator);
    expect(accepted.status).toBe(303);
    expect(await isIn(replaced.token)).toBe(false);
  });

  it.each([
    ['suspended', (partnerId: string) => server.admin.partners.suspend.mutate({ partnerId })],
    ['closed', (partnerId: string) => server.admin.partners.close.mutate({ partnerId, reason: 'left' })],
  ])(
    'ends when the partner is %s, and stays ended when the partner is activated again',
    async (_status, end) => {
      const { partnerId } = await createPartner(server);
      const [asked, silent] = [await loggedIn('owner', partnerId), await loggedIn('owner', partnerId)];
      await end(partnerId);
      expect(await isIn(asked.token)).toBe(false);
      await server.admin.partners.activate.mutate({ partnerId, reason: 'left' });
      expect(await isIn(asked.token)).toBe(false);
      expect(await isIn(silent.token)).toBe(false);
    },
  );
});
