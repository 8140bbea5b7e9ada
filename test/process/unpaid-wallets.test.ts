import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUnpaidWallets } from '../../server/operations/overview/unpaid-wallets.ts';
import type { UnpaidExchanges } from '../../server/operations/requests/request-store.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

const [early, late] = [new Date('2026-07-01T10:00:00Z'), new Date('2026-07-01T11:00:00Z')];

/** Returns the wallets for these refusals. IDs of clients, integrations and keys end in their mode. */
async function walletsOf(refusals: readonly Partial<UnpaidExchanges>[]) {
  const asked: Date[] = [];
  const byId = {
    findAll: async (ids: readonly string[]) =>
      ids.map((_id) => (_id.includes('gone') ? undefined : { _id, mode: _id.split('-')[1] })),
  };
  const find = createUnpaidWallets({
    admin: {
      requests: {
        async unpaid(since: Date) {
          asked.push(since);
          return refusals;
        },
      },
      gaps: { sampledSince: async () => null },
    },
    partners: { clients: byId, keys: byId, integrations: byId },
  } as never);
  const found = await find(early);
  expect(asked).toEqual([early]);
  return Object.fromEntries(found.wallets);
}

describe('wallets that could not pay, from the request log', () => {
  it('have the mode of the client, integration or API key that the log names', async () => {
    const of = { partnerId: 'ptr_1', count: 1, lastAt: early };
    expect(
      await walletsOf([
        { ...of, clientId: 'cli-live' },
        { ...of, partnerId: 'ptr_2', integrationId: 'int-test' },
        { ...of, partnerId: 'ptr_3', keyId: 'key-live' },
      ]),
    ).toEqual({
      'ptr_1:live': { count: 1, lastAt: early },
      'ptr_2:test': { count: 1, lastAt: early },
      'ptr_3:live': { count: 1, lastAt: early },
    });
  });

  it('are listed once per partner and mode, with the number of refusals and the latest time', async () => {
    const of = { partnerId: 'ptr_1' };
    expect(
      await walletsOf([
        { ...of, clientId: 'cli-live', count: 2, lastAt: late },
        { ...of, keyId: 'key-live', count: 3, lastAt: early },
        { ...of, clientId: 'other-test', count: 5, lastAt: early },
      ]),
    ).toEqual({
      'ptr_1:live': { count: 5, lastAt: late },
      'ptr_1:test': { count: 5, lastAt: early },
    });
  });

  it('do not include requests whose log entry has no partner or no known mode', async () => {
    const of = { count: 1, lastAt: early };
    expect(
      await walletsOf([
        { ...of, partnerId: 'ptr_1', clientId: 'cli_gone' },
        { ...of, partnerId: 'ptr_1' },
        { ...of, clientId: 'cli-live' },
      ]),
    ).toEqual({});
  });
});

describe('an exchange that a wallet cannot pay for', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  it('adds its wallet to wallets list, with the number of refusals', async () => {
    const partner = await createPartner(server, { funds: 0 });
    const { partnerId } = partner;
    const code = await completeSession(server, partner);
    for (let tries = 0; tries < 2; tries += 1)
      expect((await exchangeCode(server, partner, code)).status).toBe(402);
    const listed = async () =>
      (await server.admin.wallets.list.query({ mode: 'test', below: 1, limit: 500 })).find(
        (wallet) => wallet.partnerId === partnerId,
      );
    await expect.poll(async () => (await listed())?.unpaid).toBe(2);
    expect(await listed()).toMatchObject({ balance: 0, daysLeft: null, lastUnpaidAt: expect.any(String) });
    const live = await server.admin.wallets.list.query({ mode: 'live', below: 1, limit: 500 });
    expect(live.filter((wallet) => wallet.partnerId === partnerId)).toEqual([]);
  });
});
