import { expect, it } from 'vitest';
import { refill, refillsPerDay, refillTo } from '../../../server/billing/wallets/refill.ts';
import { ApiError } from '../../../server/platform/errors.ts';

const noon = Date.UTC(2026, 6, 1, 12);

/** A wallet whose funding with a reference happens once, as in the ledger. */
function walletWith(balance: number) {
  const wallet = { balance, funded: new Map<string, number>() };
  const run = (now = noon) =>
    refill({
      readBalance: async () => wallet.balance,
      async fund(cents, reference) {
        const earlier = wallet.funded.get(reference);
        if (earlier === cents) return { repeated: true };
        if (earlier !== undefined) throw new ApiError('conflict');
        wallet.funded.set(reference, cents);
        wallet.balance += cents;
        return { repeated: false };
      },
      now,
    });
  return { wallet, run };
}

it('a refill fills a test wallet up to 1,000 dollars', async () => {
  for (const balance of [0, 12_345, 95_000]) {
    const { wallet, run } = walletWith(balance);
    expect(await run()).toEqual({ repeated: false });
    expect(wallet.balance).toBe(refillTo);
  }
});

it('a refill of less than 50 dollars is refused', async () => {
  await expect(walletWith(95_001).run()).rejects.toThrow('over 950 dollars');
});

it('a wallet is refilled ten times a day, of any amount, and again on the next day in UTC', async () => {
  const { wallet, run } = walletWith(0);
  for (let n = 0; n < refillsPerDay; n += 1) {
    await run();
    // Amounts repeat: then the reference and the amount are those of an earlier refill.
    wallet.balance = n % 2 === 0 ? 0 : 40_000;
  }
  await expect(run()).rejects.toThrow('refilled 10 times today');
  await expect(run(Date.UTC(2026, 6, 1, 23, 59, 59, 999))).rejects.toThrow('refilled 10 times today');
  expect(await run(Date.UTC(2026, 6, 2))).toEqual({ repeated: false });
});

it('an error of the ledger is not taken for an earlier refill', async () => {
  const failing = refill({
    readBalance: async () => 0,
    fund: async () => Promise.reject(new ApiError('service_unavailable')),
    now: noon,
  });
  await expect(failing).rejects.toMatchObject({ code: 'service_unavailable' });
});
