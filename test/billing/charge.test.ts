import { expect, it } from 'vitest';
import type { Order } from '../../contracts/charge.ts';
import { createCharges } from '../../server/billing/charge.ts';
import type { LedgerEntry } from '../../server/billing/ledger/ledger-page.ts';
import { draftPage, openingPage, type Posting } from '../../server/billing/ledger/page-builder.ts';

const now = Date.UTC(2026, 0, 5, 12);

/** Charges that record their postings, and answer at once as if these were written. */
function chargesThatAreWritten() {
  const postings: Posting[] = [];
  const asked: string[] = [];
  const charges = createCharges({
    writer: {
      async write(posting) {
        postings.push(posting);
        const { id, kind, amount } = posting;
        const grant = { ...terms, expiresAt: new Date(now + 1_000), salt: 'salt' };
        const entry: LedgerEntry = { id, kind, amount, balanceAfter: 0, at: new Date(now), grant };
        return { outcome: 'written', entry };
      },
    },
    store: {
      findEntry: async ({ walletId }) => void asked.push(walletId),
      findDurableEntry: async ({ walletId }) => void asked.push(walletId),
    },
    revocations: { has: async () => false, add: async () => undefined },
    clock: { now: () => now },
    idKey: new Uint8Array(32),
    standardPrice: 50,
  });
  return { charges, postings, asked };
}

const terms = {
  ...{ partnerId: 'ptr_1', mode: 'test' as const, clientId: 'cli_1', keyId: 'key_1', sessionId: 'ses_1' },
  ...{ enrollmentId: 'enr_1', sub: 's', returning: true, scope: 'country', claims: { country: 'DE' } },
  meta: { claims_requested: [], claims_resolved: [], claims_null: [], claims_ignored: [] },
};

const order = (change: Partial<Order> = {}): Order => ({
  ...{ kind: 'token', cause: 'a code', prices: undefined },
  terms: { ...terms, lifetimeSeconds: 3_600 },
  signal: new AbortController().signal,
  ...change,
});

it('a charge has a pending vae.resolved event only if it issues a token to a returning user', async () => {
  const { charges, postings } = chargesThatAreWritten();
  await charges.charge(order(), () => undefined);
  await charges.charge(order({ kind: 'storefront' }), () => undefined);
  await charges.charge(order({ kind: 'checkbox' }), () => undefined);
  const first = { ...terms, returning: false, lifetimeSeconds: 3_600 };
  await charges.charge(order({ terms: first }), () => undefined);
  const opening = openingPage('ptr_1:test', new Date(now));
  const head = { ...opening, state: { ...opening.state, balance: 500 }, asOf: 0 };
  const pages = postings.map((posting) => draftPage(head, [posting], now).page);
  expect(pages.map(({ entries, unpublished }) => [entries.length, unpublished])).toEqual([
    [1, true],
    [1, undefined],
    [1, undefined],
    [1, undefined],
  ]);
});

it('the sandbox user for a low balance causes payment_required in test mode, and a normal charge in live mode', async () => {
  const { charges, postings } = chargesThatAreWritten();
  const rehearsing = { ...terms, lifetimeSeconds: 3_600, rehearse: 'low-balance' as const };
  await expect(charges.charge(order({ terms: rehearsing }), () => undefined)).rejects.toMatchObject({
    code: 'payment_required',
  });
  expect(postings).toEqual([]);
  const live = await charges.charge(order({ terms: { ...rehearsing, mode: 'live' } }), () => 'an answer');
  expect(live).toEqual({ outcome: 'charged', answer: 'an answer' });
});

it.each(['test', 'live'] as const)(
  'charges are made and found in the %s wallet of the partner if that is the mode of the request',
  async (mode) => {
    const { charges, postings, asked } = chargesThatAreWritten();
    await charges.past({ partnerId: 'ptr_1', mode, cause: 'a code' });
    await charges.access({ partnerId: 'ptr_1', mode }, 'txn_1');
    await charges.charge(order({ terms: { ...terms, mode, lifetimeSeconds: 60 } }), () => undefined);
    expect([...asked, ...postings.map(({ walletId }) => walletId)]).toEqual(Array(3).fill(`ptr_1:${mode}`));
  },
);

it("a partner's own price applies to its kind of charge, and the standard price to other kinds", async () => {
  const { charges, postings } = chargesThatAreWritten();
  await charges.charge(order(), () => undefined);
  await charges.charge(order({ prices: { token: 20 } }), () => undefined);
  await charges.charge(order({ kind: 'checkbox', prices: { token: 20 } }), () => undefined);
  expect(postings.map(({ amount }) => amount)).toEqual([-50, -20, -50]);
});
