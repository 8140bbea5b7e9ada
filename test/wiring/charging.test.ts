import { expect, it } from 'vitest';
import type { Charges } from '../../server/billing/charge.ts';
import { accessOf, chargingOf } from '../../server/wiring/charging.ts';

const terms = {
  ...{ partnerId: 'ptr_1', mode: 'live' as const, clientId: 'cli_1', keyId: 'key_1', sessionId: 'ses_1' },
  ...{ enrollmentId: 'enr_1', sub: 's', returning: false, scope: '', claims: {}, lifetimeSeconds: 60 },
  meta: { claims_requested: [], claims_resolved: [], claims_null: [], claims_ignored: [] },
};

it.each(['test', 'live'] as const)('%s: the wallet of that mode is asked and charged', async (mode) => {
  const asked: unknown[] = [];
  const charges: Charges = {
    past: async (cause) => void asked.push(cause),
    charge: async ({ partnerId, mode: paying, cause, cents }, answer) => {
      asked.push({ partnerId, mode: paying, cause, cents });
      return {
        outcome: 'charged',
        answer: answer({ ...terms, id: 'txn_1', kind: 'token', at: new Date(), expiresAt: new Date() }),
      };
    },
    access: async (walletId, id) => void asked.push({ walletId, id }),
    revoke: async () => undefined,
  };
  const charging = chargingOf(charges, 'token', 50);
  const payer = { client: { mode }, partner: { _id: 'ptr_1', prices: {} }, cause: 'a code' };
  await charging.past(payer);
  await charging.charge({ ...payer, terms, waiting: { over: () => undefined } }, () => undefined);
  await accessOf(charges)({ partnerId: 'ptr_1', mode }, 'txn_1');
  expect(asked).toEqual([
    { partnerId: 'ptr_1', mode, cause: 'a code' },
    { partnerId: 'ptr_1', mode, cause: 'a code', cents: 50 },
    { walletId: `ptr_1:${mode}`, id: 'txn_1' },
  ]);
});
