import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { describe, expect, it } from 'vitest';
import { adviseReceiver, adviseStatus } from '../../contracts/receiver-advice.ts';
import { answerRetentionMs, type Delivery } from '../../server/webhooks/delivery/delivery.ts';
import { createDeliveryStore } from '../../server/webhooks/delivery/delivery-store.ts';
import { createEventErasure } from '../../server/webhooks/delivery/erasure-store.ts';
import { answerText, keptBytes, maskAnswer } from '../../server/webhooks/egress/answer-text.ts';
import { listen } from '../harness/receiver.ts';
import { certificate, certificateKey } from './certificate.ts';
import { adminOf, createSystem, draft, until } from './system.ts';

const sub = 'S'.repeat(43);

/** A delivery that this receiver refused, for a user with the subject `sub`. */
async function refusedBy(receiver: RequestListener) {
  const port = await listen(createServer({ cert: certificate, key: certificateKey }, receiver));
  const route = { resolve: async () => ['127.0.0.1'], allowed: () => true };
  const system = await createSystem({ route, ca: certificate, retryDelays: [6 * 3_600_000] });
  const event = draft(system.key(`https://partner.example:${port}/`));
  await system.publish([{ ...event, about: { ...event.about, sub } }]);
  const deliveries = system.db.collection<Delivery>('deliveries');
  const delivery = await until(() => deliveries.findOne({ attempt: 2, status: 'pending' }));
  return { system, deliveries, delivery };
}

describe('the response of a receiver', () => {
  it('is stored with Location and Retry-After, and with secrets, passwords and the subject masked', async () => {
    const { system, delivery } = await refusedBy((_request, response) =>
      response
        .writeHead(301, { location: 'https://new.example/hook?key=whsec_abcdefgh', 'retry-after': '120' })
        .end(`{"user":"${sub}","password":"hunter2","key":"whsec_abcdefgh"}`),
    );
    const shown = await adminOf(system).deliveries.show({ deliveryId: delivery._id });
    expect(shown.attempts).toMatchObject([
      {
        status: 301,
        location: 'https://new.example/hook?key=…',
        retryAfter: '120',
        answer: '{"user":"(masked)","password":"…","key":"whsec_…"}',
      },
    ]);
    const ops = await adminOf(system, 'ops').deliveries.show({ deliveryId: delivery._id });
    expect(ops.attempts[0]?.location).toBe('https://new.example/hook?…');
  });

  it.each([
    ['behind', 401, -7, -7],
    ['ahead of', 400, 12, 12],
    ['equal to', 401, 1, null],
    ['behind, with a status that is no refusal of a signature,', 500, -7, null],
  ])('a clock of the receiver that is %s ours is noted in minutes', async (_name, status, minutes, noted) => {
    const { system, delivery } = await refusedBy((_request, response) => {
      const date = new Date(Date.now() + minutes * 60_000).toUTCString();
      response.writeHead(status, { date }).end('stale');
    });
    const shown = await adminOf(system).deliveries.show({ deliveryId: delivery._id });
    expect(shown.attempts).toMatchObject([{ status, clockAheadMinutes: noted }]);
  });

  it('is deleted after a week, and when the user is erased', async () => {
    const { system, deliveries, delivery } = await refusedBy((_request, response) =>
      response.writeHead(500).end('out of order'),
    );
    const store = createDeliveryStore(system.db);
    const at = delivery.attempts[0]?.at.getTime() ?? 0;
    const answer = async () => (await deliveries.findOne({ _id: delivery._id }))?.attempts[0]?.answer;
    await store.forgetAnswers(new Date(at + answerRetentionMs - 1));
    expect(await answer()).toBe('out of order');
    await store.forgetAnswers(new Date(at + answerRetentionMs));
    expect(await answer()).toBeUndefined();
    const after = await deliveries.findOne({ _id: delivery._id });
    expect(after).not.toHaveProperty('forgetAnswersAt');
    expect(after?.attempts).toMatchObject([{ attempt: 1, status: 500 }]);

    const other = await refusedBy((_request, response) => response.writeHead(500).end('again'));
    expect(await createEventErasure(other.system.db).erase([sub])).toBe(1);
    const erased = await other.deliveries.findOne({ _id: other.delivery._id });
    expect(erased?.attempts[0]).not.toHaveProperty('answer');
  });
});

it('an erasure leaves the event with its id, without the subject and claims of the user', async () => {
  const system = await createSystem({ worker: false });
  const event = draft(system.key('http://localhost:1/'));
  await system.publish([
    { ...event, about: { ...event.about, sub } },
    draft(system.key('http://localhost:1/')),
  ]);
  const erasure = createEventErasure(system.db);
  expect(await erasure.erase([sub])).toBe(1);
  for (const name of ['events', 'deliveries']) {
    const stored = await system.db.collection(name).find().toArray();
    expect(stored).toHaveLength(2);
    expect(JSON.stringify(stored)).not.toContain(sub);
  }
  // A second erasure, for example after a crash, finds nothing.
  expect(await erasure.erase([sub])).toBe(0);
});

it('a sweep deletes the responses whose week has passed', async () => {
  const system = await createSystem({ worker: false });
  await system.publish([draft(system.key('http://localhost:1/'))]);
  const deliveries = system.db.collection<Delivery>('deliveries');
  const now = new Date();
  const row = { attempt: 1, trigger: 'event' as const, at: now, dueAt: now, status: 500, answer: 'x' };
  await deliveries.updateMany({}, { $set: { status: 'failed', attempts: [row], forgetAnswersAt: now } });
  await system.sweep.sweep();
  expect((await deliveries.findOne({}))?.attempts[0]).not.toHaveProperty('answer');
});

describe('the stored part of a response', () => {
  it('has at most 4 KiB, and secrets are masked before the rest is cut off', () => {
    const text = `${'x'.repeat(keptBytes - 10)}${sub}`;
    const kept = maskAnswer(text, sub);
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(4_096);
    expect(kept).not.toContain('SS');
    expect(Buffer.byteLength(maskAnswer('é'.repeat(keptBytes), undefined))).toBeLessThanOrEqual(keptBytes);
  });

  it('contains no credential in a header, in JSON or in a form', () => {
    const kept = maskAnswer(
      'Authorization: Bearer abcdefgh12345678\nCookie: a=bcd\n{"api_key": "k-123", "token": "eyJhbGciOi.x.y"} client_secret=s3cret&a=1',
      undefined,
    );
    for (const secret of ['abcdefgh', 'bcd', 'k-123', 'hbGciOi', 's3cret'])
      expect(kept).not.toContain(secret);
    expect(kept).toContain('&a=1');
  });

  it('is "(not text)" if the body is binary', () => {
    expect(answerText(Buffer.from([0x89, 0x50, 0, 0, 0, 1, 2, 0xff, 0xfe, 0xfd]))).toBe('(not text)');
    expect(answerText(Buffer.from('höflich\u001b'))).toBe('höflich\uFFFD');
  });
});

describe('the advice on a failed delivery', () => {
  it('differs for each HTTP status, and quotes Location and Retry-After', () => {
    const advice = (status: number, more = {}) => adviseReceiver({ error: 'http', status, ...more });
    expect(advice(301, { location: 'https://new.example/' })).toContain('redirects to https://new.example/');
    expect(advice(429, { retryAfter: '120' })).toContain('Retry-After: 120');
    expect(advice(500)).toContain("receiver's own code");
    const statuses = [301, 400, 401, 403, 404, 405, 410, 413, 429, 500, 502, 503, 504];
    expect(new Set(statuses.map((status) => advice(status))).size).toBe(statuses.length);
    expect(advice(401, { clockAheadMinutes: -7 })).toContain('clock is 7 minutes behind ours');
    expect(advice(403, { clockAheadMinutes: 90 })).toContain('clock is 90 minutes ahead of ours');
    expect(advice(500, { clockAheadMinutes: 90 })).toBe(advice(500));
    expect(adviseReceiver({ error: 'dns', status: null })).toContain('host name');
    expect([adviseStatus(200), adviseStatus(429)]).toEqual([undefined, advice(429)]);
  });
});
