import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longestHoldDays } from '../../contracts/retention.ts';
import { indexes } from '../../server/operations/schema/collections.ts';
import { heldEveryMs, releasedMs } from '../../server/people/erasure/holds.ts';
import { sweepExpired } from '../../server/platform/database/sweep.ts';
import { completeSession } from '../harness/completed-session.ts';
import type { TestPartner } from '../harness/partner.ts';
import { refusal } from '../harness/server.ts';
import { type Hosted, onboard, startHosted } from '../pages/hosted.ts';
import { root, signedIn } from '../pages/your-data/signed-in.ts';
import { saved } from './passkeys/passkey-browser.ts';

const day = 86_400_000;
let hosted: Hosted;
let partner: TestPartner;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted({ env: { SVC_PASSKEYS: 'on' } });
  partner = await onboard(hosted);
  ({ clientId } = partner);
});
afterAll(() => hosted.close());

type User = Awaited<ReturnType<typeof saved>>;
type Id = Pick<User, 'userId'>;
/** A user without a passkey. */
async function someone(): Promise<Id> {
  const { sessionId } = await completeSession(hosted, partner, 'new-adult');
  return { userId: (await hosted.stores.sessions.find(sessionId))?.userId ?? '' };
}
const inDays = (days: number) => new Date(hosted.clock.now() + days * day).toISOString();
const reason = 'court order 12/27';
const hold = ({ userId }: Id, days: number) =>
  hosted.admin.users.hold.mutate({ userId, until: inDays(days), reason });
const release = ({ userId }: Id) => hosted.admin.users.release.mutate({ userId, reason: 'settled' });
const holdOf = async ({ userId }: Id) => (await hosted.admin.users.show.query({ user: userId, reason })).hold;

/** The collections with records of a user, and how they name the user. */
const held: Record<string, (user: User) => object> = {
  users: ({ userId }) => ({ $or: [{ _id: userId }, { userId }] }),
  enrollments: ({ userId }) => ({ userId }),
  passkeys: ({ userId }) => ({ userId }),
  sessions: ({ userId }) => ({ userId }),
  events: ({ sub }) => ({ sub }),
  deliveries: ({ sub }) => ({ sub }),
};
/** The other collections whose documents expire. Their documents name no user, or are no records of one. */
const notHeld = [
  ...['bulkJobs', 'bulkPaces', 'deviceRequests', 'memberSessions', 'members', 'processes', 'requestGaps'],
  ...['requestLog', 'requestWindows', 'revocations', 'serviceHours', 'warnings'],
];

/** Deletes what expires until `days` from now, and forgets old claims. @returns the records that are left, and the claims */
async function leftAfter(user: User, days: number) {
  const ms = days * day;
  hosted.clock.advance(ms);
  await hosted.sweepFlow();
  await sweepExpired(hosted.db, indexes, new Date(hosted.clock.now()));
  hosted.clock.advance(-ms);
  const counts = Object.entries(held).map(async ([name, filter]) => [
    name,
    await hosted.db.collection(name).countDocuments(filter(user)),
  ]);
  const stored = await hosted.stores.users.find(user.userId);
  return { ...Object.fromEntries(await Promise.all(counts)), claims: Object.keys(stored?.claims ?? {}) };
}

describe('a legal hold', () => {
  it('covers each collection whose documents expire, or the list of this test says that it does not', () => {
    const expiring = indexes.filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
    const names = [...new Set(expiring.map(({ collection }) => collection))].sort();
    expect(names).toEqual([...Object.keys(held), ...notHeld].sort());
  });

  it('keeps the claims and all records of a user until its end, also those that are made later', async () => {
    const user = await saved(hosted, clientId);
    const before = await leftAfter(user, 0);
    expect(Object.values(before).every((left) => left !== 0)).toBe(true);
    await hold(user, 800);
    // A later session has its own expiry until the next sweep.
    hosted.clock.advance(heldEveryMs);
    await user.browser.verify(clientId, 'adult');
    await hosted.db
      .collection('sessions')
      .updateMany({ userId: user.userId }, { $set: { purgeAt: new Date() } });
    await hosted.sweepFlow();
    expect(await leftAfter(user, 799)).toEqual(before);
    const after = await leftAfter(user, 801);
    expect(after).toMatchObject({ users: 0, enrollments: 0, passkeys: 0, sessions: 0, claims: [] });
    expect(after).toMatchObject({ events: 0, deliveries: 0 });
  });

  it('changes until when the claims and the user are kept, which users show says', async () => {
    const user = await saved(hosted, clientId);
    const show = () => hosted.admin.users.show.query({ user: user.userId, reason });
    const daysUntil = (at: string | null | undefined) => (Date.parse(at ?? '') - hosted.clock.now()) / day;
    const { until } = await hold(user, 800);
    const held = await show();
    expect(daysUntil(held.keptUntil)).toBeGreaterThanOrEqual(daysUntil(until));
    await release(user);
    await hosted.sweepFlow();
    const shown = await show();
    const claimDays = daysUntil(shown.claims[0]?.keptUntil);
    const userDays = daysUntil(shown.keptUntil);
    expect(claimDays).toBeLessThanOrEqual(userDays);
    expect(userDays).toBeLessThan(daysUntil(held.keptUntil));
    const aMinute = 1 / 1440;
    expect(await leftAfter(user, claimDays - aMinute)).toMatchObject({
      claims: expect.arrayContaining(['country']),
    });
    expect(await leftAfter(user, claimDays + aMinute)).toMatchObject({ claims: [] });
    expect(await leftAfter(user, userDays + aMinute)).toMatchObject({
      users: 0,
      enrollments: 0,
      passkeys: 0,
    });
  });

  it('is in the list of holds with its end, its reason and who set it, the first to end at the top, until it ends', async () => {
    const [later, sooner, released] = [await someone(), await someone(), await someone()];
    const { holds } = hosted.admin.users;
    const others = new Set((await holds.query({})).map(({ id }) => id));
    const own = async () => (await holds.query({})).filter(({ id }) => !others.has(id));
    await hold(later, 90);
    const { until } = await hold(sooner, 60);
    await hold(released, 30);
    await release(released);
    const since = new Date(hosted.clock.now()).toISOString();
    const ids = [sooner.userId, later.userId];
    expect(await own()).toMatchObject([
      {
        ...{ id: ids[0], mode: 'test', until, since, reason },
        ...{ operatorId: expect.any(String), operatorName: expect.any(String) },
      },
      { id: ids[1] },
    ]);
    const everything = await holds.query({});
    const pages = [];
    for (let after: string | undefined; ; ) {
      const page: typeof everything = await holds.query({ limit: 1, after });
      pages.push(...page);
      after = page[0]?.id;
      if (after === undefined) break;
    }
    expect(pages).toEqual(everything);
    await expect(holds.query({ after: released.userId })).rejects.toThrow('No hold of user');
    hosted.clock.advance(61 * day);
    expect(await own()).toMatchObject([{ id: ids[1] }]);
  });

  it('refuses the erasure by an operator and by the user, also as a dry run, and names its end', async () => {
    const user = await saved(hosted, clientId);
    const { userId } = user;
    const { until } = await hold(user, 90);
    const erase = (users: Hosted['admin']['users']) => users.erase.mutate({ userId });
    await expect(erase(hosted.admin.users)).rejects.toThrow(`keeps ${userId} until ${until}`);
    const browser = await signedIn(hosted, user.authenticator);
    expect((await browser.confirm('/erase')).body).toContain('Nothing can be erased yet');
    expect((await browser.open(root)).body).toContain('You are signed in');
    expect(await holdOf(user)).toMatchObject({ until, reason });
    await release(user);
    expect(await erase(hosted.admin.users)).toMatchObject({ id: userId, enrollments: 1 });
  });

  it('ends by itself, and then erasure and expiry work', async () => {
    const user = await someone();
    await hold(user, 1);
    hosted.clock.advance(day + 1_000);
    expect(await holdOf(user)).toBeNull();
    expect(await hosted.admin.users.erase.mutate({ userId: user.userId })).toMatchObject({ enrollments: 1 });
    hosted.clock.advance(-day - 1_000);
  });

  it('is replaced by another one, earlier or later, and its release lets the records go within 30 days', async () => {
    const user = await saved(hosted, clientId);
    const before = await leftAfter(user, 0);
    await hold(user, 100);
    await hold(user, 700);
    expect(await leftAfter(user, 699)).toEqual(before);
    await hold(user, 300);
    const released = await release(user);
    expect(released.until).toBeNull();
    expect(await release(user)).toEqual(released);
    expect(await leftAfter(user, releasedMs / day + 1)).toMatchObject({ users: 0, sessions: 0, events: 0 });
  });

  it('needs an end to come, three years ahead at most, and an existing user; the audit log has both changes', async () => {
    const user = await someone();
    for (const days of [-1, 0, longestHoldDays + 1]) expect(await refusal(hold(user, days))).toBe('refused');
    const nobody = { ...user, userId: 'usr_0000000000000000000000' };
    expect(await refusal(hold(nobody, 1))).toBe('not_found');
    expect(await refusal(release(nobody))).toBe('not_found');
    const { until } = await hold(user, longestHoldDays);
    // Entries of the same millisecond have no order.
    hosted.clock.advance(1_000);
    await release(user);
    await hosted.services.admin.auditLog.sweep();
    const entries = await hosted.admin.auditLog.list.query({ target: user.userId });
    expect(entries.filter(({ after }) => after !== null)).toMatchObject([
      { action: 'users.release', before: { until }, after: { until: null, reason: 'settled' } },
      { action: 'users.hold', before: { until: null }, after: { until, reason } },
    ]);
  });
});
