import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NoticeEvent } from '../../../contracts/events.ts';
import { checkEveryMs } from '../../../server/operations/warnings/watch.ts';
import { signedIn } from '../../console/portal/signed-in.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { type MailServer, startMailServer } from '../../harness/mail-server.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { adminToken, manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const clock = manualClock();

let mail: MailServer;
let server: TestServer;
/** A second process of the installation. */
let other: TestServer;
beforeAll(async () => {
  mail = await startMailServer();
  const env = { SVC_SMTP_URL: mail.url, SVC_SMTP_FROM: 'svc@verify.example', SVC_PORTAL: 'on' };
  const replacements = { sweepsByHand: true };
  server = await startTestServer({ clock, env, replacements });
  other = await startTestServer({ clock, env: { ...env, MONGODB_URI: server.uri }, replacements });
});
afterAll(async () => {
  await other.stop();
  await server.stop();
  await mail.close();
});
beforeEach(() => {
  mail.mails.length = 0;
});

/** Makes a check due, and lets both processes run it simultaneously. */
async function runChecks(ms = checkEveryMs): Promise<void> {
  clock.advance(ms);
  const ofWarnings = [server, other].map(
    ({ services }) =>
      services.sweeps.find(({ name }) => name === 'warnings')?.sweep() ?? expect.fail('no such sweep'),
  );
  expect(ofWarnings).toHaveLength(2);
  await Promise.all(ofWarnings);
}

const live = (funds: number) =>
  createPartner(server, {
    ...{ mode: 'live', funds, name: 'Weinhaus <Berg>' },
    client: { redirectUris: ['https://shop.example/callback'] },
  });
const raised = ({ partnerId }: Pick<TestPartner, 'partnerId'>, state: 'raised' | 'over' = 'raised') =>
  server.admin.warnings.list.query({ partnerId, state });
const subjects = () => mail.mails.map(({ text }) => /^Subject: (.*(?:\r\n .*)*)/m.exec(text)?.[1] ?? '');

describe('a warning of a low balance', () => {
  it('is sent once to each address, and once again when it ends', async () => {
    const partner = await live(5_000);
    const { partnerId } = partner;
    const emails = ['dev@shop.example', 'ops@shop.example'];
    await server.admin.warnings.set.mutate({ partnerId, emails, lowBalance: { cents: 6_000 } });
    await server.sweep();
    for (let looks = 0; looks < 3; looks += 1) await runChecks();
    expect(mail.mails.flatMap(({ to }) => to).toSorted()).toEqual(emails);
    expect(mail.mails.map(({ login }) => login)).toEqual(['svc', 'svc']);
    const [first] = mail.mails;
    expect(first?.text).toContain('The live wallet has $50.00 left');
    expect(first?.text).toMatch(/^From: svc@verify\.example/m);
    expect(first?.text).toMatch(/^Message-ID: <[\w-]{32}@localhost>/im);
    expect(await raised(partner)).toMatchObject([
      { kind: 'low_balance', state: 'raised', mode: 'live', about: 'live', told: true, overAt: null },
    ]);
    const headers = { authorization: `Bearer ${adminToken}` };
    const page = await (await fetch(`${server.adminUrl}/ops`, { headers })).text();
    expect(page).toContain('Warnings to partners');
    expect(page).toContain('The live wallet has $50.00 left');
    mail.mails.length = 0;
    await server.admin.wallets.fund.mutate({ partnerId, mode: 'live', amount: 5_000, reference: 'two' });
    await server.sweep();
    await runChecks();
    expect(mail.mails).toEqual([]);
    await runChecks(hour);
    await runChecks();
    expect(mail.mails).toHaveLength(2);
    for (const subject of subjects()) expect(subject).toMatch(/^Over: /);
    expect(await raised(partner)).toEqual([]);
    expect(await raised(partner, 'over')).toMatchObject([{ kind: 'low_balance', state: 'over' }]);
  });

  it('is raised for a balance that lasts 3.3 days, unless its setting is off or 2 days', async () => {
    const partner = await live(100_000);
    const { partnerId } = partner;
    const summaries = server.db.collection<{ _id: string }>('walletSummaries');
    await server.sweep();
    const spend = (endsAt: Date) =>
      summaries.updateOne({ _id: `${partnerId}:live` }, { $set: { spentPerDay: 30_000, endsAt } });
    const until = new Date(clock.now() + 3 * day);
    await spend(until);
    await runChecks();
    const [warning] = await raised(partner);
    expect(warning?.text).toMatch(/^The live wallet has \$1,?000\.00 left, enough for 3\.3 days\./);
    expect(warning?.told).toBe(true);
    await server.admin.warnings.set.mutate({ partnerId, lowBalance: 'off' });
    await runChecks(hour + minute);
    expect(await raised(partner)).toEqual([]);
    await server.admin.warnings.set.mutate({ partnerId, lowBalance: { days: 2 } });
    await spend(new Date(clock.now() + 3 * day));
    await runChecks();
    expect(await raised(partner)).toEqual([]);
    const settings = await server.admin.warnings.set.mutate({ partnerId, lowBalance: null });
    expect(settings.lowBalance).toBeNull();
    expect(mail.mails).toEqual([]);
  });

  it('is sent once to each member who wants it, with a List-Unsubscribe header', async () => {
    const partner = await live(5_000);
    const { partnerId } = partner;
    const wanting = await signedIn(server, partnerId, 'viewer', 'wanting');
    const removed = await signedIn(server, partnerId, 'finance', 'removed');
    const ended = await signedIn(server, partnerId, 'developer', 'ended');
    await signedIn(server, partnerId, 'owner', 'silent');
    for (const { api, id: memberId } of [wanting, removed, ended])
      await api.members.setWishes.mutate({ memberId, warnings: true });
    await server.admin.members.remove.mutate({ memberId: removed.id });
    await ended.api.members.setWishes.mutate({ memberId: ended.id, warnings: false });
    // A repeated address gets one e-mail.
    const emails = ['ops@shop.example', wanting.email];
    await server.admin.warnings.set.mutate({ partnerId, emails, lowBalance: { cents: 6_000 } });
    await server.sweep();
    for (let looks = 0; looks < 2; looks += 1) await runChecks();
    expect(mail.mails.flatMap(({ to }) => to).toSorted()).toEqual(emails.toSorted());
    const [first] = mail.mails;
    expect(first?.text).toContain('/portal/warnings says what to do.');
    expect(first?.text).toMatch(/^List-Unsubscribe: <http:\/\/localhost:\d+\/portal\/warnings>/im);
  });

  it('is sent once by the next check after the mail server was unavailable', async () => {
    const { partnerId } = await live(5_000);
    const emails = ['late@shop.example'];
    await server.admin.warnings.set.mutate({ partnerId, emails, lowBalance: { cents: 6_000 } });
    await server.sweep();
    mail.away(true);
    await runChecks();
    expect(mail.mails).toEqual([]);
    expect(await raised({ partnerId })).toMatchObject([{ told: false }]);
    mail.away(false);
    await runChecks();
    await runChecks();
    expect(mail.mails.map(({ to }) => to)).toEqual([emails]);
    expect(await raised({ partnerId })).toMatchObject([{ told: true }]);
  });

  it('cannot be set for malformed addresses or for more than ten addresses', async () => {
    const { partnerId } = await live(0);
    for (const emails of [['x'], ['a@b.example\r\nBcc: c@d.example'], Array(11).fill('a@b.example')]) {
      expect(await refusal(server.admin.warnings.set.mutate({ partnerId, emails }))).toBe('bad_input');
    }
    await server.admin.warnings.set.mutate({ partnerId, emails: ['a@b.example'] });
    const [entry] = await server.admin.auditLog.list.query({ target: partnerId, action: 'warnings.set' });
    expect(entry?.after).toEqual({ emails: 1, lowBalance: null });
  });
});

describe('a notice event', () => {
  it('is sent once when raised and once when over, only to keys that have opted in', async () => {
    const hooks = await createReceiver((_count, _request, response) => response.end());
    const partner = await createPartner(server);
    const { partnerId, keyId } = partner;
    const { id: silent } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    for (const each of [keyId, silent])
      await server.admin.webhooks.set.mutate({ keyId: each, url: hooks.url });
    expect(await server.admin.webhooks.setNotices.mutate({ keyId, notices: true })).toMatchObject({
      notices: true,
    });
    // Starts ten seconds into an hour, which contains all checks.
    clock.set(Math.ceil(clock.now() / hour) * hour + 10_000);
    await server.admin.limits.set.mutate({ partnerId, mode: 'test', perHour: 1 });
    expect((await exchangeCode(server, partner, await completeSession(server, partner))).status).toBe(200);
    await server.sweep();
    for (let looks = 0; looks < 3; looks += 1) await runChecks();
    expect(await raised(partner)).toHaveLength(1);
    const notices = () =>
      hooks.received.filter(({ raw }) => raw.toString('utf8').startsWith('{"event":"notice.'));
    await expect.poll(() => notices().length).toBe(1);
    const [sent] = notices();
    const notice = NoticeEvent.parse(JSON.parse(sent?.raw.toString('utf8') ?? ''));
    expect(notice).toMatchObject({
      event: 'notice.cap_reached',
      partner_id: partnerId,
      state: 'raised',
      about: 'test',
      over_at: null,
    });
    await runChecks(2 * hour);
    await expect.poll(() => notices().length).toBe(2);
    const over = NoticeEvent.parse(JSON.parse(notices()[1]?.raw.toString('utf8') ?? ''));
    expect(over).toMatchObject({ state: 'over', notice_id: notice.notice_id, since: notice.since });
    expect(over.event_id).not.toBe(notice.event_id);
    // Test mode is a rehearsal, so no e-mails are sent.
    expect(mail.mails).toEqual([]);
    const answer = await fetch(`${server.baseUrl}/api/events`, {
      headers: { authorization: `Bearer ${partner.apiKey}` },
    });
    expect(answer.status).toBe(200);
    const { events } = (await answer.json()) as { events: { event: string }[] };
    expect(events.map(({ event }) => event)).toContain('notice.cap_reached');
    const listed = await server.admin.events.list.query({ keyId: silent });
    expect(listed).toEqual([]);
  });

  it('reports a failing endpoint, with the start of the failure and the answers of the endpoint', async () => {
    const hooks = await createReceiver((_count, _request, response) => response.writeHead(503).end());
    const partner = await createPartner(server, { funds: 0 });
    const { keyId } = partner;
    await server.admin.webhooks.set.mutate({ keyId, url: hooks.url });
    const { id } = await server.admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
    // An attempt is recorded before it ends. Only an ended one has an answer.
    const answers = async () =>
      (await server.admin.deliveries.show.query({ deliveryId: id })).attempts.map(({ status }) => status);
    await expect.poll(answers).toEqual([503]);
    await runChecks();
    expect(await raised(partner)).toEqual([]);
    clock.advance(hour);
    // A check during a retry does not see the endpoint. The check a minute later does.
    const checked = async () => {
      await runChecks();
      return raised(partner);
    };
    await expect.poll(checked).toMatchObject([{ kind: 'endpoint_failing', about: keyId, mode: 'test' }]);
    const [warning] = await raised(partner);
    expect(warning?.text).toMatch(
      /^Nothing was delivered to the webhook URL of key_\w+ since .* UTC\. .*503/,
    );
  });

  it('names an old secret that is still used and about to expire, and disappears after the expiry', async () => {
    const partner = await createPartner(server, { funds: 0 });
    const { keyId, apiKey, clientId } = partner;
    await server.admin.keys.rotate.mutate({ keyId, keepOldSeconds: 7_200 });
    await server.admin.clients.rotateSecret.mutate({ clientId, keepOldSeconds: 7_200 });
    const headers = { authorization: `Bearer ${apiKey}` };
    expect((await fetch(`${server.baseUrl}/api/wallet`, { headers })).status).toBe(200);
    await server.services.lastUses.flush();
    await runChecks();
    const found = await raised(partner);
    expect(found).toMatchObject([{ kind: 'secret_expiring', about: keyId }]);
    expect(found[0]?.text).toContain(`The old secret …${apiKey.slice(-4)} of ${keyId} ends at`);
    await runChecks(2 * hour);
    expect(await raised(partner)).toEqual([]);
  });
});
