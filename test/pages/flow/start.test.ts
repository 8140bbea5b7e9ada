import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Hosted, onboard, startHosted, startQuery } from '../hosted.ts';

let hosted: Hosted;
/** A client that no test changes. */
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted();
  ({ clientId } = await onboard(hosted));
});
afterAll(() => hosted.close());

async function start(query: string, accept = '*/*') {
  const response = await hosted.send(`/verify/start?${query}`, { headers: { accept } });
  const isPage = accept.startsWith('text/html');
  const error: unknown = response.status === 400 && !isPage ? JSON.parse(response.body) : undefined;
  return { response, error };
}

describe('a valid GET /verify/start', () => {
  it("redirects with 302 to the session's page, and sets a cookie that binds the session to the browser", async () => {
    const { clientId, keyId, partnerId } = await onboard(hosted);
    const { response } = await start(startQuery(clientId));
    expect(response.status).toBe(302);
    const location = String(response.headers['location']);
    const sessionId = location.split('/').at(-1) ?? '';
    expect(location).toBe(`https://verify.example/verify/session/${sessionId}`);
    expect(sessionId).toMatch(/^ses_[0-9A-Za-z]{22}$/);
    const [name, ...attributes] = String(response.headers['set-cookie']).split('; ');
    const [, secret = ''] = new RegExp(`^svc_${sessionId}=([\\w-]{43})$`).exec(name ?? '') ?? [];
    expect(secret).not.toBe('');
    expect(attributes).toEqual([`Path=/verify/session/${sessionId}`, 'HttpOnly', 'Secure', 'SameSite=Lax']);
    const session = await hosted.stores.sessions.find(sessionId);
    expect(session).toMatchObject({ clientId, keyId, partnerId, mode: 'test', status: 'pending' });
    expect(session?.scope).toEqual(['age_18_plus', 'shoe_size', 'country']);
    expect(JSON.stringify(session)).not.toContain(secret);
  });

  it.each(['a', 'Order_17.34:b-2', 'x'.repeat(200)])(
    'stores the client_reference_id %s, and operators find the session by it',
    async (reference) => {
      const { response } = await start(startQuery(clientId, { client_reference_id: reference }));
      const sessionId = String(response.headers['location']).split('/').at(-1) ?? '';
      expect((await hosted.stores.sessions.find(sessionId))?.clientReferenceId).toBe(reference);
      const { rows } = await hosted.admin.sessions.list.query({ clientReferenceId: reference });
      expect(rows.map(({ id, clientReferenceId }) => [id, clientReferenceId])).toEqual([
        [sessionId, reference],
      ]);
      const partner = await hosted.admin.partners.show.query({ partnerId: rows[0]?.partnerId ?? '' });
      expect(rows).toMatchObject([{ partnerName: partner.name }]);
      expect(await hosted.admin.sessions.count.query({ clientReferenceId: reference })).toMatchObject({
        total: 1,
      });
      const elsewhere = { clientReferenceId: reference, partnerId: 'ptr_0000000000000000000000' };
      expect((await hosted.admin.sessions.list.query(elsewhere)).rows).toEqual([]);
    },
  );

  it('ignores unknown query parameters', async () => {
    const { response } = await start(startQuery(clientId, { utm_source: 'x', prompt: 'login' }));
    expect(response.status).toBe(302);
  });
});

describe('a parameter of /verify/start without a value (RFC 6749 3.1)', () => {
  it('is ignored if it is optional, and refused as missing if it is required', async () => {
    const optional = startQuery(clientId, { response_type: '', response_mode: '', ui_locales: '' });
    expect((await start(optional)).response.status).toBe(302);
    for (const name of ['client_id', 'redirect_uri', 'state', 'scope', 'code_challenge']) {
      const { error } = await start(startQuery(clientId, { [name]: '' }));
      expect(error).toEqual({ success: false, error: `${name} is required` });
    }
  });
});

describe('GET /verify/start', () => {
  const challenge = 'a'.repeat(43);
  const reference = expect.stringMatching(/^client_reference_id must be 1 to 200 characters/);
  const unknownClaim = expect.stringMatching(/^scope: no known claim identifier in it/);
  const notPrintable = 'scope must be printable ASCII without quotation marks and backslashes (RFC 6749 3.3)';
  it.each<[name: string, fault: string, value: string | undefined, message: unknown]>([
    ['state', 'has 4,097 characters', 'x'.repeat(4097), 'state must be at most 4096 characters'],
    ['state', 'ends with a line feed', `${'x'.repeat(16)}\n`, 'state must not contain control characters'],
    ['code_challenge', 'has padding', `${challenge}=`, 'code_challenge must be 43 base64url characters'],
    ['scope', 'contains a control character', 'age_18_plus \u009b31m', notPrintable],
    ['scope', 'contains quotation marks', 'age_18_plus "x"', notPrintable],
    ['client_reference_id', 'contains a space', 'a b', reference],
    ['client_reference_id', 'contains a non-ASCII character', 'ä', reference],
    ['client_reference_id', 'ends with a line feed', 'x\n', reference],
    ['client_reference_id', 'has 201 characters', 'x'.repeat(201), reference],
    ['response_type', 'is token', 'token', 'response_type must be code'],
    ['response_mode', 'is fragment', 'fragment', 'response_mode must be query'],
    ['response_mode', 'is form_post', 'form_post', 'response_mode must be query'],
    ['response_mode', 'is query.jwt', 'query.jwt', 'response_mode must be query'],
    ['response_mode', 'is QUERY, in upper case', 'QUERY', 'response_mode must be query'],
    ['scope', 'contains only spaces', '   ', unknownClaim],
    ['client_id', 'belongs to no client', 'cli_0000000000000000000000', 'client_id: unknown client'],
  ])('answers 400 with the reason, and sets no cookie, if %s %s', async (name, _, value, message) => {
    const { response, error } = await start(startQuery(clientId, { [name]: value }));
    expect(response.status).toBe(400);
    expect(error).toEqual({ success: false, error: message });
    expect(response.headers).not.toHaveProperty('set-cookie');
  });

  it.each(['ui_locales', 'response_mode', 'utm_source', 'client_reference_id'])(
    'answers 400 if the optional parameter %s is repeated',
    async (name) => {
      const { error } = await start(`${startQuery(clientId)}&${name}=query&${name}=fr`);
      expect(error).toEqual({ success: false, error: `${name} must be given once` });
    },
  );

  it.each(['client_id', 'redirect_uri', 'state', 'scope', 'code_challenge', 'code_challenge_method'])(
    'answers 400 if the required parameter %s is repeated',
    async (name) => {
      const query = startQuery(clientId);
      const value = new URLSearchParams(query).get(name) ?? '';
      const { error } = await start(`${query}&${name}=${encodeURIComponent(value)}`);
      expect(error).toMatchObject({ success: false, error: expect.stringContaining(name) as unknown });
    },
  );

  it('answers 400 if the query is not percent-encoded UTF-8', async () => {
    const { error } = await start(startQuery(clientId).replace('state=', 'state=%FF'));
    expect(error).toEqual({ success: false, error: 'The query is not percent-encoded UTF-8' });
  });
});

describe('GET /verify/start, by an answer 400 with the reason,', () => {
  const refused = async (clientId: string) => {
    const { response, error } = await start(startQuery(clientId));
    expect(response.status).toBe(400);
    return (error as { error: string }).error;
  };

  const integrate = (of: { partnerId: string; clientId: string }) =>
    hosted.admin.integrations.create.mutate({ ...of, shops: ['wine.example'] });

  it('refuses a client whose partner is suspended', async () => {
    const { clientId, partnerId } = await onboard(hosted);
    await hosted.admin.partners.suspend.mutate({ partnerId });
    expect(await refused(clientId)).toBe('client_id: the partner account is not active');
  });

  it('refuses a disabled client', async () => {
    const { clientId } = await onboard(hosted);
    await hosted.admin.clients.disable.mutate({ clientId });
    expect(await refused(clientId)).toBe('client_id: this client is disabled');
  });

  it('refuses a client whose API key is revoked', async () => {
    const { clientId, keyId } = await onboard(hosted);
    await hosted.admin.keys.revoke.mutate({ keyId });
    expect(await refused(clientId)).toBe('client_id: the API key of this client is revoked');
  });

  it('refuses a storefront client until it has an integration', async () => {
    const { clientId, partnerId } = await onboard(hosted, { kind: 'storefront' });
    expect(await refused(clientId)).toBe('client_id: this storefront client has no integration');
    await integrate({ clientId, partnerId });
    expect((await start(startQuery(clientId))).response.status).toBe(302);
  });

  it('refuses a storefront client that has no claim that can be true', async () => {
    const { clientId, partnerId } = await onboard(hosted, { kind: 'storefront' });
    await integrate({ clientId, partnerId });
    // An older build could create such a client, because it did not check the claims.
    await hosted.db
      .collection<{ _id: string }>('clients')
      .updateOne({ _id: clientId }, { $set: { claims: ['country', 'assurance_level'] } });
    await hosted.services.partners.directory.changed(clientId);
    const { error } = await start(startQuery(clientId, { scope: 'country' }));
    const text = 'client_id: this storefront client has no claim that can be true';
    expect(error).toEqual({ success: false, error: text });
  });

  it('refuses a live client that names no verification source, because the sandbox is for test clients', async () => {
    const { clientId } = await onboard(hosted, { mode: 'live' });
    expect(await refused(clientId)).toContain('the sandbox serves test clients only');
  });
});

describe('the 400 answer of /verify/start', () => {
  it('is an HTML page for browsers that names the fault and the request id, and repeats no input', async () => {
    const { response } = await start('state=<script>', 'text/html,*/*;q=0.8');
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.body).toContain('client_id is required');
    expect(response.body).toContain(String(response.headers['x-request-id']));
    expect(response.body).not.toContain('<script');
  });

  it.each<[link: string, what: string, referer: string, back: string | undefined]>([
    [
      'has a link back to the origin of the Referer',
      'the Referer is a page of another site',
      'https://shop.example:8443/cart?id=7#pay',
      'https://shop.example:8443/',
    ],
    ['has no link back', 'the Referer is a javascript URL', 'javascript:alert(1)', undefined],
    ['has no link back', 'the Referer is no URL', 'no address', undefined],
    [
      'has no link back',
      'the Referer is a page of this service',
      'https://verify.example/verify/start',
      undefined,
    ],
  ])('%s if %s', async (_link, _what, referer, back) => {
    const headers = { accept: 'text/html', referer };
    const { body } = await hosted.send('/verify/start?state=1', { headers });
    expect(/<a class="button primary" href="([^"]*)"/.exec(body)?.[1]).toBe(back);
  });

  it('is no longer sent, but a 302, as soon as the disabled client is enabled again', async () => {
    const { clientId } = await onboard(hosted);
    await hosted.admin.clients.disable.mutate({ clientId });
    expect((await start(startQuery(clientId))).response.status).toBe(400);
    await hosted.admin.clients.enable.mutate({ clientId });
    expect((await start(startQuery(clientId))).response.status).toBe(302);
  });

  it('is not sent, but a 302, if a valid request has response_type=code and response_mode=query', async () => {
    const { response } = await start(`${startQuery(clientId)}&response_type=code&response_mode=query`);
    expect(response.status).toBe(302);
  });

  it.each(['HEAD', 'PUT', 'POST'] as const)(
    'is not sent, but a 405 with Allow: GET, if the method is %s',
    async (method) => {
      const response = await hosted.send('/verify/start', { method });
      expect(response.status).toBe(405);
      expect(response.headers['allow']).toBe('GET');
    },
  );
});
