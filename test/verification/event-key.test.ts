import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { type Hosted, onboard, startHosted } from './hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted();
});
afterAll(() => hosted.close());

/** A session that has begun; then its client moves to another key. */
async function movedClient() {
  const { keyId: owner, clientId } = await onboard(hosted);
  const { keyId: present } = await onboard(hosted);
  const browser = openBrowser(hosted);
  await browser.start(clientId);
  await browser.press({ decision: 'accept' });
  const clients = hosted.database.db.collection<{ _id: string }>('clients');
  await clients.updateOne({ _id: clientId }, { $set: { keyId: present } });
  return { owner, present, browser, sessionId: browser.sessionId() };
}

const keysOf = async (sessionId: string) => {
  const theirs = () => [...hosted.published.values()].filter(({ about }) => about.sessionId === sessionId);
  await expect.poll(() => theirs().length, { timeout: 5_000 }).toBe(2);
  return theirs().map(({ type, keyId }) => [type, keyId]);
};

describe('the events of a session', () => {
  it('go to the key that owns it, also after its client moved to another', async () => {
    const { owner, browser, sessionId } = await movedClient();
    await browser.press({ person: 'new-adult' });
    expect(await keysOf(sessionId)).toEqual([
      ['enrollment.created', owner],
      ['verification.session.completed', owner],
    ]);
  });

  it("go to the client's present key where the owner was revoked", async () => {
    const { owner, present, browser, sessionId } = await movedClient();
    const keys = hosted.database.db.collection<{ _id: string }>('apiKeys');
    expect((await keys.updateOne({ _id: owner }, { $set: { status: 'revoked' } })).matchedCount).toBe(1);
    await browser.press({ person: 'new-adult' });
    expect(await keysOf(sessionId)).toEqual([
      ['enrollment.created', present],
      ['verification.session.completed', present],
    ]);
  });
});
