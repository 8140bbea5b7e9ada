import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemberRole } from '../../../../contracts/admin/members.ts';
import { deviceGrantType } from '../../../../contracts/device-login.ts';
import { createPartner, type TestPartner } from '../../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../../harness/server.ts';
import { createPortalBrowser, signedIn } from '../signed-in.ts';
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
const member = (role: MemberRole = 'owner', partnerId = partner.partnerId) => {
  clock.advance(minute);
  count += 1;
  return signedIn(server, partnerId, role, `guard${count}`);
};
const confirm = (browser: Parameters<typeof actOnDevices>[0], code: string) =>
  actOnDevices(browser, 'confirm', { code });

describe('a device code', () => {
  it('gives a token to one of two simultaneous polls, and later polls get `invalid_grant`', async () => {
    const { browser } = await member();
    const { device_code: code, user_code: userCode } = await device.start();
    expect((await confirm(browser, userCode)).status).toBe(303);
    const both = await Promise.all([device.poll(code), device.poll(code)]);
    expect(both.filter(({ token }) => token !== '')).toHaveLength(1);
    clock.advance(10_000);
    expect(await device.poll(code)).toMatchObject({ error: 'invalid_grant' });
  });

  it('is answered with `slow_down` if it is polled too early, and then must be polled more slowly', async () => {
    await member();
    const { device_code: code } = await device.start();
    expect(await device.poll(code)).toMatchObject({ error: 'authorization_pending' });
    clock.advance(4_999);
    expect(await device.poll(code)).toMatchObject({ error: 'slow_down' });
    clock.advance(5_000);
    expect(await device.poll(code)).toMatchObject({ error: 'slow_down' });
    clock.advance(15_000);
    expect(await device.poll(code)).toMatchObject({ error: 'authorization_pending' });
  });

  it('expires after 10 minutes (`expired_token`), with or without a confirmation', async () => {
    const { browser } = await member();
    const [late, confirmed] = [await device.start(), await device.start()];
    expect((await confirm(browser, confirmed.user_code)).status).toBe(303);
    clock.advance(10 * minute);
    expect((await confirm(browser, late.user_code)).status).toBe(404);
    for (const { device_code: code } of [late, confirmed])
      expect(await device.poll(code)).toMatchObject({ error: 'expired_token' });
  });

  it('is refused with `access_denied` if the member denies the login', async () => {
    const { browser } = await member();
    const { device_code: code, user_code: userCode } = await device.start();
    expect((await actOnDevices(browser, 'deny', { code: userCode })).status).toBe(303);
    expect(await device.poll(code)).toMatchObject({ error: 'access_denied' });
    expect((await confirm(browser, userCode)).status).toBe(404);
  });

  it('is refused with `access_denied` after a removal, a new role, a closure or a suspension since the confirmation', async () => {
    const { partnerId } = await createPartner(server);
    // A partner keeps its only owner.
    await member('owner', partnerId);
    const changes = [
      (memberId: string) => server.admin.members.remove.mutate({ memberId }),
      (memberId: string) => server.admin.members.setRole.mutate({ memberId, role: 'viewer' }),
      () => server.admin.partners.close.mutate({ partnerId, reason: 'left' }),
      async () => {
        await server.admin.partners.activate.mutate({ partnerId });
        await server.admin.partners.suspend.mutate({ partnerId });
      },
    ];
    for (const change of changes) {
      const { browser, id } = await member('owner', partnerId);
      const { device_code: code, user_code: userCode } = await device.start();
      expect((await confirm(browser, userCode)).status).toBe(303);
      await change(id);
      expect(await device.poll(code)).toMatchObject({ error: 'access_denied' });
      expect(
        await server.db
          .collection('memberSessions')
          .countDocuments({ memberId: id, device: { $exists: true } }),
      ).toBe(0);
    }
  });

  it('is refused with 400 if it is missing, malformed, unknown or with another grant type; a long device name also gets 400', async () => {
    await member();
    const grant = { grant_type: deviceGrantType };
    const faults: [Record<string, unknown>, string][] = [
      [{}, 'invalid_request'],
      [grant, 'invalid_request'],
      [{ ...grant, device_code: ['a', 'b'] }, 'invalid_request'],
      [{ ...grant, device_code: 'x'.repeat(300) }, 'invalid_request'],
      [{ ...grant, device_code: 'svc_device_x' }, 'invalid_grant'],
      [{ grant_type: 'password', device_code: 'x' }, 'unsupported_grant_type'],
    ];
    for (const [body, error] of faults)
      expect(await device.post('token', body)).toMatchObject({ status: 400, body: { error } });
    expect(await device.post('authorization', { client_name: 'x'.repeat(65) })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  it('is issued at most ten times a minute to one address, then answers 429', async () => {
    await member();
    const statuses: number[] = [];
    for (let sent = 0; sent < 11; sent += 1) statuses.push((await device.post('authorization', {})).status);
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429]);
  });
});

describe('a user code', () => {
  it('is stored only as a hash, as is its device code', async () => {
    await member();
    const { user_code: code, device_code: deviceCode } = await device.start();
    const stored = JSON.stringify(await server.db.collection('deviceRequests').find().toArray());
    for (const shown of [code, code.replace('-', ''), deviceCode]) expect(stored).not.toContain(shown);
  });

  it('can be guessed five times a minute at most (404); then even the right one gets 429', async () => {
    const { browser } = await member();
    const { user_code: code } = await device.start();
    for (const guess of ['BBBB-BBBB', 'x', '', 'WDJB-MJHT-', '{"$ne":1}'])
      expect((await actOnDevices(browser, 'find', { code: guess })).status).toBe(404);
    expect((await confirm(browser, code)).status).toBe(429);
    clock.advance(minute);
    expect((await confirm(browser, code)).status).toBe(303);
  });

  it('is neither read from the URL of the page nor accepted without the CSRF token (403)', async () => {
    const { browser } = await member();
    const { user_code: code, device_code: deviceCode } = await device.start('attacker');
    expect((await browser.open(`/devices?code=${code}`)).html).not.toContain('attacker');
    expect((await browser.post('/devices', { act: 'confirm', code })).status).toBe(403);
    expect((await browser.post('/devices', { csrf: 'forged', act: 'confirm', code })).status).toBe(403);
    expect(await device.poll(deviceCode)).toMatchObject({ error: 'authorization_pending' });
  });

  it('is confirmed only by a signed-in member whose passkey sign-in is less than 30 minutes ago', async () => {
    const { browser } = await member();
    clock.advance(30 * minute);
    const { user_code: code, device_code: deviceCode } = await device.start();
    const stale = await confirm(browser, code);
    expect([stale.status, stale.html.includes('/portal/sign-in?again=1')]).toEqual([401, true]);
    const stranger = await createPortalBrowser(server).post('/devices', { act: 'confirm', code });
    expect(stranger.response.headers.get('location')).toContain('/portal/sign-in');
    expect(await device.poll(deviceCode)).toMatchObject({ error: 'authorization_pending' });
  });

  it('is confirmed by one of two simultaneous members, and the other gets 404', async () => {
    const [first, second] = [await member(), await member()];
    const { user_code: code } = await device.start();
    const both = await Promise.all([confirm(first.browser, code), confirm(second.browser, code)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 404]);
  });
});

describe('a login token of svc', () => {
  it('gets 401 as a session cookie, and a session cookie gets `unauthorized` as a login token', async () => {
    const { browser, api } = await member();
    const { device_code: code, user_code: userCode } = await device.start();
    await confirm(browser, userCode);
    const { token } = await device.poll(code);
    const thief = createPortalBrowser(server);
    thief.cookies.set('svc_portal', token);
    expect((await thief.open('/trpc/keys.list?input={}')).status).toBe(401);
    const cookie = browser.cookies.get('svc_portal') ?? '';
    expect(await refusal(device.api(cookie).keys.list.query({}))).toBe('unauthorized');
    expect((await device.withToken(cookie)).status).toBe(401);
    expect(await refusal(device.api('').keys.list.query({}))).toBe('unauthorized');
    expect(await api.keys.list.query({})).not.toEqual([]);
  });

  it('is refused with 429 after too many requests in a minute', async () => {
    const { browser } = await member();
    const { device_code: code, user_code: userCode } = await device.start();
    await confirm(browser, userCode);
    const { token } = await device.poll(code);
    clock.advance(minute);
    const statuses = new Set<number>();
    // A partner has at most 16 requests in flight.
    for (let sent = 0; sent < 245; sent += 7) {
      const answers = await Promise.all(Array.from({ length: 7 }, () => device.withToken(token)));
      for (const { status } of answers) statuses.add(status);
    }
    expect([...statuses].toSorted()).toEqual([200, 429]);
  });

  it('is issued to a member for at most 20 logins at a time; the next confirmation answers 422', async () => {
    const { browser, id: memberId } = await member();
    const logIn = async () => {
      const { device_code: code, user_code: userCode } = await device.start();
      expect((await confirm(browser, userCode)).status).toBe(303);
      expect((await device.poll(code)).token).not.toBe('');
    };
    await logIn();
    const sessions = server.db.collection<{ _id: string }>('memberSessions');
    const first = await sessions.findOne({ memberId, device: { $exists: true } });
    await sessions.insertMany(Array.from({ length: 18 }, (_, n) => ({ ...first, _id: `copy ${n}` })));
    await logIn();
    const { user_code: userCode } = await device.start();
    expect((await confirm(browser, userCode)).status).toBe(422);
  });
});

it('the device endpoints do not exist if SVC_PORTAL is off', async () => {
  const off = await startTestServer();
  for (const path of ['authorization', 'token'])
    expect((await fetch(`${off.publicUrl}/portal/device/${path}`, { method: 'POST' })).status).toBe(404);
  await off.stop();
});
