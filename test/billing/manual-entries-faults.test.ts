import { expect, it, vi } from 'vitest';
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

/** Manual entries in this ledger. @param record adds to the audit log */
function entriesOf({ store }: ReturnType<typeof memoryLedger>, record: () => Promise<void>) {
  const heads = createHeads(store, uptime);
  const clock = { now: Date.now, trusted: () => true };
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const onWritten = () => undefined;
  const writer = createLedgerWriter({ store, heads, clock, onWritten, uptime, pause, resendWithin: 1_500 });
  const given = { writer, store, record, idKey: new Uint8Array(32), timeout: AbortSignal.timeout };
  const entries = createManualEntries(given);
  const fund = () => entries.fund(walletId, 5_000, { reference: 'invoice 1', audit });
  return { fund, forgetHeads: heads.clear };
}

it('a repeated funding gets service_unavailable once, and is then applied again, if a database restore removed its entry', async () => {
  const ledger = memoryLedger();
  const { fund, forgetHeads } = entriesOf(ledger, async () => undefined);

  expect(await fund()).toMatchObject({ repeated: false });
  expect(await fund()).toMatchObject({ repeated: true });
  ledger.restore();
  forgetHeads();
  await expect(fund()).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(await fund()).toMatchObject({ repeated: false });
});

it('an entry is in the audit log before the call is answered, and a repetition adds none', async () => {
  const record = vi.fn(async () => undefined);
  const { fund } = entriesOf(memoryLedger(), record);
  await fund();
  expect(record.mock.calls).toEqual([[[audit]]]);
  await fund();
  expect(record).toHaveBeenCalledOnce();
});

it('a funding succeeds if only its audit entry could not be written: the publication of its page writes it later', async () => {
  const { fund } = entriesOf(memoryLedger(), () => Promise.reject(new Error('the database is away')));
  expect(await fund()).toMatchObject({ repeated: false });
});
