import { expect, it } from 'vitest';
import { createHeads } from '../../server/billing/ledger/heads.ts';
import type { LedgerPage } from '../../server/billing/ledger/ledger-page.ts';
import type { LedgerStore } from '../../server/billing/ledger/ledger-store.ts';
import { createLedgerWriter } from '../../server/billing/ledger/ledger-writer.ts';
import { openingPage } from '../../server/billing/ledger/page-builder.ts';
import { createManualEntries } from '../../server/billing/manual-entries.ts';

const walletId = 'ptr_1:test';
const uptime = () => performance.now();
const audit = {
  ...{ id: 'req_1', operatorId: 'opr_1', operatorName: 'Kim', action: 'wallets.fund' },
  ...{ requestId: 'req_1', address: '127.0.0.1', at: new Date(), target: walletId },
};

/** A ledger in memory whose last page `restore` removes, as a restored backup does. */
function memoryLedger() {
  const pages: LedgerPage[] = [openingPage(walletId, new Date())];
  const find = (id: string) => pages.flatMap(({ entries }) => entries).find((entry) => entry.id === id);
  const store = {
    async insert(inserted: readonly LedgerPage[]) {
      return inserted.map((page) => {
        if (page.entries.some(({ id }) => find(id))) return 'entry exists' as const;
        pages.push(page);
        return 'inserted' as const;
      });
    },
    head: async () => pages.at(-1),
    page: async (_: string, n: number) => pages[n],
    existing: async (keys: readonly { id: string }[]) =>
      new Set(keys.filter(({ id }) => find(id)).map(({ id }) => `${walletId}/${id}`)),
    findEntry: async ({ id }: { id: string }) => find(id),
    findDurableEntry: async ({ id }: { id: string }) => find(id),
    findAnywhere: async () => undefined,
    walletIds: async () => [walletId],
  } satisfies Partial<LedgerStore>;
  return { store, restore: () => void pages.pop() };
}

it('a repeated funding gets service_unavailable once, and is then applied again, if a database restore removed its entry', async () => {
  const { store, restore } = memoryLedger();
  const heads = createHeads(store, uptime);
  const clock = { now: Date.now, trusted: () => true };
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const onWritten = () => undefined;
  const writer = createLedgerWriter({ store, heads, clock, onWritten, uptime, pause, resendWithin: 1_500 });
  const entries = createManualEntries({
    ...{ writer, store, idKey: new Uint8Array(32), timeout: AbortSignal.timeout },
  });
  const fund = () => entries.fund(walletId, 5_000, { reference: 'invoice 1', audit });

  expect(await fund()).toMatchObject({ repeated: false });
  expect(await fund()).toMatchObject({ repeated: true });
  restore();
  heads.clear();
  await expect(fund()).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(await fund()).toMatchObject({ repeated: false });
});
