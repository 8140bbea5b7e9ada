import { MongoNetworkError } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { adult } from '../harness/claims.ts';
import { verifyAs } from '../pages/browser.ts';
import { changeAfterRead, type Hosted, onboard, returned, startHosted } from '../pages/hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => hosted.close());

const block = (enrollmentId: string) =>
  hosted.admin.enrollments.block.mutate({ enrollmentId, reason: 'fraud' });
const erase = (userId: string) => hosted.admin.users.erase.mutate({ userId });

/** Runs `change`, which fails before it invalidates the snapshots, as in a process that loses the database. */
async function interrupt(change: () => Promise<unknown>): Promise<void> {
  const invalidate = vi
    .spyOn(hosted.stores.sessions, 'invalidateSnapshots')
    .mockRejectedValue(new MongoNetworkError('away'));
  await expect(change()).rejects.toThrow('temporarily unavailable');
  invalidate.mockRestore();
}

/** Verifies as `person`, up to the redirect to the partner. */
async function verifyPerson(person: string, client?: string) {
  const clientId = client ?? (await onboard(hosted)).clientId;
  const { answer, sessionId } = await verifyAs(hosted, clientId, person);
  const stored = async () => {
    const session = await hosted.stores.sessions.find(sessionId);
    if (!session?.userId || !session.enrollmentId) throw new Error('no user has authenticated');
    return { ...session, userId: session.userId, enrollmentId: session.enrollmentId };
  };
  const grant = () => hosted.grants.load(returned(answer.location)['code'] ?? '');
  return { clientId, answer, stored, grant };
}

describe('the exchange of a code', () => {
  it('reads neither the user nor the enrollment if the session has a claims snapshot', async () => {
    const { stored, grant } = await verifyPerson('minute-cap');
    expect((await stored()).snapshot).toMatchObject({ claims: adult, rehearse: 'minute-cap' });
    const { users, enrollments } = hosted.stores;
    const reads = [vi.spyOn(users, 'findAll'), vi.spyOn(enrollments, 'findAll')];
    const enrollment = { status: 'active', rehearse: 'minute-cap' };
    expect(await grant()).toMatchObject({ evaluatedClaims: adult, enrollment });
    for (const read of reads) expect(read).not.toHaveBeenCalled();
  });

  it('reads the user and the enrollment if the session has no snapshot, with the same result', async () => {
    const { stored, grant } = await verifyPerson('hour-cap');
    const fromSnapshot = await grant();
    const { _id } = await stored();
    await hosted.db.collection<{ _id: string }>('sessions').updateOne({ _id }, { $unset: { snapshot: 1 } });
    expect(await grant()).toEqual(fromSnapshot);
  });
});

describe('a block of an enrollment', () => {
  it('makes issued codes yield the status "blocked", and adds an entry to the timelines of their sessions', async () => {
    const first = await verifyPerson('adult');
    const second = await verifyPerson('adult', first.clientId);
    const { enrollmentId } = await first.stored();
    await block(enrollmentId);
    for (const { grant, stored } of [first, second]) {
      expect((await grant())?.enrollment.status).toBe('blocked');
      const { snapshot, timeline } = await stored();
      expect(snapshot).toBeUndefined();
      expect(timeline.at(-1)).toMatchObject({ event: 'snapshot_invalidated', note: 'enrollment blocked' });
    }
  });

  it('does not affect other users, or the same user at other partners', async () => {
    const one = await verifyPerson('adult');
    const [teen, elsewhere] = [await verifyPerson('teen', one.clientId), await verifyPerson('adult')];
    await block((await one.stored()).enrollmentId);
    for (const { grant } of [teen, elsewhere]) expect((await grant())?.enrollment.status).toBe('active');
  });

  it('has no effect on an issued code after an operator has unblocked the enrollment', async () => {
    const { stored, grant } = await verifyPerson('adult');
    const { enrollmentId } = await stored();
    await block(enrollmentId);
    await hosted.admin.enrollments.unblock.mutate({ enrollmentId });
    expect(await grant()).toMatchObject({ evaluatedClaims: adult, enrollment: { status: 'active' } });
  });

  it('applies even to a session that completes at the same time: its code yields the status "blocked"', async () => {
    const { clientId } = await verifyPerson('adult');
    changeAfterRead(hosted.stores, block);
    const { grant, stored } = await verifyPerson('adult', clientId);
    expect((await stored()).snapshot).toBeUndefined();
    expect((await grant())?.enrollment.status).toBe('blocked');
  });
});

describe('an erasure of a user', () => {
  it("removes the claims from the user's session, and invalidates its code", async () => {
    const { stored, grant } = await verifyPerson('adult');
    await erase((await stored()).userId);
    expect((await stored()).snapshot).toBeUndefined();
    expect(await grant()).toBeUndefined();
  });

  it('makes a session that completes at the same time end with verification_failed and without a code', async () => {
    const { clientId, stored } = await verifyPerson('adult');
    const { userId } = await stored();
    changeAfterRead(hosted.stores, () => erase(userId));
    const { answer, stored: second } = await verifyPerson('adult', clientId);
    expect(returned(answer.location)).toMatchObject({ error: 'verification_failed' });
    const { snapshot, code } = await second();
    expect([snapshot, code]).toEqual([undefined, undefined]);
  });
});

describe('a new evaluation of claims', () => {
  it('invalidates the older snapshots, and an earlier code returns the new claims', async () => {
    const { clientId, stored, grant } = await verifyPerson('adult');
    const { userId, snapshot } = await stored();
    const longAgo = { value: false, evaluatedAt: new Date(0) };
    const users = hosted.db.collection<{ _id: string }>('users');
    await users.updateOne({ _id: userId }, { $set: { 'claims.age_18_plus': longAgo } });
    expect(snapshot).toBeDefined();
    await verifyPerson('adult', clientId);
    const { snapshot: after, timeline } = await stored();
    expect(after).toBeUndefined();
    expect(timeline.at(-1)).toMatchObject({ event: 'snapshot_invalidated', note: 'claims changed' });
    expect((await grant())?.evaluatedClaims).toEqual(adult);
  });
});

describe('the sweep of claims snapshots', () => {
  const sweep = () => hosted.sweepFlow();

  it('invalidates the snapshots after a block that was interrupted', async () => {
    const { stored, grant } = await verifyPerson('adult');
    const { enrollmentId } = await stored();
    await interrupt(() => block(enrollmentId));
    expect((await stored()).snapshot).toBeDefined();
    hosted.clock.advance(5_000);
    await sweep();
    expect((await stored()).snapshot).toBeUndefined();
    expect((await grant())?.enrollment.status).toBe('blocked');
  });

  it('invalidates the snapshots after an erasure that was interrupted', async () => {
    const { stored, grant } = await verifyPerson('adult');
    const { userId } = await stored();
    await interrupt(() => erase(userId));
    hosted.clock.advance(5_000);
    await sweep();
    expect((await stored()).snapshot).toBeUndefined();
    expect(await grant()).toBeUndefined();
  });

  it('adds no second timeline entry if the snapshots are already invalidated', async () => {
    const { stored } = await verifyPerson('adult');
    await block((await stored()).enrollmentId);
    const { timeline } = await stored();
    hosted.clock.advance(5_000);
    await sweep();
    await block((await stored()).enrollmentId);
    expect((await stored()).timeline).toEqual(timeline);
  });

  it('deletes the claims snapshot of an expired code', async () => {
    const { stored } = await verifyPerson('adult');
    const { expiresAt } = (await stored()).code ?? { expiresAt: new Date(0) };
    hosted.clock.set(expiresAt.getTime() - 1);
    await sweep();
    expect((await stored()).snapshot).toBeDefined();
    hosted.clock.advance(1);
    await sweep();
    expect((await stored()).snapshot).toBeUndefined();
  });
});
