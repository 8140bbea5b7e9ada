import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyAs } from '../pages/browser.ts';
import { type Hosted, onboard, startHosted } from '../pages/hosted.ts';

const hour = 3_600_000;
const lifetime = 365 * 24 * hour;

let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted();
  ({ clientId } = await onboard(hosted));
});
afterAll(() => hosted.close());

async function verifyNewUser(): Promise<string> {
  const { sessionId } = await verifyAs(hosted, clientId, 'new-adult');
  const session = await hosted.stores.sessions.find(sessionId);
  return session?.userId ?? expect.fail('no user');
}

/** Returns the names of the claims that remain `ms` milliseconds later. */
async function keptAfter(userId: string, ms: number): Promise<string[]> {
  hosted.clock.advance(ms);
  await hosted.sweepFlow();
  hosted.clock.advance(-ms);
  const user = await hosted.stores.users.find(userId);
  return Object.keys(user?.claims ?? expect.fail('no user')).sort();
}

describe('claims of a user', () => {
  it('are stored until they are no longer fresh, and deleted within the next hour', async () => {
    const userId = await verifyNewUser();
    expect(await keptAfter(userId, lifetime)).toContain('age_18_plus');
    expect(await keptAfter(userId, lifetime + hour + 1)).toEqual([]);
    expect(await hosted.stores.users.find(userId)).not.toHaveProperty('keptSince');
  });

  it('are stored for the full time after a new evaluation, while older claims are deleted', async () => {
    const userId = await verifyNewUser();
    const later = new Date(hosted.clock.now() + 100 * 24 * hour);
    await hosted.stores.users.keepClaims(userId, { claims: { country: 'FR' }, duplicate: false }, later);
    expect(await keptAfter(userId, lifetime + hour + 1)).toEqual(['country']);
    expect(await keptAfter(userId, lifetime + 100 * 24 * hour)).toEqual(['country']);
    expect(await keptAfter(userId, lifetime + 100 * 24 * hour + hour + 1)).toEqual([]);
  });

  it('are not deleted if they were evaluated again after the sweep read them', async () => {
    const userId = await verifyNewUser();
    const asRead = (await hosted.stores.users.find(userId)) ?? expect.fail('no user');
    const before = new Date(hosted.clock.now());
    await hosted.stores.users.keepClaims(
      userId,
      { claims: { age_18_plus: true }, duplicate: false },
      new Date(hosted.clock.now() + hour),
    );
    await hosted.stores.users.forgetClaims(asRead, before);
    expect((await hosted.stores.users.find(userId))?.claims).toHaveProperty('age_18_plus');
  });
});
