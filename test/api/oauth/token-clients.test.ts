import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestPartner, tokenForm } from '../../harness/partner.ts';
import { basic, type OAuthServer, startOAuth } from './oauth-server.ts';

let oauth: OAuthServer;
let partner: TestPartner;

beforeAll(async () => {
  oauth = await startOAuth();
  partner = await oauth.partner({ client: { tokenRequestsPerMinute: 100_000 } });
});
afterAll(() => oauth.stop());

const unknownCode = { code: 'svc_code_unknown', codeVerifier: 'v'.repeat(43) };
const inactive = { status: 403, error: 'client_inactive' };

describe('POST /api/oauth/token', () => {
  const refused = { status: 401, error: 'invalid_client' };

  it('answers 401 invalid_client to a wrong secret, a wrong checksum, an unknown client, and credentials of different clients', async () => {
    const other = await oauth.partner();
    const { clientId, clientSecret } = partner;
    const attempts = [
      { client_secret: 'x' },
      { client_secret: `${clientSecret.slice(0, -1)}${clientSecret.endsWith('0') ? '1' : '0'}` },
      { client_secret: other.clientSecret },
      { client_id: other.clientId },
      { client_id: 'cli_0000000000000000000000' },
      { client_id: clientId.toLowerCase() },
      { client_id: '{"$ne":null}' },
    ];
    for (const changed of attempts) {
      const answer = await oauth.exchange(partner, unknownCode, changed);
      expect(answer).toMatchObject(refused);
      expect(answer.headers.has('www-authenticate')).toBe(false);
    }
  });

  it('adds WWW-Authenticate: Basic to its 401 if the request has an Authorization header of any scheme', async () => {
    const { client_id: _id, client_secret: _secret, ...fields } = tokenForm(partner, unknownCode);
    const body = new URLSearchParams(fields);
    const headers = [
      basic(partner.clientId, 'svc_secret_wrong'),
      basic('cli_unknown', partner.clientSecret),
      basic('', partner.clientSecret),
      basic('%', '%'),
      { authorization: `Bearer ${partner.clientSecret}` },
      { authorization: 'Basic' },
      { authorization: 'Basic !!!' },
    ];
    for (const header of headers) {
      const answer = await oauth.send('token', { headers: header, body });
      expect(answer).toMatchObject(refused);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
    }
  });

  it('answers 401 invalid_client to the old secret after a rotation, immediately or after keepOldSeconds', async () => {
    const { admin } = oauth.server;
    const { clientId } = partner;
    const first = partner.clientSecret;
    const verified = await oauth.verified(partner);
    const second = await admin.clients.rotateSecret.mutate({ clientId });
    expect(await oauth.exchange(partner, verified, { client_secret: first })).toMatchObject(refused);

    const third = await admin.clients.rotateSecret.mutate({ clientId, keepOldSeconds: 60 });
    const kept = { client_secret: second.clientSecret };
    oauth.clock.advance(59_999);
    expect(await oauth.exchange(partner, unknownCode, kept)).toMatchObject({ error: 'invalid_grant' });
    oauth.clock.advance(1);
    expect(await oauth.exchange(partner, unknownCode, kept)).toMatchObject(refused);
    partner = { ...partner, clientSecret: third.clientSecret };
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
  });
});

describe('POST /api/oauth/token', () => {
  it('answers 403 client_inactive to a client of a partner that was never activated', async () => {
    const { admin } = oauth.server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Pending' });
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    const { id: clientId, clientSecret } = await admin.clients.create.mutate({
      partnerId,
      keyId,
      name: 'Pending',
      redirectUris: ['http://localhost:1/'],
      claims: ['country'],
    });
    expect(await oauth.exchange({ ...partner, clientId, clientSecret }, unknownCode)).toMatchObject(inactive);
  });

  it('answers 403 client_inactive to a client of a suspended partner, and its code can be exchanged after the suspension', async () => {
    const { admin } = oauth.server;
    const { partnerId } = partner;
    const verified = await oauth.verified(partner);
    await admin.partners.suspend.mutate({ partnerId });
    expect(await oauth.exchange(partner, verified)).toMatchObject(inactive);
    expect(await oauth.exchange(partner, verified, { client_secret: 'wrong' })).toMatchObject({
      status: 401,
    });
    await admin.partners.activate.mutate({ partnerId });
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
  });

  it('answers 403 client_inactive to a disabled client', async () => {
    const { admin } = oauth.server;
    const { clientId } = partner;
    const verified = await oauth.verified(partner);
    await admin.clients.disable.mutate({ clientId });
    expect(await oauth.exchange(partner, verified)).toMatchObject(inactive);
    await admin.clients.enable.mutate({ clientId });
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
  });

  it('answers 403 client_inactive to a client of a revoked key, until the client is moved to another key', async () => {
    const { admin } = oauth.server;
    const other = await oauth.partner();
    const { partnerId, clientId } = other;
    const verified = await oauth.verified(other);
    await admin.keys.revoke.mutate({ keyId: other.keyId });
    expect(await oauth.exchange(other, verified)).toMatchObject(inactive);
    expect(await oauth.wallet(other)).toEqual({ balance: 10_000, entries: 1 });

    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    await admin.clients.update.mutate({ clientId, keyId });
    expect((await oauth.exchange(other, verified)).status).toBe(200);
  });

  it("answers 200 after a rotation of the client's API key", async () => {
    const verified = await oauth.verified(partner);
    await oauth.server.admin.keys.rotate.mutate({ keyId: partner.keyId });
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
  });
});

describe('POST /api/oauth/token', () => {
  it('answers 403 access_denied for a duplicate identity, without a charge', async () => {
    const before = await oauth.wallet(partner);
    const answer = await oauth.exchange(partner, await oauth.verified(partner, 'duplicate'));
    expect(answer).toMatchObject({ status: 403, error: 'access_denied' });
    expect(await oauth.wallet(partner)).toEqual(before);
  });

  it('answers 403 access_denied for an enrollment that support has blocked; after an unblock, the code can be exchanged', async () => {
    const { admin } = oauth.server;
    const other = await oauth.partner();
    const verified = await oauth.verified(other);
    const { partnerId } = other;
    const [{ id: enrollmentId } = { id: '' }] = await admin.enrollments.list.query({ partnerId });
    await admin.enrollments.block.mutate({ enrollmentId, reason: 'fraud' });
    const refused = await oauth.exchange(other, verified);
    expect(refused).toMatchObject({ status: 403, error: 'access_denied' });
    expect(refused.error_description).not.toMatch(/fraud/);
    await admin.enrollments.unblock.mutate({ enrollmentId });
    expect((await oauth.exchange(other, verified)).status).toBe(200);
  });
});
