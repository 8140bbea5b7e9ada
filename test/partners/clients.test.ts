import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWellFormedSecret } from '../../server/platform/ids.ts';
import { refusal, shiftedClock, startTestServer, type TestServer } from '../harness/server.ts';

const clock = shiftedClock();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

async function onboard(mode: 'test' | 'live' = 'test') {
  const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
  const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode });
  const client = await server.admin.clients.create.mutate({
    partnerId,
    keyId,
    name: 'Shop',
    redirectUris: ['https://shop.example/callback'],
    claims: ['age_18_plus', 'country', 'age_18_plus'],
  });
  return { partnerId, keyId, client };
}

describe('a client', () => {
  it('has the mode of its key; clients.show returns it without the client secret', async () => {
    const { partnerId, keyId, client } = await onboard('live');
    expect(client).toMatchObject({
      partnerId,
      keyId,
      mode: 'live',
      kind: 'oauth',
      status: 'active',
      claims: ['age_18_plus', 'country'],
      tokenRequestsPerMinute: null,
    });
    expect(isWellFormedSecret('clientSecret', client.clientSecret)).toBe(true);
    const { clientSecret, ...shown } = client;
    expect(await server.admin.clients.show.query({ clientId: client.id })).toEqual(shown);
    const found = await server.services.partners.directory.client(client.id);
    expect(found?.partner).toMatchObject({ _id: partnerId, status: 'pending' });
    expect(found && server.services.partners.clientSecrets.matches(found.client, clientSecret)).toBe(true);
    expect(found && server.services.partners.clientSecrets.matches(found.client, `${clientSecret}x`)).toBe(
      false,
    );
  });

  it.each([
    ['live', 'http://localhost/callback'],
    ['live', 'https://shop.example/#fragment'],
    ['test', 'http://shop.example/callback'],
    ['test', 'https://user@shop.example/'],
    ['test', '/callback'],
  ] as const)(
    'cannot be created or updated in %s mode with the redirect URI %s (`refused`)',
    async (mode, uri) => {
      const { partnerId, keyId, client } = await onboard(mode);
      const wanted = { partnerId, keyId, name: 'Shop', redirectUris: [uri], claims: ['country' as const] };
      expect(await refusal(server.admin.clients.create.mutate(wanted))).toBe('refused');
      const update = server.admin.clients.update.mutate({ clientId: client.id, redirectUris: [uri] });
      expect(await refusal(update)).toBe('refused');
      expect(await server.admin.clients.list.query({ partnerId })).toHaveLength(1);
    },
  );

  it('cannot be created or updated as a storefront client without a boolean claim (`refused`)', async () => {
    const { partnerId, keyId } = await onboard();
    const redirectUris = ['https://shop.example/callback'];
    const wanted = { partnerId, keyId, name: 'Shop', redirectUris, kind: 'storefront' as const };
    const without = ['country' as const, 'assurance_level' as const];
    const create = server.admin.clients.create.mutate({ ...wanted, claims: without });
    await expect(create).rejects.toThrow(/needs a claim that can be true, such as age_18_plus/);
    const claims = ['country' as const, 'identity_verified' as const];
    const { id: clientId } = await server.admin.clients.create.mutate({ ...wanted, claims });
    expect(await refusal(server.admin.clients.update.mutate({ clientId, claims: without }))).toBe('refused');
    await server.admin.clients.update.mutate({ clientId, claims: ['age_16_plus'] });
    expect(await server.admin.clients.show.query({ clientId })).toMatchObject({ claims: ['age_16_plus'] });
  });

  it('speaks OpenID Connect only if it is told to; null removes its default claims', async () => {
    const { client } = await onboard();
    const { clients } = server.admin;
    expect(client).toMatchObject({ openid: false, defaultClaims: [], idTokenAlg: 'RS256' });
    const { id: clientId } = client;
    const settings = { openid: true, defaultClaims: ['country' as const], idTokenAlg: 'ES256' as const };
    expect(await clients.update.mutate({ clientId, ...settings })).toMatchObject(settings);
    expect(await clients.update.mutate({ clientId, openid: false, defaultClaims: null })).toMatchObject({
      openid: false,
      defaultClaims: [],
      idTokenAlg: 'ES256',
    });
  });

  it('cannot have a default claim that it may not ask for, and no storefront client speaks OpenID Connect (`refused`)', async () => {
    const { partnerId, keyId, client } = await onboard();
    const { clients } = server.admin;
    const { id: clientId } = client;
    const wanted = { partnerId, keyId, name: 'Shop', redirectUris: ['https://a.example/'] };
    const claims = ['age_18_plus' as const];
    const shop = { ...wanted, claims, kind: 'storefront' as const };
    expect(await refusal(clients.create.mutate({ ...wanted, claims, defaultClaims: ['country'] }))).toBe(
      'refused',
    );
    expect(await refusal(clients.create.mutate({ ...shop, openid: true }))).toBe('refused');
    await clients.update.mutate({ clientId, defaultClaims: ['country'] });
    expect(await refusal(clients.update.mutate({ clientId, claims }))).toBe('refused');
    expect(await refusal(clients.update.mutate({ clientId, defaultClaims: ['age_21_plus'] }))).toBe(
      'refused',
    );
    const { id: shopId } = await clients.create.mutate(shop);
    expect(await refusal(clients.update.mutate({ clientId: shopId, openid: true }))).toBe('refused');
  });

  it('cannot be created with an unknown claim, with a revoked key (conflict), or with a key of another partner (`refused`)', async () => {
    const { partnerId, keyId } = await onboard();
    const other = await onboard();
    const wanted = {
      partnerId,
      keyId,
      name: 'Shop',
      redirectUris: ['https://a.example/'],
      claims: ['country' as const],
    };
    const unknown = server.admin.clients.create.mutate({ ...wanted, claims: ['shoe_size' as never] });
    await expect(unknown).rejects.toThrow('unknown claim shoe_size; known: age_16_plus');
    expect(await refusal(server.admin.clients.create.mutate({ ...wanted, keyId: other.keyId }))).toBe(
      'refused',
    );
    await server.admin.keys.revoke.mutate({ keyId });
    expect(await refusal(server.admin.clients.create.mutate(wanted))).toBe('conflict');
  });

  it('can gain and lose single redirect URIs, and gain several simultaneously, but not lose the last one (`refused`)', async () => {
    const { client } = await onboard();
    const clientId = client.id;
    const update = (change: Omit<Parameters<typeof server.admin.clients.update.mutate>[0], 'clientId'>) =>
      server.admin.clients.update.mutate({ clientId, ...change });
    const [old = ''] = client.redirectUris;
    const fresh = 'https://shop.example/fresh';
    expect((await update({ addRedirectUris: [fresh] })).redirectUris).toEqual([old, fresh]);
    expect((await update({ addRedirectUris: [fresh], name: 'Wine' })).redirectUris).toEqual([old, fresh]);
    expect((await update({ removeRedirectUris: [old] })).redirectUris).toEqual([fresh]);
    await expect(update({ removeRedirectUris: [old] })).rejects.toThrow(`there are: ${fresh}`);
    expect(await refusal(update({ removeRedirectUris: [fresh] }))).toBe('refused');
    expect(await refusal(update({ addRedirectUris: ['https://shop.example/#x'] }))).toBe('refused');
    expect(await refusal(update({ addRedirectUris: [old], redirectUris: [old] }))).toBe('bad_input');
    const many = Array.from({ length: 20 }, (_, n) => `https://shop.example/${n}`);
    expect(await refusal(update({ addRedirectUris: many }))).toBe('refused');
    await Promise.all(['a', 'b', 'c'].map((path) => update({ addRedirectUris: [`${fresh}/${path}`] })));
    const { redirectUris } = await server.admin.clients.show.query({ clientId });
    expect(redirectUris).toHaveLength(4);
    const log = await server.admin.auditLog.list.query({ target: clientId, action: 'clients.update' });
    expect(log.filter(({ outcome }) => outcome === 'changed').at(-1)).toMatchObject({
      before: { redirectUris: [old] },
      after: { redirectUris: [old, fresh] },
    });
  });

  it('is updated only in the given fields, and null restores the default', async () => {
    const { client } = await onboard();
    const clientId = client.id;
    const updated = await server.admin.clients.update.mutate({
      clientId,
      claims: ['country'],
      tokenRequestsPerMinute: 500,
    });
    expect(updated).toMatchObject({ claims: ['country'], tokenRequestsPerMinute: 500, name: 'Shop' });
    const back = await server.admin.clients.update.mutate({ clientId, tokenRequestsPerMinute: null });
    expect(back).toMatchObject({ claims: ['country'], tokenRequestsPerMinute: null });
    // The change was made in this process, so the next look-up sees it immediately.
    expect((await server.services.partners.directory.client(clientId))?.client.claims).toEqual(['country']);
  });

  it('can have a brand name and a colour for the hosted pages; null removes them, and a malformed colour is an error', async () => {
    const { client } = await onboard();
    const clientId = client.id;
    expect(client).toMatchObject({ brandName: null, brandColor: null });
    const branded = await server.admin.clients.update.mutate({
      clientId,
      brandName: 'Vins & Cie',
      brandColor: '#8A1538',
    });
    expect(branded).toMatchObject({ brandName: 'Vins & Cie', brandColor: '#8a1538' });
    for (const brandColor of ['red', '#fff', '#12345g', 'url(x)']) {
      const update = server.admin.clients.update.mutate({ clientId, brandColor });
      await expect(update).rejects.toThrow('brandColor: expected a colour such as #0a7f5c');
    }
    const plain = await server.admin.clients.update.mutate({ clientId, brandName: null, brandColor: null });
    expect(plain).toMatchObject({ brandName: null, brandColor: null });
  });

  it('can have a URL of a privacy notice; it must be a full https address without credentials or hidden characters', async () => {
    const { client } = await onboard();
    const clientId = client.id;
    const update = (privacyUrl: string | null) =>
      server.admin.clients.update.mutate({ clientId, privacyUrl });
    const address = 'https://shop.example/privacy';
    expect(await update(address)).toMatchObject({ privacyUrl: address });
    for (const wrong of [
      ...['', 'shop.example', 'http://shop.example/', 'javascript:alert(1)', 'https://a@b.example/'],
      ...['https://:password@b.example/', 'https:b.example/', 'https:///bank.example@evil.example/'],
      ...['https://\\bank.example@evil.example/', 'https://b.example/\u202Efdp.privacy'],
    ])
      await expect(update(wrong), wrong).rejects.toThrow('privacyUrl');
    expect(await update(null)).toMatchObject({ privacyUrl: null });
  });

  it('can have a purpose of at most 140 characters, without line breaks or characters for text direction', async () => {
    const { client } = await onboard();
    const clientId = client.id;
    expect(client.purpose).toBeNull();
    const update = (purpose: string | null) => server.admin.clients.update.mutate({ clientId, purpose });
    expect(await update(' To sell you wine. ')).toMatchObject({ purpose: 'To sell you wine.' });
    for (const purpose of ['', ' ', 'a'.repeat(141), 'a\nb', 'a\u202Eb', 'a\u2066b'])
      await expect(update(purpose), JSON.stringify(purpose)).rejects.toThrow('purpose');
    expect((await server.admin.clients.show.query({ clientId })).purpose).toBe('To sell you wine.');
    expect(await update(null)).toMatchObject({ purpose: null });
  });

  it('can be moved to another key of its partner in the same mode, but not in the other mode', async () => {
    const { partnerId, client } = await onboard();
    const { id: testKey } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    const { id: liveKey } = await server.admin.keys.create.mutate({ partnerId, mode: 'live' });
    const move = (keyId: string) => server.admin.clients.update.mutate({ clientId: client.id, keyId });
    expect(await move(testKey)).toMatchObject({ keyId: testKey });
    expect(await refusal(move(liveKey))).toBe('refused');
  });

  it('can be disabled and enabled; its cached record is disabled as soon as the client is', async () => {
    const { client } = await onboard();
    const clientId = client.id;
    expect(await server.admin.clients.disable.mutate({ clientId })).toMatchObject({ status: 'disabled' });
    expect((await server.services.partners.directory.client(clientId))?.client.status).toBe('disabled');
    expect(await server.admin.clients.enable.mutate({ clientId })).toMatchObject({ status: 'active' });
  });
});

describe('clients.rotateSecret', () => {
  const accepts = async (clientId: string, secret: string) => {
    const found = await server.services.partners.directory.client(clientId);
    return found && server.services.partners.clientSecrets.matches(found.client, secret);
  };

  it('ends the old secret immediately if keepOldSeconds is not given', async () => {
    const { client } = await onboard();
    const { clientSecret } = await server.admin.clients.rotateSecret.mutate({ clientId: client.id });
    expect(await accepts(client.id, client.clientSecret)).toBe(false);
    expect(await accepts(client.id, clientSecret)).toBe(true);
  });

  it('accepts the old secret until keepOldSeconds have passed', async () => {
    const { client } = await onboard();
    const clientId = client.id;
    const rotated = await server.admin.clients.rotateSecret.mutate({ clientId, keepOldSeconds: 3600 });
    expect(rotated.secrets).toMatchObject([{ expiresAt: null }, { expiresAt: expect.any(String) }]);
    expect(await accepts(clientId, client.clientSecret)).toBe(true);
    clock.ahead = 3_600_001;
    try {
      expect(await accepts(clientId, client.clientSecret)).toBe(false);
      expect(await accepts(clientId, rotated.clientSecret)).toBe(true);
      expect((await server.admin.clients.show.query({ clientId })).secrets).toHaveLength(1);
    } finally {
      clock.ahead = 0;
    }
  });

  it('does not extend the time of an old secret, and answers conflict to the fourth rotation that keeps one', async () => {
    const { client } = await onboard();
    const clientId = client.id;
    const rotate = (keepOldSeconds: number) =>
      server.admin.clients.rotateSecret.mutate({ clientId, keepOldSeconds });
    const first = await rotate(60);
    const second = await rotate(86_400);
    expect(second.secrets.at(-1)).toEqual(first.secrets.at(-1));
    await rotate(86_400);
    await rotate(86_400);
    expect(await refusal(rotate(86_400))).toBe('conflict');
    expect((await rotate(0)).secrets).toMatchObject([{ expiresAt: null }]);
  });
});
