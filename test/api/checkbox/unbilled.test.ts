import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { type ManualClock, manualClock, startTestServer, type TestServer } from '../../harness/server.ts';

const minute = 60_000;
let server: TestServer;
let clock: ManualClock;
let partner: TestPartner;
let enrollmentId: string;
beforeAll(async () => {
  clock = manualClock(Math.floor(Date.now() / minute) * minute);
  server = await startTestServer({ clock });
  partner = await createPartner(server);
  await completeSession(server, partner, 'adult', 'age_18_plus');
  const [newest] = await server.admin.enrollments.list.query({ partnerId: partner.partnerId, limit: 1 });
  enrollmentId = newest?.id ?? '';
});
afterAll(() => server.stop());

async function resolve(body: unknown, idempotencyKey: string, { apiKey }: TestPartner = partner) {
  const response = await fetch(`${server.baseUrl}/api/checkbox/resolve`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'idempotency-key': idempotencyKey,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  const retryAfter = Number(response.headers.get('retry-after'));
  return { status: response.status, retryAfter, body: (await response.json()) as unknown };
}

const good = () => ({ enrollment_id: enrollmentId, claims: ['age_18_plus'] });

it('an API key gets 429 after 120 unbilled checkbox answers in a minute, while billed answers stay possible', async () => {
  expect((await resolve(good(), 'first')).status).toBe(200);
  const kinds = [
    () => resolve(good(), 'first'),
    () => resolve({ ...good(), claims: ['country'] }, 'first'),
    () => resolve({ ...good(), enrollment_id: 'enr_unknown' }, 'another'),
    () => resolve({}, 'another'),
  ];
  const statuses: number[] = [];
  for (let round = 0; round < 30; round += 1)
    statuses.push(...(await Promise.all(kinds.map((ask) => ask()))).map(({ status }) => status));
  expect(statuses).toEqual(Array(30).fill([200, 422, 404, 400]).flat());

  for (const ask of kinds) {
    expect(await ask()).toEqual({
      status: 429,
      retryAfter: 60,
      body: { success: false, error: 'Too many requests that were not billed' },
    });
  }
  expect((await resolve(good(), 'second')).status).toBe(200);
  const other = await createPartner(server);
  expect((await resolve({}, 'first', other)).status).toBe(400);

  clock.advance(minute);
  expect((await resolve(good(), 'first')).status).toBe(200);
});
