import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenidPartner, openidStart } from '../../harness/openid-client.ts';
import type { TestPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';

let server: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer();
  partner = await createOpenidPartner(server);
});
afterAll(() => server.stop());

type Changes = Record<string, string | undefined>;

async function start(changes: Changes = {}, by = partner, more = '') {
  const { url, state } = openidStart(server, by, changes);
  const sessions = server.db.collection('sessions');
  const before = await sessions.countDocuments();
  const response = await fetch(url + more, { redirect: 'manual' });
  const stored = (await sessions.countDocuments()) - before;
  return {
    status: response.status,
    location: response.headers.get('location'),
    body: await response.text(),
    stored,
    state,
  };
}

/** Checks that a start is refused by a redirect to the partner, and that it stores nothing. */
async function expectRedirect(changes: Changes, error: string, description: RegExp) {
  const { status, location, stored, state } = await start(changes);
  expect([status, stored]).toEqual([302, 0]);
  const url = new URL(location ?? '');
  expect(url.origin + url.pathname).toBe(partner.redirectUri);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    error,
    error_description: expect.stringMatching(description),
    ...('state' in changes ? (changes['state'] === undefined ? {} : { state: changes['state'] }) : { state }),
    iss: server.baseUrl,
  });
}

/** Checks that a start is refused by a 400 of our own, and that it stores nothing. */
async function expectPage(changes: Changes, text: RegExp, { by = partner, more = '' } = {}) {
  const { status, location, body, stored } = await start(changes, by, more);
  expect([status, location, stored]).toEqual([400, null, 0]);
  expect(body).toMatch(text);
}

const jwt = `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`;

describe('a start with the scope openid', () => {
  it.each<Changes>([
    {},
    { nonce: 'n' },
    { nonce: 'x'.repeat(512) },
    { prompt: 'login' },
    { prompt: 'consent select_account' },
    { prompt: 'create' },
    { max_age: '0' },
    { max_age: '3600' },
    { id_token_hint: jwt, login_hint: 'a@b', acr_values: '1 2', display: 'popup', claims: '{"id_token":{}}' },
  ])('begins a session with %j', async (changes) => {
    const { status, location, stored } = await start(changes);
    expect([status, stored]).toEqual([302, 1]);
    expect(location).toMatch(/\/verify\/session\/ses_/);
    const [session] = await server.db
      .collection('sessions')
      .find()
      .sort({ createdAt: -1 })
      .limit(1)
      .toArray();
    expect(session?.['openid']?.nonce).toBe(changes['nonce']);
  });

  it.each<[Changes, string, RegExp]>([
    [{ prompt: 'none' }, 'login_required', /prompt none/],
    [{ request: jwt }, 'request_not_supported', /request is not supported/],
    [{ request: jwt, code_challenge: undefined }, 'request_not_supported', /request is not supported/],
    [{ request_uri: 'https://a.example' }, 'request_uri_not_supported', /request_uri/],
    [{ registration: '{}' }, 'registration_not_supported', /registration/],
    [{ prompt: 'none login' }, 'invalid_request', /prompt none/],
    [{ nonce: 'x'.repeat(513) }, 'invalid_request', /nonce must be at most 512/],
    [{ nonce: 'a\u0007b' }, 'invalid_request', /nonce must not contain control/],
    [{ max_age: '-1' }, 'invalid_request', /max_age must be a whole number/],
    [{ max_age: 'soon' }, 'invalid_request', /max_age must be a whole number/],
    [{ response_type: undefined }, 'invalid_request', /response_type is required/],
    [{ response_type: 'code id_token' }, 'unsupported_response_type', /response_type must be code/],
    [{ response_mode: 'form_post' }, 'invalid_request', /response_mode must be query/],
    [{ scope: 'openid profile' }, 'invalid_scope', /scope: no known claim/],
    [{ scope: 'openid age_21_plus' }, 'invalid_scope', /may not ask for age_21_plus/],
    [{ scope: 'openid "' }, 'invalid_scope', /scope must be printable/],
    [{ code_challenge: undefined }, 'invalid_request', /code_challenge is required/],
    [{ code_challenge_method: 'plain' }, 'invalid_request', /code_challenge_method must be S256/],
    [{ state: 'short' }, 'invalid_request', /state must be at least 16/],
    [{ state: undefined }, 'invalid_request', /state is required/],
  ])('is redirected to the partner for %j with the error %s, and stores nothing', (changes, error, text) =>
    expectRedirect(changes, error, text),
  );

  it('gets a page for a wrong client or redirect URI, and is never redirected there', async () => {
    await expectPage({ client_id: 'cli_0000000000000000000000' }, /unknown client/);
    await expectPage({ client_id: 'x'.repeat(200) }, /client_id/);
    for (const redirect_uri of ['https://evil.example/', `${partner.redirectUri}/`])
      for (const fault of [{}, { prompt: 'none' }, { request: jwt }, { code_challenge: undefined }])
        await expectPage(
          { redirect_uri, ...fault },
          /redirect_uri: not registered|code_challenge is required/,
        );
  });

  it('gets a page for a repeated parameter', async () => {
    for (const name of ['nonce', 'state', 'prompt', 'redirect_uri'])
      await expectPage({ nonce: 'n', prompt: 'none' }, new RegExp(`${name} must be given once`), {
        more: `&${name}=x`,
      });
  });

  it('gets a page where the query is no text, whose state could not be sent back', async () => {
    for (const more of ['&more=%ff', '&more=%00', '&more=%'])
      await expectPage({ prompt: 'none' }, /The query (is not percent-encoded|has U)/, { more });
    await expectPage({ state: `${'s'.repeat(16)}\0` }, /The query has U\+0000/);
  });

  it('gets a page where the client is disabled', async () => {
    const own = await createOpenidPartner(server);
    await server.admin.clients.disable.mutate({ clientId: own.clientId });
    await expectPage({ prompt: 'none' }, /this client is disabled/, { by: own });
  });
});

describe('a start without openid, or of a client that does not speak OpenID Connect', () => {
  it('ignores the parameters of OpenID Connect, and gets every error as a page', async () => {
    const off = await createOpenidPartner(server, { openid: false });
    const scope = 'age_18_plus';
    const odd = { nonce: 'x'.repeat(600), prompt: 'none', max_age: 'x', request: jwt, registration: '{}' };
    for (const [by, changes] of [
      [off, {}],
      [partner, { scope }],
    ] as const) {
      expect(await start({ ...odd, ...changes }, by)).toMatchObject({ status: 302, stored: 1 });
      await expectPage({ ...changes, code_challenge: undefined }, /code_challenge is required/, { by });
      await expectPage({ ...changes, state: 'short' }, /state must be at least 16/, { by });
    }
    await expectPage({ scope: 'openid' }, /scope: no known claim/, { by: off });
  });
});
