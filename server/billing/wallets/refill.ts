import { ApiError } from '../../platform/errors.ts';

/** The balance that a refill leads to, and the least that it adds, in cents. */
export const refillTo = 100_000;
const leastRefill = 5_000;
/** The most refills of a wallet on a day in UTC. */
export const refillsPerDay = 10;

interface Refill<Moved> {
  /** Cents. */
  readBalance: () => Promise<number>;
  /** @throws ApiError `conflict` if the reference was used with another amount */
  fund: (cents: number, reference: string) => Promise<Moved>;
  now: number;
}

/**
 * Fills a test wallet up to `refillTo`. Each refill of a day has a reference of its own, so there are only so many, whatever runs
 * simultaneously.
 * @throws ApiError `refused` if the wallet is full, or was refilled too often
 */
export async function refill<Moved extends { repeated: boolean }>({ readBalance, fund, now }: Refill<Moved>) {
  const day = new Date(now).toISOString().slice(0, 10);
  for (let nth = 1; nth <= refillsPerDay; nth += 1) {
    const amount = refillTo - (await readBalance());
    if (amount < leastRefill)
      throw new ApiError('refused', { description: 'The test wallet has over 950 dollars of play money' });
    const moved = await fund(amount, `refill ${day} ${nth}`).catch((error: unknown) => {
      // Another amount has this reference: it was an earlier refill of the day.
      if (error instanceof ApiError && error.code === 'conflict') return undefined;
      throw error;
    });
    if (moved && !moved.repeated) return moved;
  }
  throw new ApiError('refused', {
    description: `The test wallet was refilled ${refillsPerDay} times today; the next day begins at 00:00 UTC`,
  });
}
