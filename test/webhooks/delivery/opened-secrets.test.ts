import { expect, it } from 'vitest';
import type { ApiKey } from '../../../server/partners/keys/key-store.ts';
import type { Partner } from '../../../server/partners/partner-store.ts';
import { UnreadableSecret } from '../../../server/platform/keys/sealing.ts';
import { createWebhookEndpoints, createWhyOff } from '../../../server/webhooks/delivery/endpoint.ts';

/** Endpoints whose key changes between two reads. `opened` is what was opened, in order, and `used` are the keys in use. */
function endpointsOf(key: Partial<ApiKey>, owner: Partial<Partner> = { status: 'active' }) {
  const opened: string[] = [];
  const used: ApiKey[] = [];
  const read = createWebhookEndpoints({
    apiKey: async () => ({ partnerId: 'ptr_1', ...key }) as ApiKey,
    partner: async () => owner as Partner,
    sealing: {
      async open(sealed) {
        opened.push(sealed);
        if (sealed === 'unreadable') throw new UnreadableSecret();
        return `opened ${sealed}`;
      },
    },
    used: { endpoint: (one) => void used.push(one) },
  });
  return { opened, used, read: () => read('key_1') };
}

const webhook = (sealedSecret: string): Pick<ApiKey, 'webhook'> =>
  ({ webhook: { url: 'https://a.example/', sealedSecret, secretVersion: 1 } }) as Pick<ApiKey, 'webhook'>;

it('a signing secret is opened once, however many attempts it signs', async () => {
  const { opened, read } = endpointsOf({ status: 'active', ...webhook('one') });
  for (let n = 0; n < 3; n += 1) expect(await read()).toMatchObject({ secret: 'opened one' });
  expect(opened).toEqual(['one']);
});

it('the attempt after a rotation is signed with the new secret, and the old one is forgotten', async () => {
  const key: Partial<ApiKey> = { status: 'active', ...webhook('one') };
  const { opened, read } = endpointsOf(key);
  await read();
  Object.assign(key, webhook('two'));
  expect(await read()).toMatchObject({ secret: 'opened two' });
  Object.assign(key, webhook('one'));
  expect(await read()).toMatchObject({ secret: 'opened one' });
  expect(opened).toEqual(['one', 'two', 'one']);
});

it('the secret of an endpoint that is off is forgotten', async () => {
  const key: Partial<ApiKey> = { status: 'active', ...webhook('one') };
  const { opened, read } = endpointsOf(key);
  await read();
  Object.assign(key, { status: 'revoked' });
  expect(await read()).toEqual({ state: 'off', reason: 'key_revoked' });
  Object.assign(key, { status: 'active' });
  await read();
  expect(opened).toEqual(['one', 'one']);
});

it('a secret that cannot be opened is tried again at the next attempt', async () => {
  const { opened, read } = endpointsOf({ status: 'active', ...webhook('unreadable') });
  await expect(read()).rejects.toBeInstanceOf(UnreadableSecret);
  await expect(read()).rejects.toBeInstanceOf(UnreadableSecret);
  expect(opened).toHaveLength(2);
});

it('an endpoint is off if its key is revoked, its partner suspended or its URL missing, and nothing is opened then', async () => {
  const cases = [
    [endpointsOf({ status: 'revoked', ...webhook('one') }), 'key_revoked'],
    [endpointsOf({ status: 'active', ...webhook('one') }, { status: 'suspended' }), 'partner_suspended'],
    [endpointsOf({ status: 'active' }), 'no_url'],
  ] as const;
  for (const [{ read, opened, used }, reason] of cases) {
    expect(await read()).toEqual({ state: 'off', reason });
    expect([opened, used]).toEqual([[], []]);
  }
});

it('an endpoint that is on has its mode and the end of its pause, and a use of its secret is noted when it signs', async () => {
  const until = new Date('2026-07-01T12:00:00Z');
  const key = { status: 'active', mode: 'live', pause: { until }, ...webhook('one') } as ApiKey;
  const { read, used } = endpointsOf(key);
  const endpoint = await read();
  expect(endpoint).toEqual({
    ...{ state: 'on', url: 'https://a.example/', secret: 'opened one', secretVersion: 1 },
    ...{ mode: 'live', pausedUntil: until, noteUse: expect.any(Function) },
  });
  expect(used).toEqual([]);
  if (endpoint.state === 'on') endpoint.noteUse?.();
  expect(used).toMatchObject([key]);
});

it.each([
  [{ status: 'active', ...webhook('one') }, { status: 'active' }, undefined],
  [{ status: 'active' }, { status: 'active' }, 'no_url'],
  [{ status: 'revoked', ...webhook('one') }, { status: 'active' }, 'key_revoked'],
  [{ status: 'active', ...webhook('one') }, { status: 'suspended' }, 'partner_suspended'],
  [{ status: 'active', ...webhook('one') }, { status: 'suspended', closedAt: new Date() }, 'partner_closed'],
] as const)(
  'why nothing is sent to a key is what its attempts find: %j, and the partner %j',
  async (key, owner, reason) => {
    const partner = async () => owner as Partner;
    const apiKey = async () => ({ partnerId: 'ptr_1', ...key }) as ApiKey;
    expect(await createWhyOff({ apiKey, partner })('key_1')).toBe(reason);
    const { read } = endpointsOf(key, owner);
    expect(await read()).toMatchObject(reason === undefined ? { state: 'on' } : { state: 'off', reason });
  },
);
