import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Hosted, onboard, redirectUri, startHosted, startQuery } from '../hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted();
});
afterAll(() => hosted.close());

async function start(query: string, accept = '*/*') {
  const response = await hosted.app.inject({ url: `/verify/start?${query}`, headers: { accept } });
  return { response, error: response.statusCode === 400 ? (response.json() as unknown) : undefined };
}

describe('302', () => {
  it('leads to the session, and binds the browser with a cookie of its own', async () => {
    const { clientId, keyId, partnerId } = await onboard(hosted);
    const { response } = await start(startQuery(clientId));
    expect(response.statusCode).toBe(302);
    const location = String(response.headers.location);
    const sessionId = location.split('/').at(-1) ?? '';
    expect(location).toBe(`https://verify.example/verify/session/${sessionId}`);
    expect(sessionId).toMatch(/^ses_[0-9A-Za-z]{22}$/);
    expect(response.cookies).toEqual([
      {
        name: `svc_${sessionId}`,
        value: expect.stringMatching(/^[\w-]{43}$/),
        path: `/verify/session/${sessionId}`,
        httpOnly: true,
        secure: true,
        sameSite: 'Lax',
      },
    ]);
    const session = await hosted.stores.sessions.find(sessionId);
    expect(session).toMatchObject({ clientId, keyId, partnerId, mode: 'test', status: 'pending' });
    expect(session?.scope).toEqual(['age_18_plus', 'shoe_size', 'country']);
    expect(JSON.stringify(session)).not.toContain(response.cookies[0]?.value);
  });

  it('ignores parameters that it does not know', async () => {
    const { clientId } = await onboard(hosted);
    const { response } = await start(startQuery(clientId, { utm_source: 'x', prompt: 'login' }));
    expect(response.statusCode).toBe(302);
  });
});

describe('a parameter without a value counts as absent (RFC 6749 3.1)', () => {
  it('an optional one is left alone, a required one is missing', async () => {
    const { clientId } = await onboard(hosted);
    const optional = startQuery(clientId, { response_type: '', ui_locales: '' });
    expect((await start(optional)).response.statusCode).toBe(302);
    for (const name of ['client_id', 'redirect_uri', 'state', 'scope', 'code_challenge']) {
      const { error } = await start(startQuery(clientId, { [name]: '' }));
      expect(error).toEqual({ success: false, error: `${name} is required` });
    }
  });
});

describe('400 for a malformed query', () => {
  const challenge = 'a'.repeat(43);
  it.each([
    ['client_id', undefined, 'client_id is required'],
    ['redirect_uri', undefined, 'redirect_uri is required'],
    ['state', undefined, 'state is required'],
    ['scope', undefined, 'scope is required'],
    ['code_challenge', undefined, 'code_challenge is required'],
    ['code_challenge_method', undefined, 'code_challenge_method must be S256'],
    ['state', 'x'.repeat(15), 'state must be at least 16 characters'],
    ['state', 'x'.repeat(1025), 'state must be at most 1024 characters'],
    ['state', `${'x'.repeat(16)}\n`, 'state must not contain control characters'],
    ['code_challenge', challenge.slice(1), 'code_challenge must be 43 base64url characters'],
    ['code_challenge', `${challenge}=`, 'code_challenge must be 43 base64url characters'],
    ['code_challenge_method', 'plain', 'code_challenge_method must be S256'],
    ['scope', 'age_18_plus \u009b31m', 'scope must be printable ASCII without " and \\ (RFC 6749 3.3)'],
    ['scope', 'age_18_plus "x"', 'scope must be printable ASCII without " and \\ (RFC 6749 3.3)'],
    ['response_type', 'token', 'response_type must be code'],
    ['scope', '   ', 'scope: no known claim identifier in it'],
    ['scope', 'shoe_size', 'scope: no known claim identifier in it'],
    ['scope', 'age_18_plus age_21_plus', 'scope: this client may not ask for age_21_plus'],
    ['redirect_uri', `${redirectUri}/`, expect.stringContaining('not registered')],
    ['redirect_uri', redirectUri.toUpperCase(), expect.stringContaining('not registered')],
    ['client_id', 'cli_0000000000000000000000', 'client_id: unknown client'],
  ])('%s = %s', async (name, value, message) => {
    const { clientId } = await onboard(hosted);
    const { response, error } = await start(startQuery(clientId, { [name]: value }));
    expect(response.statusCode).toBe(400);
    expect(error).toEqual({ success: false, error: message });
    expect(response.cookies).toEqual([]);
  });

  it.each(['ui_locales', 'utm_source'])('%s repeated, which it could do without', async (name) => {
    const { clientId } = await onboard(hosted);
    const { error } = await start(`${startQuery(clientId)}&${name}=de&${name}=fr`);
    expect(error).toEqual({ success: false, error: `${name} must be given once` });
  });

  it.each(['client_id', 'redirect_uri', 'state', 'scope', 'code_challenge', 'code_challenge_method'])(
    '%s repeated',
    async (name) => {
      const { clientId } = await onboard(hosted);
      const query = startQuery(clientId);
      const value = new URLSearchParams(query).get(name) ?? '';
      const { error } = await start(`${query}&${name}=${encodeURIComponent(value)}`);
      expect(error).toMatchObject({ success: false, error: expect.stringContaining(name) as unknown });
    },
  );

  it('a query that is not UTF-8', async () => {
    const { clientId } = await onboard(hosted);
    const { error } = await start(startQuery(clientId).replace('state=', 'state=%FF'));
    expect(error).toEqual({ success: false, error: 'The query is not percent-encoded UTF-8' });
  });
});

describe('400 for a client that may not start', () => {
  const refused = async (clientId: string) => {
    const { response, error } = await start(startQuery(clientId));
    expect(response.statusCode).toBe(400);
    return (error as { error: string }).error;
  };

  it('whose partner is not active', async () => {
    const { clientId, partnerId } = await onboard(hosted);
    await hosted.database.db
      .collection<{ _id: string }>('partners')
      .updateOne({ _id: partnerId }, { $set: { status: 'suspended' } });
    expect(await refused(clientId)).toBe('client_id: the partner account is not active');
  });

  it('that is disabled', async () => {
    const { clientId } = await onboard(hosted);
    await hosted.database.db
      .collection<{ _id: string }>('clients')
      .updateOne({ _id: clientId }, { $set: { status: 'disabled' } });
    expect(await refused(clientId)).toBe('client_id: this client is disabled');
  });

  it('whose API key is revoked', async () => {
    const { clientId, keyId } = await onboard(hosted);
    await hosted.database.db
      .collection<{ _id: string }>('apiKeys')
      .updateOne({ _id: keyId }, { $set: { status: 'revoked' } });
    expect(await refused(clientId)).toBe('client_id: the API key of this client is revoked');
  });

  it('of a storefront without an integration', async () => {
    const { clientId } = await onboard(hosted, { kind: 'storefront' });
    expect(await refused(clientId)).toBe('client_id: this storefront client has no integration');
    hosted.integrated.add(clientId);
    expect((await start(startQuery(clientId))).response.statusCode).toBe(302);
  });

  it('of a storefront none of whose claims can be true', async () => {
    const { clientId } = await onboard(hosted, {
      kind: 'storefront',
      claims: ['country', 'assurance_level'],
    });
    hosted.integrated.add(clientId);
    const { error } = await start(startQuery(clientId, { scope: 'country' }));
    const text = 'client_id: this storefront client has no claim that can be true';
    expect(error).toEqual({ success: false, error: text });
  });

  it('in live mode without a verification source', async () => {
    const { clientId } = await onboard(hosted, { mode: 'live' });
    expect(await refused(clientId)).toContain('the sandbox serves test clients only');
  });
});

describe('the format of a 400', () => {
  it('is a page for browsers, which says what the developer needs and echoes nothing', async () => {
    const { response } = await hosted.app
      .inject({ url: '/verify/start?state=<script>', headers: { accept: 'text/html,*/*;q=0.8' } })
      .then((answer) => ({ response: answer }));
    expect(response.statusCode).toBe(400);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.body).toContain('client_id is required');
    expect(response.body).toContain(String(response.headers['x-request-id']));
    expect(response.body).not.toContain('<script');
  });

  it('a refusal is not remembered longer than its reason', async () => {
    const { clientId } = await onboard(hosted);
    const clients = hosted.database.db.collection<{ _id: string }>('clients');
    await clients.updateOne({ _id: clientId }, { $set: { status: 'disabled' } });
    expect((await start(startQuery(clientId))).response.statusCode).toBe(400);
    await clients.updateOne({ _id: clientId }, { $set: { status: 'active' } });
    expect((await start(startQuery(clientId))).response.statusCode).toBe(302);
  });

  it('takes response_type=code, which OAuth libraries add', async () => {
    const { clientId } = await onboard(hosted);
    const { response } = await start(`${startQuery(clientId)}&response_type=code`);
    expect(response.statusCode).toBe(302);
  });

  it.each(['HEAD', 'PUT', 'POST'] as const)('%s is not a method of it', async (method) => {
    const response = await hosted.app.inject({ method, url: '/verify/start' });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe('GET');
  });
});
