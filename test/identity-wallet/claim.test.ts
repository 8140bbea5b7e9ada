import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createVerificationStores } from '../../server/people/store.ts';
import type { Session } from '../../server/sessions/session.ts';
import { requestLockMs } from '../../server/sessions/session-store.ts';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { askIdentityWallet, postFields } from './asking.ts';
import { identityWalletSources } from './attested.ts';
import { otherIdentityWallet } from './other-wallet.ts';

let service: TestServer;
let partner: TestPartner;
const clock = manualClock();
let lines: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });

beforeAll(async () => {
  const env = { SVC_IDENTITY_WALLET_SOURCES: JSON.stringify(identityWalletSources) };
  service = await startTestServer({ clock, logger, env });
  partner = await createPartner(service, { client: { sources: ['age'] } });
});
afterAll(() => service.stop());
beforeEach(() => {
  lines = [];
});

const ask = () => askIdentityWallet(service, 'age', { partner });
/** An answer that can be decrypted but proves nothing. */
const wrong = { vp_token: JSON.stringify({ proof_of_age: ['AAAA'] }) };
const refusals = () => lines.filter((line) => line.includes('refused a presentation')).length;

describe('simultaneous answers to one wallet request', () => {
  it('are verified once at the response URI: all others get 409 or 404', async () => {
    const { asked, show } = await ask();
    const { response_uri: uri } = await asked();
    const answers = await Promise.all(Array.from({ length: 40 }, () => postFields(uri, wrong)));
    const statuses = answers.map(({ status }) => status);
    expect(refusals()).toBe(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409 || status === 404)).toHaveLength(39);
    expect((await show()).timeline.map(({ event }) => event)).toEqual(['started', 'consented', 'failed']);
  });

  it('are verified once in the form of the Digital Credentials API', async () => {
    const { post, show } = await ask();
    const data = { vp_token: { proof_of_age: ['AAAA'] } };
    await Promise.all(Array.from({ length: 10 }, () => post(data)));
    expect(refusals()).toBe(1);
    expect((await show()).failure?.reason).toBe('document_rejected');
  });
});

describe('a wallet request whose answer is being verified', () => {
  /** Creates the state of a request that a process leaves if it crashes during the verification. */
  async function claimRequest() {
    const asked = await ask();
    const session = await service.db.collection<Session>('sessions').findOne({ _id: asked.sessionId });
    if (!session) throw new Error('no session');
    expect(await createVerificationStores(service.db).sessions.lockRequest(session, clock.now())).toBe(true);
    return { ...asked, session, uri: (await asked.asked()).response_uri };
  }

  it('answers 409 to further answers and errors at the response URI; a further form leaves the page open', async () => {
    const { uri, link, request, post, show } = await claimRequest();
    const refused = await postFields(uri, wrong);
    expect(refused.status).toBe(409);
    expect(await refused.json()).toEqual({
      success: false,
      error: 'Another answer to this request came first',
    });
    expect((await postFields(uri, { error: 'access_denied' })).status).toBe(409);
    expect((await otherIdentityWallet.open(link)).status).toBe(409);
    const end = await post(await otherIdentityWallet.pick(request, service.baseUrl));
    expect(end.returned).toBeUndefined();
    expect((await show()).failure).toBeNull();
    expect(refusals()).toBe(0);
  });

  it('accepts another answer after 20 s, so that a crashed process does not block the session', async () => {
    const { link, pages, session } = await claimRequest();
    clock.advance(requestLockMs - 1);
    expect((await otherIdentityWallet.open(link)).status).toBe(409);
    clock.advance(1);
    const { status, back } = await otherIdentityWallet.open(link);
    expect(status).toBe(200);
    expect((await pages.open(back)).returned).toHaveProperty('code');
    expect(await createVerificationStores(service.db).sessions.lockRequest(session, clock.now())).toBe(false);
  });

  it('can be cancelled by the user, and the session fails as abandoned', async () => {
    const { page, pages, show } = await claimRequest();
    const end = await pages.open(page.at, { ...page.fields, decision: 'cancel' });
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    expect((await show()).failure?.reason).toBe('abandoned');
  });

  it('cannot be locked for verification in a session that has changed or expired since it was read', async () => {
    const { session } = await claimRequest();
    const { sessions } = createVerificationStores(service.db);
    clock.advance(requestLockMs);
    const earlier = { ...session, timeline: session.timeline.slice(1) };
    expect(await sessions.lockRequest(earlier, clock.now())).toBe(false);
    expect(await sessions.lockRequest(session, session.expiresAt.getTime())).toBe(false);
    expect(await sessions.lockRequest(session, clock.now())).toBe(true);
  });
});

describe('a useless answer to a wallet request', () => {
  it('does not block the right answer if it is not JSON', async () => {
    const { asked, link, pages } = await ask();
    const { response_uri: uri } = await asked();
    const all = await Promise.all([
      ...Array.from({ length: 20 }, () => postFields(uri, { vp_token: 'no JSON' })),
      otherIdentityWallet.open(link),
    ]);
    const right = all.find(
      (each): each is Awaited<ReturnType<typeof otherIdentityWallet.open>> => 'back' in each,
    );
    expect(right?.status).toBe(200);
    expect((await pages.open(right?.back ?? '')).returned).toHaveProperty('code');
  });

  it('ends the request if it is a refusal, and the page then shows a new request', async () => {
    const { asked, link, page, pages } = await ask();
    const { response_uri: uri } = await asked();
    await postFields(uri, { error: 'access_denied' });
    expect((await otherIdentityWallet.open(link)).status).toBe(404);
    const next = await pages.open(page.at);
    expect(next.html).toContain('You said no in your identity wallet.');
    const other = /href="(av:\/\/[^"]*)"/.exec(next.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const { back } = await otherIdentityWallet.open(other);
    expect((await pages.open(back)).returned).toHaveProperty('code');
  });
});
