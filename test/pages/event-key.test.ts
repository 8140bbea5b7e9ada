import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, redirectUri } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createBrowser } from '../journey/browser.ts';
import { newStart, startUrl } from '../journey/pkce.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Starts a session, and moves its client to another key, which has a webhook URL. */
async function startAndMoveClient() {
  const { admin, baseUrl } = server;
  const { partnerId, keyId: owner, clientId } = await createPartner(server);
  const { id: present } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
  await admin.webhooks.set.mutate({ keyId: present, url: 'http://localhost:9/events' });
  const browser = createBrowser(baseUrl);
  const { codeChallenge, state } = newStart();
  const consent = await browser.open(
    startUrl({ baseUrl, clientId, redirectUri, scope: 'age_18_plus', state, codeChallenge }),
  );
  const page = await browser.press(consent, 'decision=accept');
  await admin.clients.update.mutate({ clientId, keyId: present });
  const finish = () => browser.press(page, 'person=new-adult');
  return { owner, present, finish, sessionId: /ses_[0-9A-Za-z]{22}/.exec(page.url)?.[0] ?? '' };
}

/** Waits for the deliveries of a session's two events. @returns their type, their key, and whether they were skipped */
async function deliveriesOf(sessionId: string) {
  const theirs = () => server.db.collection('deliveries').find({ sessionId }).sort({ type: 1 }).toArray();
  await expect.poll(async () => (await theirs()).length).toBe(2);
  return (await theirs()).map(({ type, keyId, status }) => [type, keyId, status === 'skipped']);
}

describe('the events of a session', () => {
  it('are sent to the key that owned the client when the session started, even after the client moved', async () => {
    const { owner, finish, sessionId } = await startAndMoveClient();
    await finish();
    expect(await deliveriesOf(sessionId)).toEqual([
      ['enrollment.created', owner, true],
      ['verification.session.completed', owner, true],
    ]);
  });

  it("are sent to the client's new key if its old key was revoked after the session started", async () => {
    const { owner, present, finish, sessionId } = await startAndMoveClient();
    await server.admin.keys.revoke.mutate({ keyId: owner });
    await finish();
    expect(await deliveriesOf(sessionId)).toEqual([
      ['enrollment.created', present, false],
      ['verification.session.completed', present, false],
    ]);
    const events = await server.db.collection('events').find({ sessionId }).toArray();
    expect(events.map(({ keyId }) => keyId)).toEqual([present, present]);
  });
});

describe('a delivery for a key without a webhook URL', () => {
  it('is stored as skipped, without an attempt', async () => {
    const { finish, sessionId } = await startAndMoveClient();
    await finish();
    await deliveriesOf(sessionId);
    for (const delivery of await server.db.collection('deliveries').find({ sessionId }).toArray()) {
      expect(delivery).toMatchObject({ status: 'skipped', skipped: { reason: 'no_url' }, attempts: [] });
      expect(delivery).not.toHaveProperty('nextAttemptAt');
      expect(delivery['endedAt']).toEqual(delivery['createdAt']);
    }
  });
});
