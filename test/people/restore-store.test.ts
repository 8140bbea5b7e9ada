import { expect, it } from 'vitest';
import { createOperatorStore, type Operator } from '../../server/operations/operators/operator-store.ts';
import { createRestoreStore } from '../../server/people/restore-store.ts';
import type { Session } from '../../server/sessions/session.ts';
import { preparedDatabase } from '../harness/database.ts';

const now = Date.now();
const at = new Date(now);
const later = new Date(now + 60_000);

it('a restore ends all sessions, and counts only those that were open', async () => {
  const { db } = await preparedDatabase();
  const sessions = db.collection<Session>('sessions');
  const session = (id: string, fields: object) => ({
    _id: id,
    status: 'pending',
    expiresAt: later,
    ...fields,
  });
  await sessions.insertMany([
    session('ses_pending', {}),
    session('ses_verified', { status: 'verified' }),
    session('ses_complete', { status: 'complete' }),
    session('ses_failed', { failure: { reason: 'cancelled' } }),
    session('ses_expired', { expiresAt: at }),
  ] as unknown as Session[]);
  const { endOpen } = createRestoreStore(db);
  expect(await endOpen(at)).toMatchObject({ sessions: 2 });
  expect(await sessions.countDocuments({ expiresAt: { $gt: at } })).toBe(0);
  expect(await endOpen(at)).toMatchObject({ sessions: 0 });
});

it('a restore revokes all operators, and counts only those whose token had not expired', async () => {
  const { db } = await preparedDatabase();
  const operators = db.collection<Operator>('operators');
  const operator = (id: string, fields: object) => ({ _id: id, hash: id, status: 'active', ...fields });
  await operators.insertMany([
    operator('opr_active', {}),
    operator('opr_ending', { expiresAt: later }),
    operator('opr_expired', { expiresAt: at }),
    operator('opr_revoked', { status: 'revoked' }),
  ] as unknown as Operator[]);
  const { revokeAll } = createOperatorStore(db);
  expect(await revokeAll(at)).toBe(2);
  expect(await operators.countDocuments({ status: 'revoked' })).toBe(4);
  expect(await revokeAll(at)).toBe(0);
});
