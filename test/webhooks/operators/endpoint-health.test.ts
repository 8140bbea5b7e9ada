import { describe, expect, it } from 'vitest';
import { attemptTimeoutMs } from '../../../contracts/webhooks.ts';
import { defaultLimits } from '../../../server/webhooks/delivery/backlog.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import {
  type EndedAttempt,
  type EndpointFacts,
  evaluateEndpoint,
  worstFirst,
} from '../../../server/webhooks/operators/endpoints/endpoint-health.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { adminOf, createSystem, draft, until } from '../system.ts';

const now = Date.parse('2026-07-01T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000);
const ok = (minutes: number): EndedAttempt => ({ at: minutesAgo(minutes), status: 200, durationMs: 10 });
const broken = (minutes: number): EndedAttempt => ({
  ...{ at: minutesAgo(minutes), status: 500, error: 'http', durationMs: 100 },
});
const lasting = (minutes: number, durationMs: number): EndedAttempt => ({ ...ok(minutes), durationMs });
const facts = (change: Partial<EndpointFacts>): EndpointFacts => ({
  ...{ keyId: 'key', partnerId: 'ptr', mode: 'live', attempts: [], queued: 0, inFlight: 0, allInFlight: 0 },
  isWorked: true,
  pausedUntil: undefined,
  heldBack: undefined,
  off: undefined,
  ...change,
});
const diagnose = (change: Partial<EndpointFacts>) =>
  evaluateEndpoint(facts(change), { limits: defaultLimits, now });

describe('the health of an endpoint', () => {
  it.each([
    ['idle without attempts', { attempts: [] }, 'idle'],
    ['ok if the last attempt succeeded', { attempts: [broken(30), ok(1)] }, 'ok'],
    ['slow if it answers just within the budget', { attempts: [lasting(1, 9_900)] }, 'slow'],
    ['slow from half of the budget on', { attempts: [lasting(1, attemptTimeoutMs / 2)] }, 'slow'],
    ['ok below half of the budget', { attempts: [lasting(1, attemptTimeoutMs / 2 - 1)] }, 'ok'],
    [
      'ok if one answer of twenty is slow',
      { attempts: [lasting(30, 9_900), ...Array.from({ length: 19 }, () => ok(1))] },
      'ok',
    ],
    [
      'ok if it answers fast again after a timeout',
      { attempts: [{ at: minutesAgo(9), error: 'timeout', durationMs: attemptTimeoutMs }, ok(1)] },
      'ok',
    ],
    ['failing, not slow, if a slow attempt failed', { attempts: [lasting(9, 9_900), broken(1)] }, 'failing'],
    ['failing if the last attempt failed', { attempts: [ok(30), broken(20), broken(1)] }, 'failing'],
    ['failing for less than 15 minutes', { attempts: [broken(14), broken(3), broken(1)] }, 'failing'],
    [
      'dead after three failures in 15 minutes',
      { attempts: [ok(90), broken(15), broken(3), broken(1)] },
      'dead',
    ],
    [
      'held if a process cannot make a due attempt',
      { attempts: [ok(5)], heldBack: { since: minutesAgo(1), reason: 'secret_unreadable' } },
      'held',
    ],
    ['paused during a pause', { attempts: [broken(20)], pausedUntil: minutesAgo(-60) }, 'paused'],
  ] as const)('is %s', (_rule, change, state) => {
    expect(diagnose(change).state).toBe(state);
  });

  it('has the last attempt with its detail if it failed, and null if it succeeded', () => {
    const expired: EndedAttempt = { at: minutesAgo(2), error: 'tls', detail: 'CERT_HAS_EXPIRED' };
    expect(diagnose({ attempts: [ok(9), broken(5), expired] }).lastFault).toEqual({
      ...{ at: minutesAgo(2).toISOString(), error: 'tls', status: null },
      ...{ detail: 'CERT_HAS_EXPIRED', clockAheadMinutes: null },
    });
    expect(diagnose({ attempts: [{ ...broken(1), clockAheadMinutes: 7 }] }).lastFault).toMatchObject({
      ...{ error: 'http', status: 500, clockAheadMinutes: 7 },
    });
    for (const attempts of [[], [expired, ok(1)]]) expect(diagnose({ attempts }).lastFault).toBeNull();
  });

  it('has the success rate, the durations, and each kind of answer with the time of its first occurrence', () => {
    const attempts: EndedAttempt[] = [
      ok(60),
      broken(40),
      { at: minutesAgo(30), error: 'timeout', durationMs: 10_000 },
      broken(20),
    ];
    expect(diagnose({ attempts })).toMatchObject({
      attempts: 4,
      successShare: 0.25,
      since: minutesAgo(60).toISOString(),
      lastSuccessAt: minutesAgo(60).toISOString(),
      failingSince: minutesAgo(40).toISOString(),
      p50Ms: 100,
      p95Ms: 10_000,
      answers: [
        {
          answer: '500',
          count: 2,
          firstAt: minutesAgo(40).toISOString(),
          lastAt: minutesAgo(20).toISOString(),
        },
        { answer: '200', count: 1 },
        { answer: 'timeout', count: 1 },
      ],
    });
  });

  it('says first that nothing is sent to a key, also if none is due', () => {
    for (const change of [{}, { queued: 3, isWorked: false }, { pausedUntil: minutesAgo(-60) }])
      expect(diagnose({ ...change, off: 'key_revoked' }).cause).toBe('nothing is sent: the key was revoked');
  });

  it('names why deliveries wait: the limit of the endpoint, the limit of all endpoints, a pause, or no worker', () => {
    expect(diagnose({ queued: 1_600, inFlight: 5 }).cause).toBe('behind 1600 of this endpoint, 5 at a time');
    expect(diagnose({ queued: 3, allInFlight: 1_024 }).cause).toContain('1024 attempts of all endpoints');
    expect(diagnose({ queued: 3, inFlight: 5, isWorked: false }).cause).toBe(
      'no process with the worker role is running',
    );
    expect(diagnose({ isWorked: false }).cause).toBeNull();
    expect(diagnose({ queued: 3, pausedUntil: minutesAgo(-5) }).cause).toContain('paused until');
    expect(diagnose({}).cause).toBeNull();
  });

  it('is sorted: failing live endpoints first, those that have failed longest before others', () => {
    const dead = diagnose({ keyId: 'dead', attempts: [broken(30), broken(3), broken(1)] });
    const longer = diagnose({ keyId: 'longer', attempts: [broken(90), broken(3), broken(1)] });
    const test = diagnose({ keyId: 'test', mode: 'test', attempts: [broken(99), broken(3), broken(1)] });
    const fine = diagnose({ keyId: 'fine', attempts: [ok(1)] });
    const slow = diagnose({ keyId: 'slow', attempts: [lasting(1, 9_900)] });
    const failing = diagnose({ keyId: 'failing', attempts: [ok(9), broken(5)] });
    const sorted = [fine, slow, test, failing, dead, longer].toSorted(worstFirst);
    expect(sorted.map(({ keyId }) => keyId)).toEqual(['longer', 'dead', 'failing', 'test', 'slow', 'fine']);
  });
});

it('webhooks health without a key lists slow and paused endpoints, and no endpoint with one slow answer of many', async () => {
  const system = await createSystem();
  const [slow, fine, paused] = ['key_slow', 'key_fine', 'key_paused0'];
  const delivered = (keyId: string, n: number, durationMs: number) => {
    const at = new Date(Date.now() - n * 60_000);
    return {
      ...{ _id: `dlv_${keyId}${n}`, keyId, partnerId: 'ptr_1', mode: 'test', status: 'delivered' },
      ...{ createdAt: at, attempts: [{ attempt: 1, dueAt: at, at, durationMs, status: 200 }] },
    };
  };
  await system.db
    .collection<{ _id: string }>('deliveries')
    .insertMany([
      ...[1, 2, 3].map((n) => delivered(slow, n, 6_000)),
      ...Array.from({ length: 30 }, (_, n) => delivered(fine, n, n === 29 ? 6_000 : 10)),
    ] as never);
  const keys = [60, -60].map((minutes, n) => {
    const until = new Date(Date.now() + minutes * 60_000);
    const _id = `key_paused${n}`;
    const mode = 'live' as const;
    const on = { state: 'on', url: 'https://a.example', secret: 'whsec_1', secretVersion: 1 } as const;
    system.endpoints.set(_id, { ...on, mode, ...(minutes > 0 ? { pausedUntil: until } : {}) });
    return { _id, hash: _id, partnerId: 'ptr_1', mode, status: 'active', pause: { until } };
  });
  await system.db.collection<{ _id: string }>('apiKeys').insertMany(keys);
  const { webhooks } = adminOf(system);
  expect(await webhooks.health({})).toMatchObject([
    { keyId: paused, mode: 'live', state: 'paused' },
    { keyId: slow, mode: 'test', state: 'slow' },
  ]);
  expect(await webhooks.health({ mode: 'test' })).toMatchObject([{ keyId: slow }]);
  expect(await webhooks.health({ limit: 1 })).toMatchObject([{ keyId: paused }]);
});

it('webhooks health computes state, success rate and answers from stored deliveries, for one key or for all failing keys', async () => {
  const [good, bad] = await Promise.all([
    createReceiver(),
    createReceiver((_count, _request, response) => response.writeHead(503).end()),
  ]);
  const system = await createSystem({ retryDelays: [] });
  const [well, ill] = [system.key(good.url), system.key(bad.url)];
  await system.publish([draft(well), draft(ill), draft(ill)]);
  const { webhooks } = adminOf(system);
  const ended = { status: { $in: ['delivered' as const, 'failed' as const] } };
  const count = () => system.db.collection<Delivery>('deliveries').countDocuments(ended);
  await until(async () => (await count()) === 3);
  expect(await webhooks.health({})).toMatchObject([
    {
      keyId: ill,
      state: 'failing',
      attempts: 2,
      successShare: 0,
      answers: [{ answer: '503', count: 2 }],
      partnerName: null,
    },
  ]);
  expect(await webhooks.health({ keyId: well })).toMatchObject([{ state: 'ok', successShare: 1, queued: 0 }]);
  const deliveries = system.db.collection<Delivery>('deliveries');
  const interrupted = {
    attempt: 1,
    trigger: 'event',
    dueAt: new Date(),
    at: new Date(),
    error: 'interrupted',
  } as const;
  await deliveries.updateMany(
    { keyId: well },
    { $push: { attempts: { $each: [interrupted, interrupted, interrupted] } } },
  );
  // A process of ours ended, so the receiver did not fail.
  expect(await webhooks.health({ keyId: well })).toMatchObject([
    { state: 'ok', successShare: 1, attempts: 1 },
  ]);
  expect(await webhooks.health({ mode: 'live' })).toEqual([]);
  expect(await webhooks.health({ mode: 'live', keyId: well })).toEqual([]);
  await expect(webhooks.health({ keyId: 'key_none' })).rejects.toMatchObject({
    cause: { code: 'not_found' },
  });
});

it('webhooks health of a key that has the other mode than the asked one is empty', async () => {
  const system = await createSystem({ worker: false });
  const keyId = system.key('https://partner.example/');
  const { webhooks } = adminOf(system);
  expect(await webhooks.health({ keyId, mode: 'test' })).toMatchObject([{ keyId }]);
  expect(await webhooks.health({ keyId, mode: 'live' })).toEqual([]);
});
