import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Parts } from '../../server/webhooks/webhooks.ts';
import { isSigned } from '../contract/hooks.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { draft } from '../webhooks/system.ts';

const minute = 60_000;
const day = 86_400_000;
const clock = manualClock();
const event = 'verification.session.failed';
/** Two processes of one installation. `other` makes changes, and `server` answers. */
let server: TestServer;
let other: TestServer;
/** Called when the first delivery of an event is stored, before it is sent. */
let whenStored = async () => {};
beforeAll(async () => {
  const wrap = (parts: Parts): Parts => ({
    ...parts,
    deliveries: {
      ...parts.deliveries,
      async insertLeased(...given) {
        const ids = await parts.deliveries.insertLeased(...given);
        await whenStored();
        return ids;
      },
    },
  });
  const webhooks = { wrap };
  server = await startTestServer({
    clock,
    replacements: { pace: { jobsEvery: 100 }, foundation: () => ({ webhooks }) },
  });
  // A process that sends nothing, so that the sending process is known.
  other = await startTestServer({
    clock,
    env: { MONGODB_URI: server.uri, SVC_ROLES: 'admin' },
  });
});
afterAll(async () => {
  await other.stop();
  await server.stop();
});

/** A partner whose endpoint answers by `answer`, which gets the number of requests. */
async function listening(answer: (response: ServerResponse, count: number) => void) {
  const { url, received } = await createReceiver((count, _request, response) => answer(response, count));
  const partner = await createPartner(server, { funds: 0 });
  const { signingSecret } = await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url });
  return { ...partner, url, signingSecret, received };
}

const trigger = async ({ keyId }: Pick<TestPartner, 'keyId'>) =>
  (await server.admin.webhooks.trigger.mutate({ keyId, event })).id;
const show = (deliveryId: string) => server.admin.deliveries.show.query({ deliveryId });
const reaches = (deliveryId: string, status: string, attempts: number) =>
  expect
    .poll(async () => {
      const delivery = await show(deliveryId);
      return [delivery.status, delivery.attempts.filter(({ durationMs }) => durationMs !== null).length];
    })
    .toEqual([status, attempts]);

describe('an endpoint', () => {
  it.each([
    ['key_revoked', ({ keyId }: TestPartner) => other.admin.keys.revoke.mutate({ keyId })],
    ['partner_suspended', ({ partnerId }: TestPartner) => other.admin.partners.suspend.mutate({ partnerId })],
    [
      'partner_closed',
      ({ partnerId }: TestPartner) => other.admin.partners.close.mutate({ partnerId, reason: 'left' }),
    ],
    ['no_url', ({ keyId }: TestPartner) => other.admin.webhooks.unset.mutate({ keyId })],
  ] as const)(
    'gets no further attempt after it was switched off for the reason %s',
    async (reason, switchOff) => {
      const partner = await listening((response) => response.writeHead(500).end());
      const id = await trigger(partner);
      await reaches(id, 'pending', 1);
      await switchOff(partner);
      clock.advance(minute);
      await server.sweep();
      await reaches(id, 'skipped', 1);
      expect(await show(id)).toMatchObject({ skipped: reason });
      expect(partner.received).toHaveLength(1);
    },
  );

  it('gets attempts if its partner is not active yet, so that support can test the endpoint', async () => {
    const { received, url } = await listening((response) => response.writeHead(204).end());
    const partner = await server.admin.partners.create.mutate({ name: 'Pending' });
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId: partner.id, mode: 'test' });
    await server.admin.webhooks.set.mutate({ keyId, url });
    expect(partner.status).toBe('pending');
    expect(await server.admin.webhooks.test.mutate({ keyId })).toMatchObject({ status: 'delivered' });
    expect(received).toHaveLength(1);
  });

  it('gets no attempt over http if its key is live, whatever URL is stored', async () => {
    const { received, url, partnerId } = await listening((response) => response.writeHead(204).end());
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode: 'live' });
    await server.admin.webhooks.set.mutate({ keyId, url: 'https://shop.example/hooks' });
    const keys = server.db.collection<{ _id: string }>('apiKeys');
    await keys.updateOne({ _id: keyId }, { $set: { 'webhook.url': url } });
    expect(await server.admin.webhooks.test.mutate({ keyId })).toMatchObject({ status: 'failed' });
    expect(received).toHaveLength(0);
  });
});

describe('a secret that was rotated in another process', () => {
  it('signs every later attempt, also the retry of a delivery whose first attempt has the old signature', async () => {
    const partner = await listening((response, count) => response.writeHead(count > 1 ? 204 : 500).end());
    const { keyId, received } = partner;
    const id = await trigger(partner);
    await reaches(id, 'pending', 1);
    const { signingSecret } = await other.admin.webhooks.rotateSecret.mutate({ keyId });
    clock.advance(minute);
    await server.sweep();
    await reaches(id, 'delivered', 2);
    const signers = received.map((sent) =>
      [partner.signingSecret, signingSecret].map((one) => isSigned(sent, one)),
    );
    expect(signers).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it('signs a first attempt if the event took a second to store, during which the secret was rotated', async () => {
    const partner = await listening((response) => response.writeHead(204).end());
    const { keyId, partnerId, received } = partner;
    let rotated = '';
    whenStored = async () => {
      rotated = (await other.admin.webhooks.rotateSecret.mutate({ keyId })).signingSecret;
      clock.advance(1_000);
    };
    onTestFinished(() => {
      whenStored = async () => {};
    });
    await server.services.webhooks.publish([{ ...draft(keyId), partnerId }]);
    await expect.poll(() => received.length).toBe(1);
    expect(received.map((sent) => isSigned(sent, rotated))).toEqual([true]);
  });

  it('is accepted by the next request as client secret or API key, and the old one gets 401', async () => {
    const partner = await createPartner(server);
    const exchange = async (clientSecret: string) => {
      return (
        await exchangeCode(server, { ...partner, clientSecret }, { code: 'x', codeVerifier: 'v'.repeat(43) })
      ).status;
    };
    const query = async (apiKey: string) => {
      const headers = { authorization: `Bearer ${apiKey}` };
      return (await fetch(`${server.baseUrl}/api/verify/hvf-session/ses_none`, { headers })).status;
    };
    expect([await exchange(partner.clientSecret), await query(partner.apiKey)]).toEqual([400, 404]);
    const { clientId, keyId } = partner;
    const { clientSecret } = await other.admin.clients.rotateSecret.mutate({ clientId });
    const { apiKey } = await other.admin.keys.rotate.mutate({ keyId });
    expect([await exchange(clientSecret), await query(apiKey)]).toEqual([400, 404]);
    expect(await query(partner.apiKey)).toBe(401);
    // A found client is cached for 2 s, so its old secret may still be accepted for this time.
    await expect.poll(() => exchange(partner.clientSecret), { interval: 200 }).toBe(401);
  });
});

describe('a process that was paused', () => {
  it('does not overwrite the result of a delivery that another process recorded after the lease had ended', async () => {
    let frozen: ServerResponse | undefined;
    const partner = await listening((response, count) => {
      if (count === 1) frozen = response;
      else response.writeHead(204).end();
    });
    const id = await trigger(partner);
    await expect.poll(() => partner.received.length).toBe(1);
    clock.advance(21_000); // its lease has expired
    await server.sweep();
    await reaches(id, 'delivered', 1);
    const recorded = await show(id);
    expect(recorded.attempts).toMatchObject([{ error: 'interrupted' }, { status: 204 }]);
    frozen?.writeHead(500).end();
    // The endpoint's next attempt is recorded after the late result.
    await reaches(await trigger(partner), 'delivered', 1);
    expect(await show(id)).toEqual(recorded);
  });
});

describe('a resend', () => {
  it('is in the audit log under each delivery that it names', async () => {
    const partner = await listening((response) => response.writeHead(204).end());
    const [first, second] = [await trigger(partner), await trigger(partner)];
    for (const id of [first, second]) await reaches(id, 'delivered', 1);
    const { deliveries, auditLog } = server.admin;
    await deliveries.resend.mutate({ deliveryIds: [first, second] });
    clock.advance(1_000);
    await deliveries.resend.mutate({ deliveryIds: [first] });
    const alone = { action: 'deliveries.resend', target: first, input: { deliveryIds: [first] } };
    const both = { action: 'deliveries.resend', target: null, input: { deliveryIds: [first, second] } };
    expect(await auditLog.list.query({ target: first })).toMatchObject([alone, both]);
    expect(await auditLog.list.query({ target: second })).toMatchObject([both]);
  });
});

describe('the retention time', () => {
  const purgeDates = async (name: string, filter: Record<string, unknown>) =>
    (await server.db.collection(name).find(filter).toArray()).map(({ purgeAt }) => purgeAt.getTime());

  it('is 30 days for an event and its delivery, and a resent event stays as long as its last delivery', async () => {
    const partner = await listening((response) => response.writeHead(204).end());
    const at = clock.now();
    const id = await trigger(partner);
    await reaches(id, 'delivered', 1);
    const { eventId } = await show(id);
    const { partnerId } = partner;
    expect(await purgeDates('events', { partnerId })).toEqual([at + 30 * day]);
    expect(await purgeDates('deliveries', { partnerId })).toEqual([at + 30 * day]);

    clock.advance(29 * day);
    const resent = await server.admin.deliveries.resend.mutate({ deliveryIds: [id], dryRun: false });
    expect(resent.deliveries).toMatchObject([{ eventId, resendOf: id }]);
    await expect.poll(() => partner.received.length).toBe(2);
    expect(await purgeDates('events', { partnerId })).toEqual([at + 59 * day]);
    expect((await purgeDates('deliveries', { partnerId })).toSorted()).toEqual([
      at + 30 * day,
      at + 59 * day,
    ]);
    expect(partner.received[1]?.raw).toEqual(partner.received[0]?.raw);
  });

  it('is 7 days for a request in the log, and 2 minutes for a request counter', async () => {
    const at = clock.now();
    const partner = await createPartner(server, { funds: 0 });
    const answer = await exchangeCode(server, partner, { code: 'x', codeVerifier: 'v'.repeat(43) });
    const requestId = answer.headers.get('x-request-id') ?? '';
    const shown = () =>
      server.admin.requests.show.query({ requestId }).then(
        ({ request }) => request?.status,
        () => 'gone',
      );
    await expect.poll(shown).toBe(400);
    expect(await purgeDates('requestLog', { _id: requestId })).toEqual([at + 7 * day]);
    const ofMinute = { $regex: `:${Math.floor(at / minute)}$` };
    expect(await purgeDates('requestWindows', { _id: ofMinute })).toEqual([at + 2 * minute]);
    clock.advance(7 * day - 1);
    expect(await shown()).toBe(400);
    clock.advance(1);
    expect(await shown()).toBe('gone');
  });
});
