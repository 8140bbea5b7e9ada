import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { openingPage } from '../../../server/billing/ledger/page-builder.ts';
import { createBillingStores } from '../../../server/billing/store.ts';
import { createWalletAudit } from '../../../server/billing/wallets/audit/audit-wallet.ts';
import { createNightlyAudit } from '../../../server/billing/wallets/audit/nightly-audit.ts';
import { createWalletsStores } from '../../../server/billing/wallets/store.ts';
import { preparedDatabase } from '../../harness/database.ts';

const dayMs = 86_400_000;
const twoOClock = Date.UTC(2026, 6, 1, 2);

/** A ledger with more wallets than a page of the audit has. `audited` are the audits since the last call of `take`. */
async function ledger(walletCount = 23) {
  const { db } = await preparedDatabase();
  const stores = { ...createBillingStores(db), ...createWalletsStores(db) };
  const ids = Array.from({ length: walletCount }, (_, n) => `ptr_${n}:test`);
  await stores.ledger.insert(ids.map((id) => openingPage(id, new Date(twoOClock - dayMs))));
  const clock = { time: twoOClock, now: () => clock.time };
  /** How long each audit of a wallet takes, in milliseconds of the process. */
  const pace = { auditMs: 0 };
  let elapsed = 0;
  const audit = createWalletAudit({ stores, clock, key: randomBytes(32) });
  let audited: { walletId: string; isWhole: boolean }[] = [];
  const errors: unknown[] = [];
  const noted: typeof audit = {
    audit(walletId, options) {
      audited.push({ walletId, isWhole: options?.sinceCheckpoint !== true });
      elapsed += pace.auditMs;
      return audit.audit(walletId, options);
    },
  };
  const logger = { error: (details: unknown) => void errors.push(details) };
  const processOf = (worker: boolean) =>
    createNightlyAudit({ stores, clock, worker, logger }, noted, () => elapsed);
  const take = () => {
    const taken = audited;
    audited = [];
    return taken;
  };
  return {
    db,
    ids,
    clock,
    pace,
    process: processOf(true),
    other: processOf(true),
    api: processOf(false),
    take,
    errors,
  };
}

it('the nightly audit reads each wallet once a day, from 02:00 UTC on', async () => {
  const { ids, clock, process, take } = await ledger();
  clock.time = twoOClock - 1;
  await process.sweep();
  expect(take().map(({ walletId }) => walletId)).toEqual(ids.toSorted());
  await process.sweep();
  expect(take()).toEqual([]);
  clock.time = twoOClock;
  await process.sweep();
  await process.sweep();
  expect(take()).toHaveLength(ids.length);
});

it('the nightly audit reads each wallet whole once a week, and else from its last audit on', async () => {
  const { ids, clock, process, take } = await ledger(6);
  await process.sweep();
  take();
  const readWhole: string[] = [];
  for (let day = 1; day <= 7; day += 1) {
    clock.time = twoOClock + day * dayMs;
    await process.sweep();
    readWhole.push(...take().flatMap(({ walletId, isWhole }) => (isWhole ? [walletId] : [])));
  }
  expect(readWhole.toSorted()).toEqual(ids.toSorted());
});

it('the nightly audit stops after two seconds, and the next sweep continues it', async () => {
  const { ids, pace, process, take } = await ledger();
  pace.auditMs = 100;
  await process.sweep();
  expect(take().map(({ walletId }) => walletId)).toEqual(ids.toSorted().slice(0, 20));
  await process.sweep();
  expect(take().map(({ walletId }) => walletId)).toEqual(ids.toSorted().slice(20));
});

it('one of two processes makes the nightly audit, and a process without the role worker does not', async () => {
  const { ids, process, other, api, take } = await ledger();
  await api.sweep();
  expect(take()).toEqual([]);
  await Promise.all([process.sweep(), other.sweep()]);
  expect(take()).toHaveLength(ids.length);
});

it('the nightly audit is continued by another process ten minutes after the first one has ended in it', async () => {
  const { db, ids, clock, process, take } = await ledger();
  const until = new Date(twoOClock + 600_000);
  const after = ids.toSorted()[19] ?? '';
  // Acts as a process that was killed after it had stored that it audited 20 wallets.
  await db
    .collection<{ _id: string }>('ledgerAudits')
    .insertOne({ _id: 'nightly', day: '2026-07-01', after, until } as { _id: string });
  clock.time = until.getTime() - 1;
  await process.sweep();
  expect(take()).toEqual([]);
  clock.time = until.getTime();
  await process.sweep();
  expect(take().map(({ walletId }) => walletId)).toEqual(ids.toSorted().slice(20));
});

it('the nightly audit logs the findings of a wallet', async () => {
  const { db, process, errors } = await ledger(2);
  await db
    .collection<{ walletId: string }>('ledger')
    .updateOne({ walletId: 'ptr_1:test' }, { $set: { digest: 'x' } });
  await process.sweep();
  expect(errors).toMatchObject([{ walletId: 'ptr_1:test', findings: [{}] }]);
});
