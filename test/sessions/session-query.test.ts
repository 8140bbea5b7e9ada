import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomSecret } from '../../server/platform/ids.ts';
import type { TestPartner } from '../harness/partner.ts';
import { openBrowser, verifyAs } from '../pages/browser.ts';
import { type Hosted, onboard, startHosted } from '../pages/hosted.ts';

let hosted: Hosted;
let own: TestPartner;
beforeAll(async () => {
  hosted = await startHosted();
  own = await onboard(hosted);
});
afterAll(() => hosted.close());

async function query(sessionId: string, authorization?: string) {
  const url = `/api/verify/hvf-session/${sessionId}`;
  const response = await hosted.send(url, { headers: authorization ? { authorization } : {} });
  return { ...response, body: JSON.parse(response.body) as unknown };
}

async function startSession({ clientId } = own) {
  const browser = openBrowser(hosted);
  await browser.start(clientId);
  return browser;
}

const refusal = (status: number, error: string) => ({ status, body: { success: false, error } });

describe('GET /api/verify/hvf-session/{id}', () => {
  it('returns the session with its status, first pending and at the end complete', async () => {
    const browser = await startSession();
    const sessionId = browser.sessionId();
    const session = await hosted.stores.sessions.find(sessionId);
    const answer = await query(sessionId, `Bearer ${own.apiKey}`);
    expect(answer.body).toEqual({
      success: true,
      session: {
        sessionId,
        status: 'pending',
        scopes: ['age_18_plus', 'shoe_size', 'country'],
        isTestMode: true,
        createdAt: session?.createdAt.toISOString(),
        expiresAt: new Date((session?.createdAt.getTime() ?? 0) + 30 * 60_000).toISOString(),
      },
    });
    expect(answer.headers['cache-control']).toBe('no-store');
    await browser.press({ decision: 'accept' });
    await browser.press({ person: 'adult' });
    expect((await query(sessionId, `bearer ${own.apiKey}`)).body).toMatchObject({
      session: { status: 'complete' },
    });
  });

  it('returns the last status that a failed session reached', async () => {
    const browser = await startSession();
    const rejected = await verifyAs(hosted, own.clientId, 'rejected');
    const authenticated = await query(rejected.sessionId, `Bearer ${own.apiKey}`);
    expect(authenticated.body).toMatchObject({ session: { status: 'authenticated' } });
    await browser.press({ decision: 'cancel' });
    const pending = await query(browser.sessionId(), `Bearer ${own.apiKey}`);
    expect(pending.body).toMatchObject({ session: { status: 'pending' } });
  });
});

describe('401 for a session query', () => {
  it.each<[name: string, header: string | undefined]>([
    ['without an Authorization header', undefined],
    ['with "Bearer" alone', 'Bearer'],
    ['with "Bearer" and a space', 'Bearer '],
    ['with Basic credentials', 'Basic abc'],
    ['with a key but no scheme', 'svc_test_x'],
    ['with two keys', 'Bearer a b'],
  ])('is sent with the text "Missing API key" for a query %s', async (_name, header) => {
    expect(await query('ses_1', header)).toMatchObject(
      refusal(401, 'Missing API key. Use Authorization: Bearer {key}'),
    );
  });

  it('is sent for an unknown or malformed key', async () => {
    for (const key of [randomSecret('testKey'), 'svc_test_x']) {
      expect(await query('ses_1', `Bearer ${key}`)).toMatchObject(
        refusal(401, 'Invalid or inactive API key'),
      );
    }
  });

  it('is sent for a revoked key, and for a key of a suspended partner', async () => {
    const one = await onboard(hosted);
    const browser = await startSession(one);
    await hosted.admin.keys.revoke.mutate({ keyId: one.keyId });
    const revoked = await query(browser.sessionId(), `Bearer ${one.apiKey}`);
    expect(revoked).toMatchObject(refusal(401, 'Invalid or inactive API key'));
    const two = await onboard(hosted);
    const other = await startSession(two);
    await hosted.admin.partners.suspend.mutate({ partnerId: two.partnerId });
    const suspended = await query(other.sessionId(), `Bearer ${two.apiKey}`);
    expect(suspended).toMatchObject(refusal(401, 'Invalid or inactive API key'));
  });
});

describe('a session id with a malformed percent-escape', () => {
  it.each(['%ZZ', '%', '%E0%A4%A', 'ses_%C3%28'])(
    'such as %s is answered with 404 if the API key is valid, and with 401 otherwise',
    async (id) => {
      expect(await query(id)).toMatchObject(refusal(401, 'Missing API key. Use Authorization: Bearer {key}'));
      expect(await query(id, 'Bearer svc_test_x')).toMatchObject(refusal(401, 'Invalid or inactive API key'));
      expect(await query(id, `Bearer ${own.apiKey}`)).toMatchObject(
        refusal(404, 'Session not found or expired'),
      );
    },
  );
});

describe('403 for a session query', () => {
  it("is sent for another key's session", async () => {
    const browser = await startSession();
    const { apiKey } = await onboard(hosted);
    expect(await query(browser.sessionId(), `Bearer ${apiKey}`)).toMatchObject(
      refusal(403, 'Forbidden: this session belongs to a different API key'),
    );
  });
});

describe('404 for a session query', () => {
  it('is sent for an unknown session, and for a session 30 minutes after its start', async () => {
    const browser = await startSession();
    const authorization = `Bearer ${own.apiKey}`;
    const notFound = refusal(404, 'Session not found or expired');
    expect(await query('ses_1', authorization)).toMatchObject(notFound);
    hosted.clock.advance(30 * 60_000 - 1);
    expect((await query(browser.sessionId(), authorization)).status).toBe(200);
    hosted.clock.advance(1);
    expect(await query(browser.sessionId(), authorization)).toMatchObject(notFound);
  });
});

describe('500 for a session query', () => {
  it('is sent without Retry-After while the database is away; the pages of users get 503 with Retry-After', async () => {
    const away = await startHosted();
    const { apiKey } = await onboard(away);
    await away.client.close();
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await away.send('/api/verify/hvf-session/ses_1', { headers });
    expect(response.status).toBe(500);
    expect(response.headers['retry-after']).toBeUndefined();
    expect(JSON.parse(response.body)).toEqual({ success: false, error: 'Internal server error' });
    const page = await away.send('/verify/session/ses_1', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(503);
    expect(page.headers['retry-after']).toBe('5');
    await away.close();
  });
});
