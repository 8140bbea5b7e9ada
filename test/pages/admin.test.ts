import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../server/platform/ids.ts';
import { openBrowser, verifyAs } from './browser.ts';
import { exchange, type Hosted, onboard, returned, startHosted } from './hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted();
});
afterAll(() => hosted.close());

/** Returns the states of the codes of a client's sessions, by session id. */
async function listedCodes(clientId: string) {
  const { rows } = await hosted.admin.sessions.list.query({ clientId });
  return Object.fromEntries(rows.map(({ id, code }) => [id, code]));
}

describe('sessions list', () => {
  it("returns the state of each session's code: used, unused, locked, or null if there is none", async () => {
    const partner = await onboard(hosted);
    const { answer, sessionId: first } = await verifyAs(hosted, partner.clientId, 'adult');
    await exchange(hosted, partner, returned(answer.location)['code'] ?? '');
    const { sessionId: second } = await verifyAs(hosted, partner.clientId, 'adult');
    const { sessionId: third } = await verifyAs(hosted, partner.clientId, 'rejected');
    const codes = { [first]: 'used', [second]: 'unused', [third]: null };
    expect(await listedCodes(partner.clientId)).toEqual(codes);
    const { rows } = await hosted.admin.sessions.list.query({ clientId: partner.clientId });
    expect(rows.find(({ id }) => id === second)).toMatchObject({ returning: true });
    for (let count = 0; count < 5; count += 1) await hosted.grants.countWrongVerifier(second);
    expect(await listedCodes(partner.clientId)).toEqual({ ...codes, [second]: 'locked' });
  });
});

describe('sessions show', () => {
  it('returns the timeline of a session and the state of its code, without secrets', async () => {
    const partner = await onboard(hosted);
    const { answer, sessionId } = await verifyAs(hosted, partner.clientId, 'adult');
    const shown = await hosted.admin.sessions.show.query({ sessionId });
    expect(shown).toMatchObject({ id: sessionId, status: 'complete', expired: false, returning: false });
    expect(shown.timeline.map(({ event }) => event)).toEqual([
      'started',
      'consented',
      'authenticated',
      'verified',
      'completed',
    ]);
    expect(shown.code).toMatchObject({ state: 'unused', charge: null, wrongVerifiers: 0 });
    const { code = '', state = '' } = returned(answer.location);
    for (const secret of [code, sha256(code), state]) expect(JSON.stringify(shown)).not.toContain(secret);
    await exchange(hosted, partner, code);
    expect((await hosted.admin.sessions.show.query({ sessionId })).code).toMatchObject({
      state: 'used',
      charge: { id: expect.stringMatching(/^txn_/) as unknown },
    });
  });

  it('returns the failure reason, the expiry, and the code state locked after five wrong verifiers', async () => {
    const { clientId } = await onboard(hosted);
    const { sessionId: rejected } = await verifyAs(hosted, clientId, 'rejected');
    expect(await hosted.admin.sessions.show.query({ sessionId: rejected })).toMatchObject({
      status: 'authenticated',
      failure: { reason: 'document_rejected', retryable: true, text: expect.stringContaining('document') },
      timeline: expect.arrayContaining([
        expect.objectContaining({ event: 'failed', note: 'document_rejected' }),
      ]),
      code: null,
    });
    const { answer, sessionId: locked } = await verifyAs(hosted, clientId, 'adult');
    const code = returned(answer.location)['code'] ?? '';
    for (const count of [1, 2, 3, 4, 5]) {
      expect(await hosted.grants.countWrongVerifier(locked)).toBe(count);
    }
    expect((await hosted.grants.load(code))?.wrongVerifiers).toBe(5);
    expect((await hosted.admin.sessions.show.query({ sessionId: locked })).code?.state).toBe('locked');
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    hosted.clock.advance(30 * 60_000);
    const expired = await hosted.admin.sessions.show.query({ sessionId: browser.sessionId() });
    expect(expired).toMatchObject({ expired: true, failure: { reason: 'session_expired', retryable: true } });
    expect(expired.timeline.at(-1)).toEqual({
      at: expired.expiresAt,
      event: 'expired',
      note: 'session_expired',
    });
  });

  it('answers "No session ses_1" to an unknown id, and "cli_1 is a client" to an id of a client', async () => {
    await expect(hosted.admin.sessions.show.query({ sessionId: 'ses_1' })).rejects.toThrow(
      'No session ses_1',
    );
    await expect(hosted.admin.sessions.show.query({ sessionId: 'cli_1' })).rejects.toThrow(
      'cli_1 is a client',
    );
  });
});

describe('enrollments', () => {
  it('are listed newest first, by partner and by subject, in pages', async () => {
    const { clientId, partnerId } = await onboard(hosted);
    for (const person of ['adult', 'teen', 'duplicate']) {
      hosted.clock.advance(1_000);
      await verifyAs(hosted, clientId, person);
    }
    const all = await hosted.admin.enrollments.list.query({ partnerId });
    expect(all.map(({ status, blockReason }) => [status, blockReason])).toEqual([
      ['blocked', 'duplicate_identity'],
      ['active', null],
      ['active', null],
    ]);
    const first = await hosted.admin.enrollments.list.query({ partnerId, limit: 2 });
    const rest = await hosted.admin.enrollments.list.query({
      partnerId,
      limit: 2,
      after: first.at(-1)?.id ?? '',
    });
    expect([...first, ...rest]).toEqual(all);
    const sub = all[1]?.sub ?? '';
    expect(await hosted.admin.enrollments.list.query({ partnerId, sub })).toEqual([all[1]]);
    const other = await onboard(hosted);
    expect(await hosted.admin.enrollments.list.query({ partnerId: other.partnerId, sub })).toEqual([]);
  });

  it('can be blocked and unblocked, each with an audit entry, but an operator with the role ops cannot unblock them', async () => {
    const { clientId } = await onboard(hosted);
    const { answer } = await verifyAs(hosted, clientId, 'adult');
    const code = returned(answer.location)['code'] ?? '';
    const enrollmentId = (await hosted.grants.load(code))?.enrollment.id ?? '';
    const blocked = await hosted.admin.enrollments.block.mutate({ enrollmentId, reason: 'chargeback' });
    expect(blocked).toMatchObject({ status: 'blocked', blockReason: 'chargeback' });
    const grant = await hosted.grants.load(code);
    expect(grant?.enrollment.status).toBe('blocked');
    hosted.clock.advance(1_000);
    const unblocked = await hosted.admin.enrollments.unblock.mutate({ enrollmentId });
    expect(unblocked).toMatchObject({ status: 'active', blockReason: null });
    await hosted.sweep();
    expect(await hosted.admin.auditLog.list.query({ target: enrollmentId })).toMatchObject([
      { action: 'enrollments.unblock', before: { status: 'blocked' }, after: { status: 'active' } },
      { action: 'enrollments.block', target: enrollmentId, after: { status: 'blocked' } },
    ]);
    const { token } = await hosted.admin.operators.create.mutate({ name: 'Ada', role: 'ops' });
    await expect(hosted.as(token).enrollments.unblock.mutate({ enrollmentId })).rejects.toThrow(
      'does not allow',
    );
    await expect(hosted.admin.enrollments.show.query({ enrollmentId: 'enr_1' })).rejects.toThrow(
      'No enrollment enr_1',
    );
  });
});
