import { MongoNetworkError } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  changeAfterRead,
  type Hosted,
  onboard,
  returned,
  sendCode,
  startHosted,
} from '../../pages/hosted.ts';
import { signedIn } from '../../pages/your-data/signed-in.ts';
import {
  newAuthenticator,
  newCounterlessAuthenticator,
  openPasskeyBrowser,
  saved,
} from './passkey-browser.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted({ env: { SVC_PASSKEYS: 'on' } });
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => hosted.close());

/** Creates a partner, and a user who has saved a passkey there. */
async function createUserWithPasskey(
  client: Parameters<typeof onboard>[1] = {},
  authenticator = newAuthenticator(),
) {
  const partner = await onboard(hosted, client);
  return { partner, ...(await saved(hosted, partner.clientId, 'new-adult', authenticator)) };
}
type WithPasskey = Awaited<ReturnType<typeof createUserWithPasskey>>;

/** Starts a session and sends the passkey. The response may be a refusal. */
async function sendReturn({ authenticator }: Pick<WithPasskey, 'authenticator'>, clientId: string) {
  const browser = openPasskeyBrowser(hosted);
  await browser.start(clientId);
  const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
  return { browser, answer };
}

/** Runs a return by passkey, up to the redirect to the partner. */
async function returnByPasskey(user: Pick<WithPasskey, 'authenticator'>, clientId: string) {
  const { browser, answer } = await sendReturn(user, clientId);
  const session = (await hosted.stores.sessions.find(browser.sessionId())) ?? expect.fail('no session');
  return { session, parameters: returned(answer.location) };
}

/** Counts the writes to a session. Each write adds a nonce to its last timeline entry. */
const countWrites = ({ timeline }: { timeline: readonly object[] }) =>
  timeline.filter((entry) => 'nonce' in entry).length;

const eraseUser = (userId: string) => hosted.admin.users.erase.mutate({ userId });
const blockEnrollment = (enrollmentId: string) =>
  hosted.admin.enrollments.block.mutate({ enrollmentId, reason: 'fraud' });

describe('a return by passkey whose claims are fresh', () => {
  it('changes its session in one write, from consent to the code', async () => {
    const user = await createUserWithPasskey();
    const { session, parameters } = await returnByPasskey(user, user.partner.clientId);
    expect(countWrites(session)).toBe(1);
    expect(session).toMatchObject({ status: 'complete', returning: true });
    expect(session.enrollmentDueAt).toBeUndefined();
    expect((await sendCode(hosted, user.partner, parameters['code'])).status).toBe(200);
  });

  it('publishes verification.session.completed, and no enrollment.created', async () => {
    const user = await createUserWithPasskey();
    const { session } = await returnByPasskey(user, user.partner.clientId);
    const types = async () =>
      (await hosted.events({ sessionId: session._id })).map(({ type }) => type as string);
    await expect.poll(types).toEqual(['verification.session.completed']);
    const outbox = async () => (await hosted.stores.sessions.find(session._id))?.outbox;
    await expect.poll(outbox).toEqual([]);
  });

  it('enrolls the user at another partner, and its code can be exchanged', async () => {
    const user = await createUserWithPasskey();
    const other = await onboard(hosted);
    const { session, parameters } = await returnByPasskey(user, other.clientId);
    expect(countWrites(session)).toBe(1);
    expect(await hosted.stores.enrollments.find(session.enrollmentId ?? '')).toMatchObject({
      firstSession: session._id,
      consentedClaims: ['age_18_plus', 'country'],
    });
    expect((await sendCode(hosted, other, parameters['code'])).status).toBe(200);
  });

  it('yields a code that is refused with access_denied if the enrollment is blocked simultaneously', async () => {
    const user = await createUserWithPasskey();
    changeAfterRead(hosted.stores, blockEnrollment);
    const { parameters } = await returnByPasskey(user, user.partner.clientId);
    expect(await sendCode(hosted, user.partner, parameters['code'])).toMatchObject({
      status: 403,
      body: { error: 'access_denied' },
    });
  });

  it('is refused with passkey_refused if the user is erased simultaneously', async () => {
    const user = await createUserWithPasskey();
    changeAfterRead(hosted.stores, () => eraseUser(user.userId));
    const { answer } = await sendReturn(user, user.partner.clientId);
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
  });

  it('yields a code with the new claims if new claims are stored simultaneously', async () => {
    const user = await createUserWithPasskey();
    const changed = { claims: { age_18_plus: false, country: 'FR' }, duplicate: false };
    changeAfterRead(hosted.stores, () =>
      hosted.stores.users.keepClaims(user.userId, changed, new Date(hosted.clock.now())),
    );
    const { parameters } = await returnByPasskey(user, user.partner.clientId);
    const grant = await hosted.grants.load(parameters['code'] ?? '');
    expect(grant?.evaluatedClaims).toMatchObject(changed.claims);
  });

  it('yields an error in place of a code if the redirect URI was removed after the start', async () => {
    const user = await createUserWithPasskey();
    const { clientId } = user.partner;
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    await hosted.admin.clients.update.mutate({ clientId, redirectUris: ['https://shop.example/new'] });
    const { answer } = await browser.sendPasskey((options) => user.authenticator.get(options));
    expect(answer.location).toMatch(/^https:\/\/shop\.example\/new\?error=/);
    expect(await hosted.stores.sessions.find(browser.sessionId())).not.toHaveProperty('code');
  });
});

describe('a return by passkey whose claims expire before its code', () => {
  it('yields a code that returns the claims, although expired, from a snapshot in the session', async () => {
    const quarter = 15 * 60;
    const user = await createUserWithPasskey({ maxVerificationAgeSeconds: quarter });
    hosted.clock.advance((quarter - 300) * 1_000);
    const { session, parameters } = await returnByPasskey(user, user.partner.clientId);
    expect(countWrites(session)).toBe(2);
    expect(session.snapshot?.claims).toMatchObject({ age_18_plus: true });
    hosted.clock.advance(400_000);
    expect((await hosted.grants.load(parameters['code'] ?? ''))?.evaluatedClaims).toMatchObject({
      age_18_plus: true,
    });
  });
});

describe('a passkey whose counter is always zero', () => {
  const createUserWithSyncedPasskey = () => createUserWithPasskey({}, newCounterlessAuthenticator());

  it('has the time of its last use stored after a return', async () => {
    const user = await createUserWithSyncedPasskey();
    hosted.clock.advance(1_000);
    const { parameters } = await returnByPasskey(user, user.partner.clientId);
    expect(parameters['code']).toBeDefined();
    const [passkey] = await hosted.stores.passkeys.ofUser(user.userId);
    expect(passkey).toMatchObject({ counter: 0, synced: true, lastUsedAt: new Date(hosted.clock.now()) });
  });

  it('yields a code even if storing the time of its last use fails', async () => {
    const user = await createUserWithSyncedPasskey();
    const failure = new MongoNetworkError('connection closed');
    vi.spyOn(hosted.stores.passkeys, 'noteUse').mockRejectedValueOnce(failure);
    const { parameters } = await returnByPasskey(user, user.partner.clientId);
    expect((await sendCode(hosted, user.partner, parameters['code'])).status).toBe(200);
  });

  it('is refused with passkey_refused if its stored counter is above zero', async () => {
    const user = await createUserWithSyncedPasskey();
    const passkeys = hosted.db.collection('passkeys');
    await passkeys.updateOne({ userId: user.userId }, { $set: { counter: 1 } });
    const { answer } = await sendReturn(user, user.partner.clientId);
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
  });

  it('yields a code that is refused with invalid_grant if the user withdraws consent simultaneously', async () => {
    const user = await createUserWithSyncedPasskey();
    const yourData = await signedIn(hosted, user.authenticator);
    changeAfterRead(hosted.stores, () => yourData.confirm(`/stop/${user.partner.partnerId}`));
    const { parameters } = await returnByPasskey(user, user.partner.clientId);
    expect(await sendCode(hosted, user.partner, parameters['code'])).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_description: expect.stringContaining('withdrawn the consent') },
    });
  });

  it('yields a code that is refused with invalid_grant if the user is erased simultaneously', async () => {
    const user = await createUserWithSyncedPasskey();
    changeAfterRead(hosted.stores, () => eraseUser(user.userId));
    const { parameters, session } = await returnByPasskey(user, user.partner.clientId);
    expect(await sendCode(hosted, user.partner, parameters['code'])).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    hosted.clock.advance(61_000);
    await hosted.services.verification.erasureSweep.sweep();
    expect(await hosted.stores.sessions.find(session._id)).not.toHaveProperty('userId');
  });
});
