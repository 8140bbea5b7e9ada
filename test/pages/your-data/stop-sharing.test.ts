import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestPartner } from '../../harness/partner.ts';
import { saved, verifyAgain } from '../../people/passkeys/passkey-browser.ts';
import { addClient, type Hosted, onboard, returned, sendCode, startHosted } from '../hosted.ts';
import { root, signedIn } from './signed-in.ts';

let hosted: Hosted;
let partner: TestPartner;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted({ env: { SVC_PASSKEYS: 'on' } });
  partner = await onboard(hosted);
  ({ clientId } = partner);
});
afterAll(() => hosted.close());

type Saved = Awaited<ReturnType<typeof saved>>;

const codeOf = ({ location }: { location: string }) => returned(location)['code'] ?? '';
const enrollmentOf = (userId: string, client = clientId) =>
  hosted.db.collection('enrollments').findOne({ userId, clientId: client });

/** Stops the user's sharing with the partner on the user data page, in a separate browser. */
async function stop({ authenticator }: Saved, { partnerId } = partner) {
  const browser = await signedIn(hosted, authenticator);
  const page = await browser.confirm(`/stop/${partnerId}`);
  expect(page.status).toBe(200);
  hosted.clock.advance(1_000);
  return page;
}

/** Returns to a client by passkey. @returns the authorization code */
async function returnByPasskey({ authenticator, browser }: Saved, client = clientId): Promise<string> {
  await browser.start(client);
  return codeOf((await browser.sendPasskey((options) => authenticator.get(options))).answer);
}

async function tokenOf(code: string): Promise<string> {
  const { status, body } = await sendCode(hosted, partner, code);
  expect(status).toBe(200);
  return body['access_token'] ?? '';
}

const userinfo = async (token: string) => {
  const headers = { authorization: `Bearer ${token}` };
  const { status, body } = await hosted.send('/api/oauth/userinfo', { headers });
  return { status, body: JSON.parse(body) as Record<string, string> };
};

async function resolve(enrollmentId: unknown, key: string) {
  const headers = {
    authorization: `Bearer ${partner.apiKey}`,
    'idempotency-key': key,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ enrollment_id: enrollmentId, claims: ['age_18_plus'] });
  return (await hosted.send('/api/checkbox/resolve', { method: 'POST', headers, body })).status;
}

/** Sweeps after 61 s. By then no exchange that began before the withdrawal can still write. */
async function runSecondPass() {
  hosted.clock.advance(61_000);
  await hosted.sweepFlow();
}

describe('the end of sharing with a partner', () => {
  it('revokes access tokens, and checkbox resolve is answered with 422', async () => {
    const user = await saved(hosted, clientId);
    const token = await tokenOf(codeOf(user.browser.page));
    const enrollment = await enrollmentOf(user.userId);
    expect(await resolve(enrollment?._id, 'before')).toBe(200);
    expect((await userinfo(token)).status).toBe(200);
    const page = await stop(user);
    expect(page.body).toContain('You stopped sharing on');
    expect(page.body).not.toContain(`/stop/${partner.partnerId}`);
    const answer = await userinfo(token);
    expect(answer.status).toBe(401);
    expect(answer.body['error_description']).toContain('was revoked at');
    expect(await resolve(enrollment?._id, 'after')).toBe(422);
    expect(await resolve(enrollment?._id, 'before')).toBe(422);
  });

  it('makes an unused code fail with invalid_grant', async () => {
    const user = await saved(hosted, clientId);
    await stop(user);
    const { status, body } = await sendCode(hosted, partner, codeOf(user.browser.page));
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: 'invalid_grant',
      error_description: 'The user has withdrawn the consent that this code was issued for',
    });
  });

  it('revokes, in a sweep a minute later, also the token of an exchange that ran at the same time', async () => {
    const user = await saved(hosted, clientId);
    const code = codeOf(user.browser.page);
    const session = { _id: user.browser.sessionId() as never };
    const sessions = hosted.db.collection('sessions');
    const read = await sessions.findOne(session);
    await stop(user);
    // The snapshot is put back, as if the exchange had read it before the withdrawal.
    await sessions.updateOne(session, { $set: { snapshot: read?.['snapshot'] } });
    const token = await tokenOf(code);
    expect((await userinfo(token)).status).toBe(200);
    await runSecondPass();
    expect((await userinfo(token)).status).toBe(401);
  });

  it('lasts until the user consents again in a new session; then userinfo answers 200 again', async () => {
    const user = await saved(hosted, clientId);
    await stop(user);
    const page = await user.browser.start(clientId);
    expect(page.body).toContain('Allow and continue');
    const token = await tokenOf(await returnByPasskey(user));
    await runSecondPass();
    expect((await userinfo(token)).status).toBe(200);
    expect(await enrollmentOf(user.userId)).toMatchObject({
      consentedClaims: ['age_18_plus', 'country'],
      status: 'active',
    });
    expect(await resolve((await enrollmentOf(user.userId))?._id, 'again')).toBe(200);
  });

  it('makes an unfinished session end with access_denied', async () => {
    const user = await saved(hosted, clientId);
    const { browser, userId } = user;
    browser.jar.delete('svc_passkey');
    const question = await verifyAgain(hosted, browser, { clientId, userId });
    expect(question.body).toContain('Save a passkey');
    await stop(user);
    await browser.open(`/verify/session/${browser.sessionId()}`);
    expect(returned((await browser.decline()).location)).toMatchObject({ error: 'access_denied' });
    expect((await enrollmentOf(user.userId))?.['consentedClaims']).toEqual([]);
  });

  it('applies to all clients of the partner, and to no other partner', async () => {
    const user = await saved(hosted, clientId);
    const second = await addClient(hosted, partner);
    const other = await onboard(hosted);
    for (const client of [second, other.clientId]) await returnByPasskey(user, client);
    await stop(user);
    for (const client of [clientId, second])
      expect(await enrollmentOf(user.userId, client)).toMatchObject({ consentedClaims: [] });
    expect((await enrollmentOf(user.userId, other.clientId))?.['consentedClaims']).toHaveLength(2);
    expect((await enrollmentOf(user.userId, other.clientId))?.['withdrawnAt']).toBeUndefined();
  });

  it('causes an audit entry with the user as actor, without personal data', async () => {
    const user = await saved(hosted, clientId);
    await stop(user);
    await hosted.services.admin.auditLog.sweep();
    const action = 'users.stopSharing';
    const entries = await hosted.db
      .collection('auditLog')
      .find({ action, operatorId: user.userId })
      .toArray();
    expect(entries).toMatchObject([
      {
        operatorName: 'user',
        target: (await enrollmentOf(user.userId))?._id,
        address: '',
        before: { consentedClaims: ['age_18_plus', 'country'] },
        after: { consentedClaims: [] },
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain(user.sub);
  });

  it('does not unblock a blocked enrollment: its code is refused with access_denied', async () => {
    const user = await saved(hosted, clientId);
    const enrollment = await enrollmentOf(user.userId);
    await hosted.admin.enrollments.block.mutate({ enrollmentId: String(enrollment?._id), reason: 'fraud' });
    await stop(user);
    const { status, body } = await sendCode(hosted, partner, codeOf(user.browser.page));
    expect([status, body['error']]).toEqual([403, 'access_denied']);
  });

  it('is answered with 404 for a partner at which the user has no enrollment', async () => {
    const user = await saved(hosted, clientId);
    const other = await onboard(hosted);
    const browser = await signedIn(hosted, user.authenticator);
    const { fields } = browser.form();
    const answer = await browser.request(`${root}/stop/${other.partnerId}`, fields);
    expect(answer.status).toBe(404);
  });
});

it('the question about a partner gets 404 after the answer, with a link to all data', async () => {
  const user = await saved(hosted, clientId);
  const browser = await signedIn(hosted, user.authenticator);
  await browser.confirm(`/stop/${partner.partnerId}`);
  const back = await browser.open(`${root}/stop/${partner.partnerId}`);
  expect(back.status).toBe(404);
  const link = /<a class="button primary" href="([^"]*)"/.exec(back.body)?.[1];
  expect((await browser.open(link ?? '')).body).toContain('You stopped sharing on');
});

describe('a withdrawal that a crash interrupts', () => {
  it('is finished by the sweep', async () => {
    const user = await saved(hosted, clientId);
    const token = await tokenOf(codeOf(user.browser.page));
    const code = await returnByPasskey(user);
    const at = new Date(hosted.clock.now());
    const withdrawn = { consentedClaims: [], withdrawnAt: at, invalidateAt: at };
    await hosted.db.collection('enrollments').updateOne({ userId: user.userId }, { $set: withdrawn });
    hosted.clock.advance(6_000);
    await hosted.sweepFlow();
    expect((await userinfo(token)).status).toBe(401);
    expect((await sendCode(hosted, partner, code)).body['error']).toBe('invalid_grant');
    expect((await enrollmentOf(user.userId))?.['invalidateAt']).toEqual(at);
    await runSecondPass();
    expect((await enrollmentOf(user.userId))?.['invalidateAt']).toBeUndefined();
  });
});

it('the sweep records no consent after a withdrawal for a session that completed before it', async () => {
  const user = await saved(hosted, clientId);
  await returnByPasskey(user);
  const sessionId = user.browser.sessionId();
  await stop(user);
  const due = { $set: { enrollmentDueAt: new Date(hosted.clock.now() - 10_000) } };
  await hosted.db.collection('sessions').updateOne({ _id: sessionId as never }, due);
  await hosted.sweepFlow();
  expect((await enrollmentOf(user.userId))?.['consentedClaims']).toEqual([]);
  const enrollments = hosted.stores.enrollments;
  const enrollment =
    (await enrollments.find(String((await enrollmentOf(user.userId))?._id))) ?? expect.fail();
  const before = { exists: true, consentedAt: new Date(Number(enrollment.withdrawnAt) - 1) };
  const late = await enrollments.enroll({ ...enrollment, consentedClaims: ['country'] }, before);
  expect(late.consentedClaims).toEqual([]);
});
