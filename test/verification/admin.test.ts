import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminContext } from '../../server/platform/admin-api/procedures.ts';
import { router } from '../../server/platform/admin-api/procedures.ts';
import { sha256 } from '../../server/platform/ids.ts';
import { openBrowser, verifyAs } from './browser.ts';
import { type Hosted, onboard, returned, startHosted } from './hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted();
});
afterAll(() => hosted.close());

function api(role: AdminContext['operator']['role'] = 'support') {
  const operator = { id: 'opr_1', name: 'Ada', role };
  const { sessions, enrollments } = hosted.verification.procedures;
  return router({ sessions, enrollments }).createCaller({
    operator,
    requestId: `req_${Math.random()}`,
    address: '127.0.0.1',
  });
}

describe('sessions show', () => {
  it('tells how far a session came and what became of its code', async () => {
    const { clientId } = await onboard(hosted);
    const { answer, sessionId } = await verifyAs(hosted, clientId, 'adult');
    const shown = await api().sessions.show({ sessionId });
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
    hosted.usedCodes.add(sha256(code));
    expect((await api().sessions.show({ sessionId })).code).toMatchObject({
      state: 'used',
      charge: { id: 'txn_1' },
    });
  });

  it('tells of failure, expiry and a code that met five wrong verifiers', async () => {
    const { clientId } = await onboard(hosted);
    const { sessionId: rejected } = await verifyAs(hosted, clientId, 'rejected');
    expect(await api().sessions.show({ sessionId: rejected })).toMatchObject({
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
      expect(await hosted.verification.grants.countWrongVerifier(locked)).toBe(count);
    }
    expect((await hosted.verification.grants.load(code))?.wrongVerifiers).toBe(5);
    expect((await api().sessions.show({ sessionId: locked })).code?.state).toBe('locked');
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    hosted.clock.at += 30 * 60_000;
    const expired = await api().sessions.show({ sessionId: browser.sessionId() });
    expect(expired).toMatchObject({ expired: true, failure: { reason: 'session_expired', retryable: true } });
    expect(expired.timeline.at(-1)).toEqual({
      at: expired.expiresAt,
      event: 'expired',
      note: 'session_expired',
    });
  });

  it('an unknown session, or something else, is refused', async () => {
    await expect(api().sessions.show({ sessionId: 'ses_1' })).rejects.toThrow('No session ses_1');
    await expect(api().sessions.show({ sessionId: 'cli_1' })).rejects.toThrow('cli_1 is a client');
  });
});

describe('enrollments', () => {
  it('are listed newest first, by partner and by subject, in pages', async () => {
    const { clientId, partnerId } = await onboard(hosted);
    for (const person of ['adult', 'teen', 'duplicate']) {
      hosted.clock.at += 1_000;
      await verifyAs(hosted, clientId, person);
    }
    const all = await api().enrollments.list({ partnerId });
    expect(all.map(({ status, blockReason }) => [status, blockReason])).toEqual([
      ['blocked', 'duplicate_identity'],
      ['active', null],
      ['active', null],
    ]);
    const first = await api().enrollments.list({ partnerId, limit: 2 });
    const rest = await api().enrollments.list({ partnerId, limit: 2, after: first.at(-1)?.id ?? '' });
    expect([...first, ...rest]).toEqual(all);
    const sub = all[1]?.sub ?? '';
    expect(await api().enrollments.list({ partnerId, sub })).toEqual([all[1]]);
    const other = await onboard(hosted);
    expect(await api().enrollments.list({ partnerId: other.partnerId, sub })).toEqual([]);
  });

  it('are blocked and unblocked, with an audit entry each, and grants follow', async () => {
    const { clientId } = await onboard(hosted);
    const { answer } = await verifyAs(hosted, clientId, 'adult');
    const code = returned(answer.location)['code'] ?? '';
    const enrollmentId = (await hosted.verification.grants.load(code))?.enrollment.id ?? '';
    const blocked = await api().enrollments.block({ enrollmentId, reason: 'chargeback' });
    expect(blocked).toMatchObject({ status: 'blocked', blockReason: 'chargeback' });
    const grant = await hosted.verification.grants.load(code);
    expect(grant?.enrollment.status).toBe('blocked');
    const unblocked = await api().enrollments.unblock({ enrollmentId });
    expect(unblocked).toMatchObject({ status: 'active', blockReason: null });
    const { audit } = (await hosted.stores.enrollments.find(enrollmentId)) ?? {};
    expect(audit).toMatchObject([
      { action: 'enrollments.block', target: enrollmentId, after: { status: 'blocked' } },
      { action: 'enrollments.unblock', before: { status: 'blocked' }, after: { status: 'active' } },
    ]);
    await expect(api('ops').enrollments.unblock({ enrollmentId })).rejects.toThrow('does not allow');
    await expect(api().enrollments.show({ enrollmentId: 'enr_1' })).rejects.toThrow('No enrollment enr_1');
  });
});
