import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerPage } from '../../server/billing/ledger/ledger-page.ts';
import { soundLedger } from '../billing/ledger-snapshot.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';

const clock = manualClock();
let service: TestServer;
beforeAll(async () => {
  service = await startTestServer({ clock });
});
afterAll(() => service.stop());

const userinfo = async (token: string) =>
  fetch(`${service.baseUrl}/api/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } });

/** Verifies the sandbox user `adult`, and exchanges the code. */
async function verifyAndExchange(partner: TestPartner) {
  const verified = await completeSession(service, partner);
  const answer = await exchangeCode(service, partner, verified);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const { sub } = (await (await userinfo(token)).json()) as { sub: string };
  return { token, sub };
}

/** Returns all documents of the database as text. */
async function readDatabase(): Promise<string> {
  const collections = await service.db.listCollections().toArray();
  const found = await Promise.all(
    collections.map(async ({ name }) => [name, await service.db.collection(name).find().toArray()] as const),
  );
  return JSON.stringify(found);
}

/** Waits until all events of the charges are published. */
const waitForEvents = async ({ partnerId }: TestPartner) =>
  expect
    .poll(() =>
      service.db.collection('ledger').countDocuments({ walletId: `${partnerId}:test`, unpublished: true }),
    )
    .toBe(0);

describe('users erase', () => {
  it('removes the id and subject of a user from all data except the audit log', async () => {
    const partner = await createPartner(service);
    const first = await verifyAndExchange(partner);
    const { token, sub } = await verifyAndExchange(partner);
    expect(sub).toBe(first.sub);
    await waitForEvents(partner);
    const user = await service.admin.users.show.query({ user: sub });
    expect(user).toMatchObject({ mode: 'test', sessions: 2, enrollments: [{ sub, status: 'active' }] });
    expect(user.claims.find(({ name }) => name === 'age_18_plus')).toMatchObject({
      value: true,
      fresh: true,
    });
    const [enrollment] = user.enrollments;
    expect(await service.admin.users.show.query({ user: enrollment?.id ?? '' })).toEqual(user);
    const digests = () => service.db.collection<LedgerPage>('ledger').distinct('digest');
    const before = await digests();
    const sessions = service.db.collection('sessions');
    const { partnerId } = partner;
    await sessions.updateMany({ partnerId }, { $set: { clientReferenceId: 'customer-17' } });

    const erased = await service.admin.users.erase.mutate({ userId: user.id });
    expect(erased).toEqual({ id: user.id, enrollments: 1, sessions: 2, accesses: 2, events: 4 });

    expect((await userinfo(token)).status).toBe(401);
    expect(await sessions.countDocuments({ partnerId, clientReferenceId: { $exists: true } })).toBe(0);
    const { charges } = await soundLedger(service.db, `${partner.partnerId}:test`);
    expect(charges.map(({ grant }) => grant)).toEqual([undefined, undefined]);
    expect(charges.every(({ grantSeal }) => grantSeal)).toBe(true);
    const audited = await service.admin.wallets.audit.query({ partnerId: partner.partnerId });
    expect(audited.flatMap(({ findings }) => findings)).toEqual([]);
    const events = await service.db.collection('events').find({ partnerId: partner.partnerId }).toArray();
    expect(events).toHaveLength(4);
    for (const { body, sub: about } of events) {
      expect(about).toBeUndefined();
      expect(JSON.parse(body)).toMatchObject({ user_id: 'erased' });
      if ('claims' in JSON.parse(body)) expect(JSON.parse(body).claims).toEqual({});
    }
    expect(await digests()).toEqual(before);
    await expect(service.admin.users.show.query({ user: sub })).rejects.toThrow('No user');
    await expect(service.admin.users.erase.mutate({ userId: user.id })).rejects.toThrow('No user');

    clock.advance(61_000);
    await service.sweep();
    const left = await readDatabase();
    expect(left).not.toContain(sub);
    // Only the audit log still records that an operator has read and erased this user.
    const noted = (action: string) => left.split(`"action":"${action}"`).length - 1;
    expect(left.split(user.id)).toHaveLength(1 + noted('users.show') + 2 * noted('users.erase'));
  });

  it('makes the same person a new user with a new subject', async () => {
    const partner = await createPartner(service);
    const before = await verifyAndExchange(partner);
    const { id } = await service.admin.users.show.query({ user: before.sub });
    await service.admin.users.erase.mutate({ userId: id });
    const after = await verifyAndExchange(partner);
    expect(after.sub).not.toBe(before.sub);
    const eventTypes = () => service.db.collection('events').distinct('type', { sub: after.sub });
    await expect.poll(eventTypes).toEqual(['enrollment.created', 'verification.session.completed']);
  });

  it('makes an unused code fail with invalid_grant', async () => {
    const partner = await createPartner(service);
    const { sub } = await verifyAndExchange(partner);
    const pending = await completeSession(service, partner);
    const { id } = await service.admin.users.show.query({ user: sub });
    await service.admin.users.erase.mutate({ userId: id });
    const answer = await exchangeCode(service, partner, pending);
    expect(await answer.json()).toMatchObject({ error: 'invalid_grant' });
    await waitForEvents(partner);
  });

  it('deletes, 61 s later, the subject from a ledger page that a concurrent exchange wrote after the erasure', async () => {
    const partner = await createPartner(service);
    const { sub } = await verifyAndExchange(partner);
    await waitForEvents(partner);
    const { id } = await service.admin.users.show.query({ user: sub });
    const pages = service.db.collection<LedgerPage>('ledger');
    const written = (await soundLedger(service.db, `${partner.partnerId}:test`)).pages;
    await service.admin.users.erase.mutate({ userId: id });
    // This has the effect of an exchange that read the user before the erasure and writes its page after it.
    for (const page of written) await pages.replaceOne({ _id: page._id }, page);
    expect(await pages.countDocuments({ 'entries.grant.sub': sub })).toBeGreaterThan(0);
    clock.advance(61_000);
    await service.sweep();
    expect(await pages.countDocuments({ 'entries.grant.sub': sub })).toBe(0);
    expect(await service.db.collection('users').countDocuments({ _id: id as never })).toBe(0);
  });
});
