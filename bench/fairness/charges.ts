import type { Db } from 'mongodb';
import { walletIdOf } from '../../server/billing/ledger/ledger-page.ts';
import { expectEqual } from '../contenders/our-ledgers.ts';
import type { Owner } from '../contenders/our-partners.ts';
import { capPerMinute, type Partners } from './partners.ts';

/** The number of requests that were answered with 200, by partner. */
export type Granted = ReadonlyMap<Owner, number>;

/** The partner's charges in each minute with at least one. */
async function chargesByMinute(db: Db, { partnerId }: Owner): Promise<number[]> {
  const minutes = await db
    .collection('ledger')
    .aggregate<{ charges: number }>([
      { $match: { walletId: walletIdOf(partnerId, 'test') } },
      { $unwind: '$entries' },
      { $match: { 'entries.kind': 'token' } },
      { $group: { _id: { $dateTrunc: { date: '$at', unit: 'minute' } }, charges: { $sum: 1 } } },
    ])
    .toArray();
  return minutes.map(({ charges }) => charges);
}

/**
 * Checks that every partner was charged for exactly its granted exchanges, and a noisy one never above its cap. A spend
 * cap is checked by minute. A request limit is checked over all minutes, because requests count a moment before the
 * charge.
 */
export async function checkCharges(db: Db, { quiet, noisy }: Partners, granted: Granted): Promise<void> {
  const of = async (owner: Owner, who: string) => {
    const minutes = await chargesByMinute(db, owner);
    const charges = minutes.reduce((sum, each) => sum + each, 0);
    expectEqual(`charges of ${who}`, charges, granted.get(owner) ?? 0);
    return { charges, minutes };
  };
  await of(quiet, 'quiet');
  const spent = await of(noisy.spend.owner, 'noisy at its spend cap');
  // It was refused, so it must have reached its cap in some minute.
  expectEqual('the most charges in a minute', Math.max(...spent.minutes), capPerMinute);
  const asked = await of(noisy.requests.owner, 'noisy at its request limit');
  const most = capPerMinute * asked.minutes.length;
  if (asked.charges > most) throw new Error(`${asked.charges} charges, where ${most} requests were allowed`);
}
