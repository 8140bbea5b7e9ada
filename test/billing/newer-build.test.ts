import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageVersion } from '../../server/billing/ledger/ledger-page.ts';
import { createLedgerStore } from '../../server/billing/ledger/ledger-store.ts';
import { draftPage } from '../../server/billing/ledger/page-builder.ts';
import { randomId } from '../../server/platform/ids.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { refusal, startTestServer, type TestServer } from '../harness/server.ts';
import { readLedger } from './ledger-snapshot.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const mode = 'test' as const;
const walletIdOf = ({ partnerId }: TestPartner) => `${partnerId}:${mode}`;
/** The wallet's pages without the `unpublished` mark, which the publisher removes at an unknown time. */
const pagesOf = async (partner: TestPartner) => {
  const { pages } = await readLedger(server.db, walletIdOf(partner));
  return pages.map(({ unpublished: _, ...page }) => page);
};

/** Removes money from the wallet, with a page that only a later build can read. */
async function pageOfNewerBuild(partner: TestPartner, amount: number): Promise<void> {
  const walletId = walletIdOf(partner);
  const store = createLedgerStore(server.db);
  const last = (await store.head(walletId)) ?? expect.fail('no wallet');
  const posting = { walletId, id: randomId('entry'), kind: 'adjustment' as const, amount };
  const { page } = draftPage({ ...last, asOf: 0 }, [posting], Date.now());
  expect(await store.insert([{ ...page, version: pageVersion + 1 }])).toEqual(['inserted']);
}

async function exchange(partner: TestPartner) {
  const answer = await exchangeCode(server, partner, await completeSession(server, partner));
  const { error } = (await answer.json()) as { error?: string };
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), error };
}
const unavailable = { status: 503, retryAfter: '5', error: 'service_unavailable' };

describe('a wallet last written by a newer build', () => {
  it.each([
    ['has written the previous page', true],
    ['has not used the wallet yet', false],
  ])(
    'causes service_unavailable for exchanges, fundings and adjustments in a process that %s',
    async (_, isKnown) => {
      const partner = await createPartner(server, { funds: isKnown ? 10_000 : 0 });
      const { partnerId } = partner;
      if (isKnown) expect((await exchange(partner)).status).toBe(200);
      await pageOfNewerBuild(partner, isKnown ? -1_000 : 1_000);
      const before = await pagesOf(partner);

      expect(await exchange(partner)).toEqual(unavailable);
      const { wallets, limits } = server.admin;
      const wallet = { partnerId, mode };
      const charge = before.flatMap(({ entries }) => entries).find(({ kind }) => kind === 'token')?.id;
      const commands = [
        wallets.fund.mutate({ ...wallet, amount: 5_000, reference: 'invoice 2' }),
        wallets.adjust.mutate({ ...wallet, amount: -1, reason: 'correction' }),
        limits.set.mutate({ ...wallet, perMinute: 1 }),
        ...(charge ? [wallets.refund.mutate({ entryId: charge, reason: 'sold out' })] : []),
      ];
      expect(await Promise.all(commands.map(refusal))).toEqual(commands.map(() => 'service_unavailable'));
      expect(await pagesOf(partner)).toEqual(before);
    },
  );

  it('answers an exchange with 503 instead of 402, because this build cannot read the balance', async () => {
    const partner = await createPartner(server, { funds: 5_000 });
    await pageOfNewerBuild(partner, -5_000);
    expect(await exchange(partner)).toEqual(unavailable);
  });

  it('does not prevent exchanges that other wallets pay for', async () => {
    await pageOfNewerBuild(await createPartner(server, { funds: 5_000 }), -1);
    expect((await exchange(await createPartner(server))).status).toBe(200);
  });
});
