import type { Db } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EventDraft } from '../../server/platform/database/event-draft.ts';
import { createJointReads } from '../../server/platform/database/reads/joint-reads.ts';
import { bytesOfId, bytesOfSecret, randomId, secretOfBytes, sha256 } from '../../server/platform/ids.ts';
import { codeOf, presentedCode } from '../../server/sessions/code.ts';
import { linkOf, presentedLink } from '../../server/sessions/hand-off/link.ts';
import type { Session } from '../../server/sessions/session.ts';
import { createSessionStore, type SessionStore } from '../../server/sessions/session-store.ts';
import { consented, failed } from '../../server/sessions/transitions.ts';
import { preparedDatabase } from '../harness/database.ts';
import { type Loss, lossyDatabase } from '../platform/database/lossy.ts';

let store: SessionStore;
let losses: ReturnType<typeof lossyDatabase>['losses'];
let db: Db;
beforeEach(async () => {
  ({ db } = await preparedDatabase());
  const lossy = lossyDatabase(db);
  losses = lossy.losses;
  store = createSessionStore(lossy.db, createJointReads(lossy.db));
});

const at = new Date();
const later = new Date(at.getTime() + 1_800_000);

async function started(changes: Partial<Session> = {}): Promise<Session> {
  const session: Session = {
    _id: randomId('session'),
    partnerId: 'ptr_1',
    clientId: 'cli_1',
    keyId: 'key_1',
    mode: 'test',
    source: 'sandbox',
    redirectUri: 'https://shop.example/',
    state: 'state',
    scope: ['age_18_plus'],
    codeChallenge: 'challenge',
    status: 'pending',
    browserHash: 'hash',
    timeline: [{ at, event: 'started' }],
    outbox: [],
    createdAt: at,
    expiresAt: later,
    ...changes,
  };
  await store.insert(session);
  return session;
}

const consent = (session: Session) => store.move(session, consented(at), at);
const cancel = (session: Session) => store.move(session, failed(session, 'abandoned', at), at);
const eventsOf = async ({ _id }: Session) => (await store.find(_id))?.timeline.map(({ event }) => event);
const withoutNonces = ({ timeline, ...session }: Session) => ({
  ...session,
  timeline: timeline.map(({ nonce: _nonce, ...entry }) => entry),
});

describe('changes of sessions in one group', () => {
  it('return the changed sessions as they are stored in the database', async () => {
    const carrying = { carried: { person: 'adult' }, enrollmentDueAt: at };
    const [one, two] = [await started(), await started(carrying)];
    const moved = await Promise.all([consent(one), cancel(two)]);
    for (const session of moved) {
      const found = (session && (await store.find(session._id))) ?? expect.fail('not moved');
      const { purgeAt: _purge, ...stored } = withoutNonces(found);
      expect(session && withoutNonces(session)).toEqual(stored);
    }
  });

  it('are applied only once if three of them change the same session; the other two return undefined', async () => {
    const [session, other] = [await started(), await started()];
    const results = await Promise.all([consent(session), cancel(session), consent(other), consent(session)]);
    expect(results.map((result) => result !== undefined)).toEqual([true, false, true, false]);
    expect(await eventsOf(session)).toEqual(['started', 'consented']);
  });

  it('return undefined and change nothing if the session has changed since it was read, or has expired', async () => {
    const session = await started();
    await consent(session);
    const expired = await started({ expiresAt: at });
    expect(await Promise.all([cancel(session), consent(expired)])).toEqual([undefined, undefined]);
    expect(await eventsOf(session)).toEqual(['started', 'consented']);
    expect(await eventsOf(expired)).toEqual(['started']);
  });

  it('fail separately: a change that breaks a unique index rejects, and the other changes are applied', async () => {
    await db.collection('sessions').createIndex({ 'handoff.linkHash': 1 }, { unique: true, sparse: true });
    const [first, second, third] = [await started(), await started(), await started()];
    const offered = { state: 'offered' as const, number: 1, expiresAt: later, wrongCodes: 0, computer: {} };
    const set = { handoff: { ...offered, linkHash: 'the same' } };
    const offer = (session: Session) =>
      store.move(session, { set, entry: { at, event: 'handoff_offered' } }, at);
    await offer(first);
    const results = await Promise.allSettled([offer(second), consent(third)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await eventsOf(second)).toEqual(['started']);
    expect(await eventsOf(third)).toEqual(['started', 'consented']);
  });
});

describe('authorization codes and hand-off links', () => {
  const until = { issuedAt: at, expiresAt: later, wrongVerifiers: 0 };
  const key = new Uint8Array(32);

  async function completed() {
    const _id = randomId('session');
    const code = codeOf(key, _id);
    const link = linkOf(_id, Buffer.from(_id).subarray(0, 10));
    const handoff = { state: 'offered' as const, number: 1, wrongCodes: 0, computer: {}, expiresAt: later };
    await started({
      _id,
      code: { hash: sha256(code), keyId: 'code-1', ...until },
      handoff: { ...handoff, linkHash: sha256(link) },
    });
    return { _id, code, link };
  }

  it('find the session that they belong to', async () => {
    const wanted = [await completed(), await completed(), await completed()];
    const ids = wanted.map(({ _id }) => _id);
    const found = await store.findByCodes(wanted.map(({ code }) => presentedCode(code)));
    expect(found.map((session) => session?._id)).toEqual(ids);
    const linked = await Promise.all(wanted.map(({ link }) => store.findByLink(presentedLink(link))));
    expect(linked.map((session) => session?._id)).toEqual(ids);
    expect(await store.countWrongVerifier(ids[0] ?? '')).toBe(1);
  });

  it('return no session for a wrong secret, or for the secret of another session', async () => {
    const [made, other] = [await completed(), await completed()];
    const secretOf = (code: string) => bytesOfSecret('code', code)?.subarray(16) ?? expect.fail('no code');
    const id = bytesOfId('session', made._id) ?? expect.fail('no id');
    const forged = [Buffer.alloc(16), secretOf(other.code)].map((secret) =>
      secretOfBytes('code', Buffer.concat([id, secret])),
    );
    const [wrong, swapped, right] = await store.findByCodes([...forged, made.code].map(presentedCode));
    expect([wrong, swapped, right?._id]).toEqual([undefined, undefined, made._id]);
    // Both hashes are stored, but in other sessions than these ids name.
    const crossed = [
      { ...presentedCode(made.code), sessionId: other._id },
      { ...presentedCode(other.code), sessionId: made._id },
    ];
    expect(await store.findByCodes(crossed)).toEqual([undefined, undefined]);
    expect(await store.findByLink({ ...presentedLink(made.link), sessionId: other._id })).toBeUndefined();
    const wrongLink = made.link.slice(0, -1) + (made.link.endsWith('0') ? '1' : '0');
    expect(await store.findByLink(presentedLink(wrongLink))).toBeUndefined();
  });
});

describe('a group of session changes', () => {
  it.each<Loss>(['command', 'reply'])('is applied once if its %s was lost on the way', async (loss) => {
    const [one, two] = [await started(), await started()];
    const stale = await started();
    await consent(stale);
    losses.push(loss);
    const moved = await Promise.all([consent(one), cancel(two), cancel(stale)]);
    expect(moved.map((session) => session?.timeline.length)).toEqual([2, 2, undefined]);
    expect(await eventsOf(one)).toEqual(['started', 'consented']);
    expect(await eventsOf(two)).toEqual(['started', 'failed']);
    expect(await eventsOf(stale)).toEqual(['started', 'consented']);
  });

  it('returns the changed session although the reply was lost, and the next change is applied to it', async () => {
    const session = await started();
    losses.push('reply');
    const first = consent(session);
    const moved = await first;
    expect(moved && (await cancel(moved))?.failure?.reason).toBe('abandoned');
    expect(await eventsOf(session)).toEqual(['started', 'consented', 'failed']);
  });

  it('throws to the caller if the reply of the database is lost twice, although the change is stored', async () => {
    const session = await started();
    losses.push('reply', 'reply');
    await expect(consent(session)).rejects.toThrow('the reply is lost');
    expect(await eventsOf(session)).toEqual(['started', 'consented']);
  });
});

describe('the fields outboxAt and enrollmentDueAt of a session', () => {
  const failure: EventDraft = {
    ...{ type: 'verification.session.failed', cause: ['ses_1'], partnerId: 'ptr_1', mode: 'test' },
    ...{ keyId: 'key_1', about: {}, at, fields: {} },
  };
  const since = new Date(at.getTime() + 1_000);
  const change = ({ _id }: Session, set: Partial<Session>) =>
    db.collection<Session>('sessions').updateOne({ _id }, { $set: set });
  const marksOf = async ({ _id }: Session) => {
    const { outboxAt, enrollmentDueAt, outbox } = (await store.find(_id)) ?? expect.fail('no session');
    return { outboxAt, enrollmentDueAt, events: outbox.length };
  };

  it.each([
    ['outboxAt', { outboxAt: since, enrollmentDueAt: at }],
    ['enrollmentDueAt', { outboxAt: at, enrollmentDueAt: since }],
  ])(
    'are not cleared by the sweep if %s has changed since the sweep read the session',
    async (name, marks) => {
      const read = await started({ outbox: [failure], outboxAt: at, enrollmentDueAt: at });
      await change(read, { [name]: since });
      await store.markPublished([read]);
      expect(await marksOf(read)).toEqual({ ...marks, events: 1 });
    },
  );

  it('are cleared by the sweep, except outboxAt if an event was added during the sweep', async () => {
    const read = await started({ enrollmentDueAt: at });
    await change(read, { outbox: [failure], outboxAt: since });
    await store.markPublished([read]);
    expect(await marksOf(read)).toEqual({ outboxAt: since, enrollmentDueAt: undefined, events: 1 });
    await store.markPublished([(await store.find(read._id)) ?? expect.fail('no session')]);
    expect(await marksOf(read)).toEqual({ outboxAt: undefined, enrollmentDueAt: undefined, events: 0 });
  });
});

describe('an insert of a session', () => {
  it.each<Loss>(['command', 'reply'])(
    'stores the session once if its %s was lost on the way',
    async (loss) => {
      losses.push(loss);
      const session = await started();
      expect((await store.find(session._id))?._id).toBe(session._id);
    },
  );
});
