import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TestAuthenticator } from '../../harness/authenticator.ts';
import { type MailServer, startMailServer } from '../../harness/mail-server.ts';
import { createPartner } from '../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';
import {
  acceptInvitation,
  createPortalBrowser,
  fieldIn,
  openInvitation,
  type SignedInMember,
  signedIn,
} from './signed-in.ts';

const clock = manualClock();
let server: TestServer;
let mails: MailServer;
let partnerId: string;
let owner: SignedInMember;
beforeAll(async () => {
  mails = await startMailServer();
  server = await startTestServer({
    clock,
    env: { SVC_PORTAL: 'on', SVC_SMTP_URL: mails.url, SVC_SMTP_FROM: 'svc@verify.example' },
  });
  partnerId = (await createPartner(server)).partnerId;
  owner = await signedIn(server, partnerId, 'owner');
});
afterAll(async () => {
  await server.stop();
  await mails.close();
});

type Role = 'owner' | 'viewer' | 'finance';
const invite = (email: string, role: Role) => server.admin.members.invite.mutate({ partnerId, email, role });
const pageOf = (link: string) => openInvitation(createPortalBrowser(server), link);
const accept = (link: string) => {
  const authenticator = new TestAuthenticator(new URL(server.baseUrl).origin);
  return acceptInvitation(createPortalBrowser(server), link, authenticator);
};
const submit = async (path: string, form: Record<string, string>) => {
  const { html } = await owner.browser.open(path);
  return owner.browser.post(path, { csrf: fieldIn(html, 'csrf'), ...form });
};
const hours = 3_600_000;

describe('an invitation by support, once a partner has an active owner', () => {
  it('waits until an owner confirms it if it is of an owner, and all owners get an e-mail', async () => {
    const { id, link, heldUntil } = await invite('self@support.example', 'owner');
    expect(heldUntil).toBe(new Date(clock.now() + 24 * hours).toISOString());
    await vi.waitFor(() => expect(mails.mails.some(({ to }) => to.includes(owner.email))).toBe(true));
    const { status, html } = await pageOf(link);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(html).toContain('waits for an owner');
    expect((await owner.browser.open('/members')).html).toContain('Invitations by support');
    const byOperator = server.admin.members.confirmInvitation.mutate({ memberId: id });
    expect(await refusal(byOperator)).toBe('not_permitted');
    expect((await submit(`/members/${id}`, { act: 'confirmInvitation' })).status).toBe(303);
    expect((await pageOf(link)).html).toContain('support');
    expect((await accept(link)).status).toBe(303);
    const acts = await owner.api.members.acts.query({ partnerId });
    const accepted = acts.find(({ action }) => action === 'members.accept');
    expect(accepted?.after).toMatchObject({ invitedBy: 'support' });
    const entries = await server.admin.auditLog.list.query({ target: id });
    const seenBySupport = entries.find(({ action }) => action === 'members.accept');
    expect(String(seenBySupport?.after?.['invitedBy'])).not.toBe('support');
    await owner.api.members.remove.mutate({ memberId: id });
  });

  it('leaves passkey and role of an existing member as they are, and ends if an owner refuses it', async () => {
    const member = await signedIn(server, partnerId, 'viewer', 'kim');
    const { link } = await invite(member.email, 'owner');
    expect(await server.admin.members.show.query({ memberId: member.id })).toMatchObject({
      ...{ role: 'viewer', status: 'active', invitedAs: 'owner' },
    });
    expect((await member.browser.open('/')).status).toBe(200);
    expect((await submit(`/members/${member.id}`, { act: 'refuseInvitation' })).status).toBe(303);
    clock.advance(25 * hours);
    expect((await pageOf(link)).status).toBe(404);
  });

  it('can be used after 24 hours without an answer, and then gives the new role', async () => {
    const fresh = await signedIn(server, partnerId, 'viewer', 'lee');
    const { link } = await invite(fresh.email, 'finance');
    clock.advance(24 * hours);
    expect((await accept(link)).status).toBe(303);
    expect(await server.admin.members.show.query({ memberId: fresh.id })).toMatchObject({
      ...{ role: 'finance', invitedAs: null, heldUntil: null },
    });
  });

  it('waits if it is of the only owner, and cannot take the role from an owner', async () => {
    const { heldUntil } = await invite(owner.email, 'owner');
    expect(heldUntil).not.toBeNull();
    expect(await refusal(invite(owner.email, 'viewer'))).toBe('refused');
  });

  it('is the only way of support to a new owner: a change of the role is refused', async () => {
    const { id: memberId, heldUntil } = await invite('new@support.example', 'viewer');
    expect(heldUntil).toBeNull();
    expect(await refusal(server.admin.members.setRole.mutate({ memberId, role: 'owner' }))).toBe('refused');
  });
});

it('an invitation by support of the first owner, or by an owner, can be used immediately, and names the owner', async () => {
  const { partnerId: other } = await createPartner(server);
  const first = { partnerId: other, email: 'first@shop.example', role: 'owner' } as const;
  expect((await server.admin.members.invite.mutate(first)).heldUntil).toBeNull();
  const boss = await signedIn(server, other, 'owner');
  const second = { partnerId: other, email: 'second@shop.example', role: 'owner' } as const;
  const invited = await boss.api.members.invite.mutate(second);
  expect(invited.heldUntil).toBeNull();
  const seenByInvited = (await pageOf(invited.link)).html;
  const seenByOwner = (await boss.browser.open(`/members/${invited.id}`)).html;
  for (const html of [seenByInvited, seenByOwner]) expect(html).toContain(`<dd>${boss.email}</dd>`);
});
