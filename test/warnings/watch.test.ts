import { expect, it } from 'vitest';
import type { WarningSender } from '../../server/warnings/send.ts';
import { nextWarning, type UnsentWarning } from '../../server/warnings/warning.ts';
import type { WarningStore } from '../../server/warnings/warning-store.ts';
import { createWarningWatch } from '../../server/warnings/watch.ts';
import { manualClock } from '../harness/server.ts';

const lowBalanceOf = (partnerId: string) =>
  nextWarning(
    undefined,
    { kind: 'low_balance', partnerId, mode: 'live', about: 'live', text: 'It is low', afterMs: 0 },
    new Date(),
  ) as UnsentWarning;

it('a check publishes all notices, and ends after one timeout, if the mail server does not answer', async () => {
  const clock = manualClock();
  const start = clock.now();
  const unsent = Array.from({ length: 20 }, (_, index) => lowBalanceOf(`ptr_${index}`));
  const published: string[] = [];
  const store: Partial<WarningStore> = {
    takeTurn: async () => true,
    findOpen: async () => [],
    findAll: async () => [],
    findUnsent: async () => unsent,
  };
  const sender: WarningSender = {
    publishNotices: async ({ partnerId }) => void published.push(partnerId),
    async sendMails() {
      clock.advance(10_000);
      throw new Error('Greeting never received');
    },
  };
  const watch = createWarningWatch({
    store: store as WarningStore,
    sources: [],
    sender,
    clock,
    logger: { warn: () => undefined },
  });
  await watch.sweep();
  expect(published).toHaveLength(20);
  expect(clock.now() - start).toBe(10_000);
});
