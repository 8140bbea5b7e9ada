import type { Db } from 'mongodb';
import { walletIdOf } from '../../server/billing/ledger-page.ts';
import { expectEqual } from '../contenders/our-books.ts';
import type { Owner } from '../contenders/our-partners.ts';
import { capPerMinute, type Partners } from './partners.ts';

/** How many of its requests were answered 200 so far, by partner. */
export type Granted = ReadonlyMap<Owner, number>;

/** Charges of this partner in each minute in which it had any. */
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
 * Every partner was charged for as many exchanges as it was granted, and a noisy one never for more than its cap:
 * of the minute in which it is charged, or, as requests are counted a moment before, over all these minutes.
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
  // It was refused, so there is a minute in which it reached its cap.
  expectEqual('the most charges in a minute', Math.max(...spent.minutes), capPerMinute);
  const asked = await of(noisy.requests.owner, 'noisy at its request limit');
  const most = capPerMinute * asked.minutes.length;
  if (asked.charges > most) throw new Error(`${asked.charges} charges, where ${most} requests were allowed`);
}
