import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { closeRestored } from '../../../server/process/backup/restored.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';
import { actOnDevices, createDevice } from './device/device-harness.ts';
import { createPortalBrowser, openInvitation, signedIn, signInBy } from './signed-in.ts';

const clock = manualClock();
let server: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server);
});
afterAll(() => server.stop());

const invite = (email: string, role: 'owner' | 'viewer' = 'owner') =>
  server.admin.members.invite.mutate({ partnerId: partner.partnerId, email, role });
const entriesOf = (target: string) => server.admin.auditLog.list.query({ target });
const stored = (memberId: string) =>
  server.db.collection<{ _id: string; revision: number }>('members').findOne({ _id: memberId });
/** Opens the page of an invitation. */
const statusOfPage = async (link: string) => (await openInvitation(createPortalBrowser(server), link)).status;

describe('members of a partner', () => {
  it('are invited by a link whose secret is valid for 48 hours, and is neither stored nor in the audit log', async () => {
    const { link, ...member } = await invite('Kim@Shop.Example ');
    expect(member).toMatchObject({ email: 'kim@shop.example', role: 'owner', status: 'invited' });
    expect(member.invitedUntil).toBe(new Date(clock.now() + 48 * 3_600_000).toISOString());
    const [, secret = ''] = /\/portal\/invitations#(svc_invite_\w+)$/.exec(link) ?? [];
    const record = JSON.stringify(await stored(member.id));
    expect(secret.length).toBeGreaterThan(50);
    expect(record).not.toContain(secret);
    expect(JSON.stringify(await entriesOf(member.id))).not.toContain(secret);
    expect(await statusOfPage(link)).toBe(200);
    clock.advance(48 * 3_600_000);
    expect(await statusOfPage(link)).toBe(404);
    const shown = await server.admin.members.show.query({ memberId: member.id });
    expect(shown.invitedUntil).toBeNull();
  });

  it('have one record per e-mail address: a second invitation changes the role, keeps the id and ends the earlier link', async () => {
    const first = await invite('twice@shop.example', 'viewer');
    const second = await invite('twice@shop.example');
    expect(second).toMatchObject({ id: first.id, role: 'owner' });
    expect(await statusOfPage(first.link)).toBe(404);
    expect(await statusOfPage(second.link)).toBe(200);
    const both = await Promise.all([invite('race@shop.example'), invite('race@shop.example')]);
    expect(new Set(both.map(({ id }) => id)).size).toBe(1);
  });

  it('are separate records if two partners invite one address', async () => {
    const other = await createPartner(server);
    const here = await invite('both@shop.example');
    const there = await server.admin.members.invite.mutate({
      ...{ partnerId: other.partnerId, email: 'both@shop.example', role: 'viewer' },
    });
    expect(there.id).not.toBe(here.id);
    const listed = await server.admin.members.list.query({ partnerId: other.partnerId });
    expect(listed.map(({ id }) => id)).toEqual([there.id]);
    expect(await server.admin.members.count.query({ partnerId: other.partnerId })).toMatchObject({
      total: 1,
    });
  });

  it('are removed with their e-mail address: afterwards neither the record nor the audit log contains it', async () => {
    const { id: memberId } = await invite('gone@shop.example');
    await server.admin.members.setRole.mutate({ memberId, role: 'finance' });
    const removed = await server.admin.members.remove.mutate({ memberId });
    expect(removed).toMatchObject({ status: 'removed', email: null, invitedUntil: null });
    expect(JSON.stringify(await stored(memberId))).not.toContain('gone@shop');
    const entries = await entriesOf(memberId);
    expect(entries.map(({ action }) => action).toSorted()).toEqual([
      'members.invite',
      'members.remove',
      'members.setRole',
    ]);
    expect(JSON.stringify(entries)).not.toContain('gone@shop');
    const role = server.admin.members.setRole.mutate({ memberId, role: 'owner' });
    expect(await refusal(role)).toBe('refused');
    expect(JSON.stringify(await entriesOf(memberId))).not.toContain('gone@shop');
    expect(await invite('gone@shop.example')).toMatchObject({ id: memberId, status: 'invited' });
  });

  it('include at least one owner: the only active one cannot be removed or get another role (`refused`) until another owner has accepted', async () => {
    clock.advance(60_000);
    const { partnerId } = await createPartner(server);
    const { id: memberId, email } = await signedIn(server, partnerId, 'owner', 'only');
    await server.admin.members.invite.mutate({ partnerId, email: 'new@shop.example', role: 'viewer' });
    const { members } = server.admin;
    const ends = [
      () => members.remove.mutate({ memberId }),
      () => members.setRole.mutate({ memberId, role: 'developer' }),
      () => members.invite.mutate({ partnerId, email, role: 'viewer' }),
    ];
    for (const end of ends) expect(await refusal(end())).toBe('refused');
    await expect(members.remove.mutate({ memberId })).rejects.toThrow(
      `svcadmin members invite ${partnerId} EMAIL --role owner`,
    );
    const owner = { role: 'owner', status: 'active' };
    expect(await members.show.query({ memberId })).toMatchObject(owner);
    expect(await members.invite.mutate({ partnerId, email, role: 'owner' })).toMatchObject(owner);

    await members.invite.mutate({ partnerId, email: 'next@shop.example', role: 'owner' });
    expect(await refusal(members.remove.mutate({ memberId }))).toBe('refused');
    await signedIn(server, partnerId, 'owner', 'next');
    expect(await members.remove.mutate({ memberId })).toMatchObject({ status: 'removed' });
  });

  it('are stored separately: a new role and the removal of a viewer leave the record of an owner unchanged', async () => {
    clock.advance(60_000);
    const { partnerId } = await createPartner(server);
    const owner = await signedIn(server, partnerId, 'owner', 'untouched');
    const wanted = { partnerId, email: 'viewer@shop.example', role: 'viewer' } as const;
    const { id: memberId } = await server.admin.members.invite.mutate(wanted);
    const before = await stored(owner.id);
    await server.admin.members.setRole.mutate({ memberId, role: 'finance' });
    await server.admin.members.remove.mutate({ memberId });
    expect(await stored(owner.id)).toEqual(before);
  });

  it('are not found for an unknown partner or id, and a malformed address is `bad_input`', async () => {
    const wrong = { partnerId: `ptr_${'0'.repeat(22)}`, email: 'kim@shop.example', role: 'owner' } as const;
    expect(await refusal(server.admin.members.invite.mutate(wrong))).toBe('not_found');
    expect(await refusal(invite('kim'))).toBe('bad_input');
    expect(await refusal(server.admin.members.show.query({ memberId: 'mem_x' }))).toBe('not_found');
  });

  it('cannot be invited if SVC_PORTAL is off', async () => {
    const off = await startTestServer();
    onTestFinished(() => off.stop());
    const { partnerId } = await createPartner(off);
    const wanted = { partnerId, email: 'kim@shop.example', role: 'owner' } as const;
    expect(await refusal(off.admin.members.invite.mutate(wanted))).toBe('refused');
  });

  it('lose invitations, sessions and logins when a restored database is closed, but keep all other data', async () => {
    const restored = await startTestServer({ env: { SVC_PORTAL: 'on' } });
    onTestFinished(() => restored.stop());
    const { partnerId } = await createPartner(restored);
    const owner = await signedIn(restored, partnerId, 'owner');
    const wanted = { partnerId, email: 'kim@shop.example', role: 'viewer' } as const;
    const invited = await restored.admin.members.invite.mutate(wanted);
    const device = createDevice(restored);
    const [used, confirmed, open] = [await device.start(), await device.start(), await device.start()];
    for (const { user_code: code } of [used, confirmed])
      expect((await actOnDevices(owner.browser, 'confirm', { code })).status).toBe(303);
    const { token } = await device.poll(used.device_code);
    expect((await device.withToken(token)).status).toBe(200);

    const masterKeys = [new Uint8Array(Buffer.alloc(32, 7))];
    async function close() {
      // As if the process had stopped: `closeRestored` refuses a database that serves.
      await restored.db.collection('processes').deleteMany({});
      return closeRestored({ uri: restored.uri, embedded: false, source: 'a test', masterKeys });
    }
    expect(await close()).toMatchObject({ memberSessions: 2, invitations: 1 });
    expect((await owner.browser.open('/')).status).toBe(303);
    expect((await device.withToken(token)).status).toBe(401);
    for (const { device_code: code } of [used, confirmed, open])
      expect(await device.poll(code)).toMatchObject({ error: 'invalid_grant' });
    const { status } = await openInvitation(createPortalBrowser(restored), invited.link);
    expect(status).toBe(404);
    expect(await restored.admin.members.show.query({ memberId: invited.id })).toMatchObject({
      ...{ email: wanted.email, role: 'viewer', status: 'invited', invitedUntil: null },
    });
    expect((await signInBy(owner.browser, owner.authenticator)).status).toBe(303);
    expect((await owner.browser.open('/members')).html).toContain(wanted.email);
    expect(await close()).toMatchObject({ memberSessions: 1, invitations: 0 });
  });
});
