import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createHeads } from '../../server/billing/ledger/heads.ts';
import { createLedgerStore } from '../../server/billing/ledger/ledger-store.ts';
import { createLedgerWriter } from '../../server/billing/ledger/ledger-writer.ts';
import { openingPage } from '../../server/billing/ledger/page-builder.ts';
import { preparedDatabase } from '../harness/database.ts';

const walletId = 'ptr_1:test';
const uptime = () => performance.now();
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

it('a writer whose wallet page another process inserted first reports a conflict, and then inserts the next page', async () => {
  const { db } = await preparedDatabase();
  const store = createLedgerStore(db);
  await store.insert([openingPage(walletId, new Date())]);
  const process = () => {
    let conflicts = 0;
    const clock = { now: Date.now, trusted: () => true };
    const writer = createLedgerWriter({
      ...{ store, heads: createHeads(store, uptime), clock, uptime, pause, resendWithin: 1_500 },
      onWritten: () => undefined,
      onConflict: () => {
        conflicts += 1;
      },
    });
    const posting = () => ({ walletId, id: randomUUID(), kind: 'funding' as const, amount: 5_000 });
    const write = () => writer.write(posting(), { signal: { aborted: false, reason: undefined } });
    return { write, conflicts: () => conflicts };
  };
  const [first, second] = [process(), process()];
  await first.write();
  await second.write();
  expect([first.conflicts(), second.conflicts()]).toEqual([0, 0]);
  expect((await first.write()).outcome).toBe('written');
  expect([first.conflicts(), second.conflicts()]).toEqual([1, 0]);
});
