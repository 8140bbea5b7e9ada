import { expect, it } from 'vitest';
import type { ApiKey } from '../../../server/partners/keys/key-store.ts';
import type { Partner } from '../../../server/partners/partner-store.ts';
import { UnreadableSecret } from '../../../server/platform/keys/sealing.ts';
import { createWebhookEndpoints } from '../../../server/webhooks/delivery/endpoint.ts';

/** Endpoints whose key changes between two reads. `opened` is what was opened, in order. */
function endpointsOf(key: Partial<ApiKey>) {
  const opened: string[] = [];
  const read = createWebhookEndpoints({
    apiKey: async () => key as ApiKey,
    partner: async () => ({ status: 'active' }) as Partner,
    sealing: {
      async open(sealed) {
        opened.push(sealed);
        if (sealed === 'unreadable') throw new UnreadableSecret();
        return `opened ${sealed}`;
      },
    },
    used: { endpoint: () => undefined },
  });
  return { opened, read: () => read('key_1') };
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
