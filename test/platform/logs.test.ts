import { describe, expect, it, onTestFinished } from 'vitest';
import { databaseOfServer } from '../harness/database.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, post, redirectUri, type TestPartner, tokenForm } from '../harness/partner.ts';
import { adminToken } from '../harness/server.ts';
import { createBrowser, passFlow } from '../journey/browser.ts';
import { newStart, startUrl } from '../journey/pkce.ts';
import { createServerProcess, type ServerProcess } from './server-process.ts';

/** Secrets that must not be in a log, by kind. */
const secrets = new Map<string, string>();
const keep = (name: string, value: string | null | undefined): string => {
  if (!value || value.length < 8) throw new Error(`${name} is not a secret: ${value}`);
  secrets.set(`${name} #${secrets.size}`, value);
  return value;
};

/** Verifies a user in a browser, and keeps each secret and cookie for the check of the log. */
async function verifyUser(server: ServerProcess, partner: TestPartner, person: string) {
  const { codeVerifier, codeChallenge, state } = newStart();
  keep('state', state);
  keep('code verifier', codeVerifier);
  const browser = createBrowser(server.baseUrl);
  const set = browser.cookies.set.bind(browser.cookies);
  browser.cookies.set = (name, value) => {
    if (value !== '') keep('cookie', value);
    return set(name, value);
  };
  const { baseUrl } = server;
  const { clientId } = partner;
  const scope = 'age_18_plus';
  const start = startUrl({ baseUrl, clientId, redirectUri, scope, state, codeChallenge });
  const end = await passFlow(browser, start, person);
  const code = end.searchParams.get('code');
  if (code) keep('code', code);
  return { code: code ?? '', codeVerifier };
}

describe('the log at its most detailed level', () => {
  it('contains no code, secret, key, token, cookie or state, in success and in failure', async () => {
    const masterKey = keep('master key', Buffer.alloc(32, 5).toString('base64'));
    const { uri: MONGODB_URI, drop } = await databaseOfServer();
    onTestFinished(drop);
    const server = await createServerProcess({
      ...{ SVC_LOG_LEVEL: 'trace', SVC_MASTER_KEY: masterKey, MONGODB_URI },
      SVC_DEMO_PORT: String(await freePort()),
    });
    keep('operator token', adminToken);
    await server.start();
    const { admin, baseUrl } = server;
    const partner = await createPartner(server);
    keep('API key', partner.apiKey);
    keep('client secret', partner.clientSecret);
    const hook = await admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'http://localhost:9/hook' });
    keep('signing secret', hook.signingSecret);
    const operator = await admin.operators.create.mutate({ name: 'Ada', role: 'support' });
    keep('operator token', operator.token);
    const rotated = await admin.clients.rotateSecret.mutate({
      clientId: partner.clientId,
      keepOldSeconds: 600,
    });
    keep('client secret', rotated.clientSecret);

    const url = (path: string) => `${baseUrl}/api/oauth/${path}`;
    const first = await verifyUser(server, partner, 'adult');
    const form = tokenForm(partner, first);
    const { access_token } = (await (await post(url('token'), form)).json()) as { access_token: string };
    const token = keep('access token', access_token);
    keep('token signature', token.split('.')[2]);
    await post(url('token'), form);
    for (const person of ['teen', 'rejected', 'low-balance', 'duplicate', 'unavailable']) {
      const of = await verifyUser(server, partner, person);
      if (of.code) await post(url('token'), tokenForm(partner, of), 'json');
    }
    await fetch(url('userinfo'), { headers: { authorization: `Bearer ${token}` } });
    await fetch(`${url('userinfo')}?access_token=${token}`);
    await fetch(url('userinfo'), { headers: { authorization: `Bearer ${token}x` } });
    await post(url('revoke'), { token, client_id: form['client_id'], client_secret: form['client_secret'] });

    // Malformed requests with secrets in every place.
    const { clientId, clientSecret } = partner;
    await post(url('token'), { ...form, code_verifier: 'short', grant_type: clientSecret });
    await post(url('token'), { ...form, redirect_uri: clientSecret, client_secret: `${clientSecret}x` });
    await fetch(`${url('token')}?${new URLSearchParams(form)}`, { method: 'POST' });
    await fetch(`${baseUrl}/nowhere/${clientSecret}?code=${first.code}`);
    await fetch(`${baseUrl}/api/oauth/%ZZ${clientSecret}`);
    await fetch(url('token'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"client_secret":"${clientSecret}"`,
    });
    const basic = keep('Basic header', Buffer.from(`${clientId}:${clientSecret}`).toString('base64'));
    await fetch(url('token'), {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams(form),
    });
    for (const key of [partner.apiKey, `${partner.apiKey}x`]) {
      const headers = { authorization: `Bearer ${key}` };
      await fetch(`${baseUrl}/api/verify/hvf-session/ses_unknown?key=${key}`, { headers });
    }
    await fetch(`${baseUrl}/verify/start?client_id=${clientSecret}&state=${form['code']}`);
    await admin.wallets.fund
      .mutate({ partnerId: clientSecret, mode: 'test', amount: 1, reference: 'x' })
      .catch(() => undefined);
    expect(await server.end('SIGTERM')).toBe(0);

    const output = server.output();
    expect(output.match(/"answered"/g)?.length).toBeGreaterThan(40);
    const found = [...secrets].filter(([, secret]) => output.includes(secret)).map(([name]) => name);
    expect(found).toEqual([]);
    expect(secrets.size).toBeGreaterThan(30);
    // The log does not contain the secrets in malformed requests either.
    expect(output).not.toMatch(
      /svc_(code|secret|test|live|admin)_[0-9A-Za-z]{20}|whsec_|eyJ[0-9A-Za-z_-]{20}/,
    );
  });
});
