import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../../server/platform/ids.ts';
import { createBlocking } from '../../../server/verification/people/blocking.ts';
import { adult } from '../../harness/claims.ts';
import { verifyAs } from '../browser.ts';
import { type Hosted, onboard, returned, startHosted } from '../hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => hosted.close());

const block = (enrollmentId: string) =>
  createBlocking({ ...hosted.stores, clock: hosted.clock })(enrollmentId, 'fraud');

/** Verifies as `person`, up to the redirect. */
async function visitAs(person: string, client?: string) {
  const clientId = client ?? (await onboard(hosted)).clientId;
  const { answer, sessionId } = await verifyAs(hosted, clientId, person);
  const stored = async () => {
    const session = await hosted.stores.sessions.find(sessionId);
    if (!session?.userId || !session.enrollmentId) throw new Error('somebody has authenticated');
    return { ...session, userId: session.userId, enrollmentId: session.enrollmentId };
  };
  const grant = () => hosted.verification.grants.load(sha256(returned(answer.location)['code'] ?? ''));
  return { clientId, answer, stored, grant };
}

/** Does `meanwhile` once, when a session that is being completed has read its enrollment and not yet used it. */
function whileCompleting(meanwhile: (enrollmentId: string) => Promise<unknown>): void {
  const { enrollments } = hosted.stores;
  const find = enrollments.find;
  vi.spyOn(enrollments, 'find').mockImplementationOnce(async (id) => {
    const asRead = await find(id);
    await meanwhile(id);
    return asRead;
  });
}

describe('the exchange of a code', () => {
  it('asks for neither the user nor the enrollment, which the session vouches for', async () => {
    const { stored, grant } = await visitAs('minute-cap');
    expect((await stored()).backing).toEqual({ claims: adult, rehearse: 'minute-cap' });
    const { users, enrollments } = hosted.stores;
    const looks = [vi.spyOn(users, 'find'), vi.spyOn(enrollments, 'find')];
    const enrollment = { status: 'active', rehearse: 'minute-cap' };
    expect(await grant()).toMatchObject({ evaluatedClaims: adult, enrollment });
    for (const look of looks) expect(look).not.toHaveBeenCalled();
  });

  it('looks for itself where the session vouches for nothing, and finds the same', async () => {
    const { stored, grant } = await visitAs('hour-cap');
    const vouched = await grant();
    const { _id } = await stored();
    await hosted.database.db
      .collection<{ _id: string }>('sessions')
      .updateOne({ _id }, { $unset: { backing: 1 } });
    expect(await grant()).toEqual(vouched);
  });
});

describe('a block', () => {
  it('reaches the codes that are out, and is in their sessions for support to see', async () => {
    const first = await visitAs('adult');
    const second = await visitAs('adult', first.clientId);
    const { enrollmentId } = await first.stored();
    await block(enrollmentId);
    for (const { grant, stored } of [first, second]) {
      expect((await grant())?.enrollment.status).toBe('blocked');
      const { backing, timeline } = await stored();
      expect(backing).toBeUndefined();
      expect(timeline.at(-1)).toMatchObject({ event: 'revised', note: 'enrollment blocked' });
    }
  });

  it('leaves other people and other clients alone', async () => {
    const one = await visitAs('adult');
    const [teen, elsewhere] = [await visitAs('teen', one.clientId), await visitAs('adult')];
    await block((await one.stored()).enrollmentId);
    for (const { grant } of [teen, elsewhere]) expect((await grant())?.enrollment.status).toBe('active');
  });

  it('ends with an unblock', async () => {
    const { stored, grant } = await visitAs('adult');
    const { enrollmentId } = await stored();
    await block(enrollmentId);
    const entry = { id: 'a', action: 'b', requestId: 'c', target: enrollmentId, at: new Date() };
    const who = { operatorId: 'd', operatorName: 'e', address: 'f' };
    await hosted.stores.enrollments.unblock(enrollmentId, { ...entry, ...who });
    expect(await grant()).toMatchObject({ evaluatedClaims: adult, enrollment: { status: 'active' } });
  });

  it('is not missed by a session that is just being completed', async () => {
    const { clientId } = await visitAs('adult');
    whileCompleting(block);
    const { grant, stored } = await visitAs('adult', clientId);
    expect((await stored()).backing).toBeUndefined();
    expect((await grant())?.enrollment.status).toBe('blocked');
  });
});

describe('an erasure', () => {
  const erase = async (userId: string) => {
    await hosted.stores.users.erase(userId, new Date(hosted.clock.at));
    await hosted.stores.sessions.revise({ userId }, new Date(hosted.clock.at), 'user erased');
  };

  it('leaves no claims in sessions, and no code of use', async () => {
    const { stored, grant } = await visitAs('adult');
    await erase((await stored()).userId);
    expect((await stored()).backing).toBeUndefined();
    expect(await grant()).toBeUndefined();
  });

  it('is not missed by a session that is just being completed: it ends without a code', async () => {
    const { clientId, stored } = await visitAs('adult');
    const { userId } = await stored();
    whileCompleting(() => erase(userId));
    const { answer, stored: second } = await visitAs('adult', clientId);
    expect(returned(answer.location)).toMatchObject({ error: 'verification_failed' });
    const { backing, code } = await second();
    expect([backing, code]).toEqual([undefined, undefined]);
  });
});
