import { expect, it } from 'vitest';
import type { Access } from '../../../contracts/charge.ts';
import {
  type Authenticated,
  createClientAuthentication,
} from '../../../server/api/oauth/client-authentication.ts';
import { createUserinfo } from '../../../server/api/oauth/userinfo.ts';
import { authenticateKey } from '../../../server/api/verify/hvf-session.ts';
import type { Reading } from '../../../server/partners/directory/directory.ts';
import type { ApiKey } from '../../../server/partners/keys/key-store.ts';
import type { Partner } from '../../../server/partners/partner-store.ts';

/** A cache that returns `old`, while the database has `present`. */
const cached =
  <T>(old: T, present: T) =>
  async (_id: string, options?: Reading<T>): Promise<T> =>
    options?.acceptCached && !options.acceptCached(old) ? present : old;

const found = (status: 'active' | 'suspended', secret: string): Authenticated => ({
  client: {
    ...{ _id: 'cli_1', partnerId: 'ptr_1', keyId: 'key_1', mode: 'test', kind: 'oauth', status: 'active' },
    ...{ secrets: [{ hash: secret }], claims: [] },
  },
  partner: { _id: 'ptr_1', status },
});

const allowed = async () => undefined;

it.each([
  ['a suspended partner', found('suspended', 'right')],
  ['a secret that was rotated', found('active', 'old')],
])(
  'client authentication reads a cached client from the database again before it refuses %s',
  async (_what, old) => {
    const clients = createClientAuthentication({
      findClient: cached(old, found('active', 'right')),
      secretMatches: ({ secrets }, secret) => secrets.some(({ hash }) => hash === secret),
      keyStatus: async () => 'active',
      limit: allowed,
    });
    const credentials = { clientId: 'cli_1', clientSecret: 'right', basic: false, address: '192.0.2.1' };
    expect(await clients.authenticate(credentials)).toMatchObject({ partner: { status: 'active' } });
    await expect(clients.authenticate({ ...credentials, clientSecret: 'wrong' })).rejects.toMatchObject({
      code: 'invalid_client',
    });
  },
);

it('API key authentication reads a cached suspended partner again, and accepts the key if the partner is active now', async () => {
  const key = { _id: 'key_1', partnerId: 'ptr_1', status: 'active' } as ApiKey;
  const partner = cached({ status: 'suspended' } as Partner, { status: 'active' } as Partner);
  const directory = { apiKeyBySecret: async () => key, partner };
  expect(await authenticateKey('Bearer svc_test_x', directory)).toBe(key);
});

it('userinfo answers invalid_token if the charge behind an access token was made by a storefront exchange or by checkbox resolve', async () => {
  const access: Access = {
    ...{ id: 'txn_1', kind: 'token', at: new Date(0), expiresAt: new Date(2_000) },
    ...{ partnerId: 'ptr_1', mode: 'test', clientId: 'cli_1', keyId: 'key_1', sessionId: 'ses_1' },
    ...{ enrollmentId: 'enr_1', sub: 's', returning: false, scope: '', claims: {} },
    meta: { claims_requested: [], claims_resolved: [], claims_null: [], claims_ignored: [] },
  };
  const userinfoOf = (kind: Access['kind']) =>
    createUserinfo({
      tokens: {
        verify: async () => ({ ...access, isExpired: false }),
      },
      revokedAt: async () => undefined,
      findAccess: async () => ({ ...access, kind }),
      findClient: async () => found('active', ''),
      limit: allowed,
      clock: { now: () => 1_000 },
    })('Bearer token');
  expect(await userinfoOf('token')).toMatchObject({ sub: 's' });
  await expect(userinfoOf('storefront')).rejects.toMatchObject({ code: 'invalid_token' });
  await expect(userinfoOf('checkbox')).rejects.toMatchObject({ code: 'invalid_token' });
});
