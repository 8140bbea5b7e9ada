import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnedSecretKind, SecretOwner } from '../../contracts/admin/secrets.ts';
import { randomSecret, sha256 } from '../../server/platform/ids.ts';
import { createSealing } from '../../server/platform/keys/sealing.ts';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { adminToken, refusal, shiftedClock, startTestServer, type TestServer } from '../harness/server.ts';

const clock = shiftedClock();
let server: TestServer;
let partner: TestPartner;
/** One secret of each kind, with the id of its owner, and the command that replaces or revokes the secret. */
const secrets = {} as Record<OwnedSecretKind, { secret: string; id: string; command: string }>;
let roles: Record<'support' | 'ops', TestServer['admin']>;

beforeAll(async () => {
  server = await startTestServer({ clock });
  const { admin } = server;
  partner = await createPartner(server, { client: { kind: 'storefront' } });
  const { partnerId, keyId, clientId } = partner;
  const live = await admin.keys.create.mutate({ partnerId, mode: 'live' });
  const hook = await admin.webhooks.set.mutate({ keyId, url: 'https://partner.example/hooks' });
  const shops = ['shop.example'];
  const integration = await admin.integrations.create.mutate({ partnerId, clientId, shops });
  const operator = await admin.operators.create.mutate({ name: 'Kim', role: 'support' });
  const other = await admin.operators.create.mutate({ name: 'Pat', role: 'ops' });
  roles = { support: server.as(operator.token), ops: server.as(other.token) };
  Object.assign(secrets, {
    testKey: { secret: partner.apiKey, id: keyId, command: 'keys rotate' },
    liveKey: { secret: live.apiKey, id: live.id, command: 'keys rotate' },
    clientSecret: { secret: partner.clientSecret, id: clientId, command: 'clients rotate-secret' },
    webhookSecret: { secret: hook.signingSecret, id: keyId, command: 'webhooks rotate-secret' },
    integrationSecret: {
      secret: integration.integrationSecret,
      id: integration.id,
      command: 'integrations rotate-secret',
    },
    operatorToken: { secret: operator.token, id: operator.id, command: 'operators revoke' },
  });
});
afterAll(() => server.stop());

const kinds: OwnedSecretKind[] = [
  'testKey',
  'liveKey',
  'clientSecret',
  'webhookSecret',
  'integrationSecret',
  'operatorToken',
];
const find = (kind: OwnedSecretKind, secret: string, api = server.admin) =>
  api.secrets.find.query({ kind, hash: sha256(secret) });

describe('secrets.find for a leaked secret', () => {
  it.each(kinds)(
    'names the owner and the next command, and never the secret, for the kind %s',
    async (kind) => {
      const { secret, id, command } = secrets[kind];
      const found = await find(kind, secret);
      expect(SecretOwner.parse(found)).toMatchObject({ kind, id, active: true, inactive: null });
      expect(found.next).toBe(`svcadmin ${command} ${id}`);
      if (kind !== 'operatorToken')
        expect(found).toMatchObject({
          partnerId: partner.partnerId,
          partnerName: 'Acme Cinema',
          mode: kind === 'liveKey' ? 'live' : 'test',
        });
      expect(JSON.stringify(found)).not.toContain(secret);
    },
  );

  it.each(kinds)(
    'answers not_found to an unknown or incomplete %s, and to one that is sent as another kind',
    async (kind) => {
      for (const secret of [randomSecret(kind), secrets[kind].secret.slice(0, -1)])
        expect(await refusal(find(kind, secret))).toBe('not_found');
      for (const other of kinds.filter((each) => each !== kind && !/Key$/.test(each)))
        expect(await refusal(find(other, secrets[kind].secret))).toBe('not_found');
    },
  );

  it('answers bad_input to the secret itself, an empty text and an incomplete hash', async () => {
    const { secret } = secrets.clientSecret;
    for (const hash of [secret, '', sha256(secret).slice(1)])
      expect(await refusal(server.admin.secrets.find.query({ kind: 'clientSecret', hash }))).toBe(
        'bad_input',
      );
  });

  it("names the roles that may rotate the secret, if the caller's role may not", async () => {
    const { id, secret } = secrets.liveKey;
    expect((await find('liveKey', secret, roles.support)).next).toBe(`svcadmin keys rotate ${id}`);
    expect((await find('liveKey', secret, roles.ops)).next).toBe(
      `ask support or an owner for: svcadmin keys rotate ${id}`,
    );
  });

  it('names the variable SVC_ADMIN_TOKEN for the token of the first operator', async () => {
    expect(await find('operatorToken', adminToken)).toMatchObject({
      id: 'opr_first',
      active: true,
      next: expect.stringContaining('SVC_ADMIN_TOKEN'),
    });
  });

  it('finds a signing secret although that of another API key cannot be decrypted', async () => {
    const { secret, id } = secrets.webhookSecret;
    const broken = await createPartner(server);
    await server.admin.webhooks.set.mutate({ keyId: broken.keyId, url: 'https://partner.example/' });
    const sealed = await createSealing([new Uint8Array(32).fill(9)]).seal('whsec_of_another');
    await server.db
      .collection<{ _id: string }>('apiKeys')
      .updateOne({ _id: broken.keyId }, { $set: { 'webhook.sealedSecret': sealed } });
    expect(await find('webhookSecret', secret)).toMatchObject({ id });
  });

  it('finds a signing secret among 250 other ones', async () => {
    const sealing = createSealing([new Uint8Array(32).fill(7)]);
    const apiKeys = server.db.collection<{ _id: string; hash: string }>('apiKeys');
    const [{ _id, hash: _hash, ...like } = { _id: '', hash: '' }] = await apiKeys
      .find({ _id: partner.keyId })
      .toArray();
    const webhook = {
      url: 'https://partner.example/',
      secretVersion: 1,
      sealedSecret: await sealing.seal('whsec_of_many'),
    };
    const many = Array.from({ length: 250 }, (_, n) => ({
      ...like,
      _id: `key_many_${n}`,
      hash: `many ${n}`,
      webhook,
    }));
    await apiKeys.insertMany(many);
    const last = { sealedSecret: await sealing.seal('whsec_of_the_last') };
    await apiKeys.updateOne({ _id: 'key_many_249' }, { $set: { webhook: { ...webhook, ...last } } });
    expect(await find('webhookSecret', 'whsec_of_the_last')).toMatchObject({ id: 'key_many_249' });
    await apiKeys.deleteMany({ _id: /^key_many_/ });
    expect(await refusal(find('webhookSecret', 'whsec_of_the_last'))).toBe('not_found');
  });
});

/** Rotates the secrets of an API key and an integration, which keep their old secrets for an hour. */
async function keepOld() {
  const { admin } = server;
  const { partnerId, clientId } = partner;
  const keepOldSeconds = 3_600;
  const key = await admin.keys.create.mutate({ partnerId, mode: 'test' });
  await admin.keys.rotate.mutate({ keyId: key.id, keepOldSeconds });
  const made = await admin.integrations.create.mutate({ partnerId, clientId, shops: ['kept.example'] });
  await admin.integrations.rotateSecret.mutate({ integrationId: made.id, keepOldSeconds });
  const kept = [
    ['testKey', key.apiKey, key.id],
    ['integrationSecret', made.integrationSecret, made.id],
  ] as const;
  for (const [kind, secret, id] of kept)
    expect(await find(kind, secret)).toMatchObject({ id, active: true, expiresAt: expect.any(String) });
  return kept;
}

describe('secrets.find for an inactive secret', () => {
  it('says that an old secret has expired or a prepared one is not used yet, and answers not_found to a discarded one', async () => {
    const { admin } = server;
    const { clientId } = partner;
    const first = secrets.clientSecret.secret;
    await admin.clients.rotateSecret.mutate({ clientId, keepOldSeconds: 3_600 });
    const kept = await find('clientSecret', first);
    expect(kept).toMatchObject({ active: true, expiresAt: expect.any(String), id: clientId });
    clock.ahead = 3_700_000;
    expect(await find('clientSecret', first)).toMatchObject({
      active: false,
      inactive: 'the secret was rotated, and has expired',
      next: null,
    });
    clock.ahead = 0;
    const { keyId } = partner;
    const { signingSecret: prepared } = await admin.webhooks.prepareSecret.mutate({ keyId });
    expect(await find('webhookSecret', prepared)).toMatchObject({
      id: keyId,
      inactive: 'it is prepared, and signs nothing yet',
      next: `svcadmin webhooks rotate-secret ${keyId}`,
    });
    await admin.webhooks.rotateSecret.mutate({ keyId });
    expect(await refusal(find('webhookSecret', secrets.webhookSecret.secret))).toBe('not_found');
    expect(await refusal(find('webhookSecret', prepared))).toBe('not_found');
    const old = await keepOld();
    clock.ahead = 3_700_000;
    for (const [kind, secret] of old) {
      expect(await find(kind, secret)).toMatchObject({ inactive: 'the secret was rotated, and has expired' });
    }
    clock.ahead = 0;
    await admin.keys.rotate.mutate({ keyId });
    expect(await refusal(find('testKey', partner.apiKey))).toBe('not_found');
  });

  it('says that its partner, key, integration or operator is inactive, and names a command only if one can help', async () => {
    const { admin } = server;
    const { partnerId } = partner;
    await admin.partners.suspend.mutate({ partnerId });
    const { id, secret } = secrets.liveKey;
    expect(await find('liveKey', secret)).toMatchObject({
      active: false,
      inactive: 'the partner is suspended',
      next: `svcadmin keys rotate ${id}`,
    });
    await admin.keys.revoke.mutate({ keyId: id });
    expect(await find('liveKey', secret)).toMatchObject({ inactive: 'the API key is revoked', next: null });
    await admin.integrations.disable.mutate({ integrationId: secrets.integrationSecret.id });
    expect(await find('integrationSecret', secrets.integrationSecret.secret)).toMatchObject({
      inactive: 'the integration is disabled',
      next: null,
    });
    await admin.operators.revoke.mutate({ operatorId: secrets.operatorToken.id });
    expect(await find('operatorToken', secrets.operatorToken.secret)).toMatchObject({
      inactive: 'the operator is revoked',
      next: null,
    });
  });
});
