import { expect, it } from 'vitest';
import { createWarningSender } from '../../../server/operations/warnings/send.ts';
import { nextWarning, type UnsentWarning } from '../../../server/operations/warnings/warning.ts';
import type { WarningStore } from '../../../server/operations/warnings/warning-store.ts';
import { createWarningWatch } from '../../../server/operations/warnings/watch.ts';
import { manualClock } from '../../harness/server.ts';

const lowBalanceOf = (partnerId: string) =>
  nextWarning(
    undefined,
    { kind: 'low_balance', partnerId, mode: 'live', about: 'live', text: 'It is low', afterMs: 0 },
    new Date(),
  ) as UnsentWarning;

/** Checks the unsent warnings of partners. `stalls` tells for which partners the mail server does not answer. */
function setUp({ partners, stalls }: { partners: string[]; stalls: (partnerId: string) => boolean }) {
  const clock = manualClock();
  let unsent = partners.map(lowBalanceOf);
  const [published, mailed]: [string[], string[]] = [[], []];
  const store: Partial<WarningStore> = {
    takeTurn: async () => true,
    findOpen: async () => [],
    findAll: async () => [],
    findUnsent: async (limit, after) =>
      unsent
        .toSorted((one, other) => (one.partnerId < other.partnerId ? -1 : 1))
        .toSorted((one, other) => Number(one.partnerId <= after) - Number(other.partnerId <= after))
        .slice(0, limit),
    addMailed: async () => undefined,
    markSent: async ({ _id }) => {
      unsent = unsent.filter((warning) => warning._id !== _id);
    },
  };
  const sender = createWarningSender({
    store: store as WarningStore,
    findRecipients: async ({ partnerId, mode }) => ({
      name: partnerId,
      emails: partnerId.startsWith('without') ? [] : [`${partnerId}@shop.example`],
      keyIds: [`key of ${partnerId} in ${mode}`],
    }),
    publish: async (drafts) => void published.push(...drafts.map((draft) => draft.partnerId)),
    links: { baseUrl: 'http://localhost:8080', portal: false },
    async send({ to }) {
      const name = to.replace('@shop.example', '');
      if (!stalls(name)) return void mailed.push(name);
      clock.advance(10_000);
      throw new Error('Greeting never received');
    },
  });
  const logger = { warn: () => undefined };
  const { sweep } = createWarningWatch({
    ...{ store: store as WarningStore, sources: [], sender, clock, logger },
  });
  return { clock, sweep, published, mailed, unsent: () => unsent };
}

it('a check publishes all notices, and ends after one timeout, if the mail server does not answer', async () => {
  const partners = Array.from({ length: 20 }, (_, index) => `partner ${index}`);
  const { clock, sweep, published } = setUp({ partners, stalls: () => true });
  const start = clock.now();
  await sweep();
  expect(published).toHaveLength(20);
  expect(clock.now() - start).toBe(10_000);
});

it('a check continues after a recipient whose e-mail stalls, so that all others get theirs', async () => {
  const partners = ['one', 'slow', 'two', 'unlucky'];
  const { sweep, mailed } = setUp({ partners, stalls: (name) => name === 'slow' });
  await sweep();
  await sweep();
  expect(mailed.toSorted()).toEqual(['one', 'two', 'unlucky']);
});

it('all 120 warnings, more than one check can send, are published by later checks, although the mail server hangs', async () => {
  const partners = Array.from({ length: 120 }, (_, index) => `partner ${String(index).padStart(3, '0')}`);
  const { sweep, published } = setUp({ partners, stalls: () => true });
  for (let checks = 0; checks < 25; checks += 1) await sweep();
  expect(new Set(published).size).toBe(120);
});

it('a check marks the warning of a partner without an e-mail address as sent, even while the mail server hangs', async () => {
  const partners = ['a slow one', 'without an address'];
  const { sweep, unsent } = setUp({ partners, stalls: () => true });
  await sweep();
  expect(unsent().map(({ partnerId }) => partnerId)).toEqual(['a slow one']);
});
