import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStores } from '../../server/operations/stores.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';

const clock = manualClock();
let service: TestServer;
/** Whether every change of a user's sessions fails. */
let isAway = false;

beforeAll(async () => {
  service = await startTestServer({
    clock,
    replacements: {
      foundation({ db }) {
        const stores = createStores(db);
        const { sessions } = stores.verification;
        const invalidateSnapshots: typeof sessions.invalidateSnapshots = async (...given) => {
          if (isAway) throw new MongoNetworkError('away for a moment');
          return sessions.invalidateSnapshots(...given);
        };
        return {
          stores: {
            verification: { ...stores.verification, sessions: { ...sessions, invalidateSnapshots } },
          },
        };
      },
    },
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  isAway = false;
});

/** Verifies a user. @returns the user and the enrollment */
async function enrollUser() {
  const partner = await createPartner(service);
  await completeSession(service, partner);
  const enrollment = await service.db
    .collection<{ _id: string; userId: string }>('enrollments')
    .findOne({ partnerId: partner.partnerId });
  return { userId: enrollment?.userId ?? '', enrollmentId: enrollment?._id ?? '' };
}

const logged = async (action: string, target: string) =>
  (await service.admin.auditLog.list.query({ action, target })).length;

async function expectGone(userId: string): Promise<void> {
  clock.advance(61_000);
  await service.sweep();
  await service.sweep();
  for (const [name, filter] of [
    ['users', { _id: userId as never }],
    ['enrollments', { userId }],
    ['sessions', { userId }],
  ] as const)
    expect(await service.db.collection(name).countDocuments(filter), name).toBe(0);
}

describe('the audit log', () => {
  it('contains one entry for an erasure that was interrupted and answered with 503', async () => {
    const { userId } = await enrollUser();
    isAway = true;
    await expect(service.admin.users.erase.mutate({ userId })).rejects.toThrow('temporarily unavailable');
    isAway = false;
    await expectGone(userId);
    expect(await logged('users.erase', userId)).toBe(1);
  });

  it('contains one entry for a block that was answered with 503, even if its user is erased afterwards', async () => {
    const { userId, enrollmentId } = await enrollUser();
    isAway = true;
    const block = service.admin.enrollments.block.mutate({ enrollmentId, reason: 'fraud' });
    await expect(block).rejects.toThrow('temporarily unavailable');
    isAway = false;
    await service.admin.users.erase.mutate({ userId });
    await expectGone(userId);
    expect([await logged('enrollments.block', enrollmentId), await logged('users.erase', userId)]).toEqual([
      1, 1,
    ]);
  });
});
