import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pricesAt } from '../../contracts/charge.ts';
import { commandLine } from '../cli/svcadmin.ts';
import { createPartner, exchangeCode, type TestPartner, verifyUser } from '../harness/partner.ts';
import { refusal, shiftedClock, startTestServer, type TestServer } from '../harness/server.ts';

const day = 86_400_000;
const clock = shiftedClock();
let server: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer({ clock });
  partner = await createPartner(server);
});
afterAll(() => server.stop());

const inDays = (days: number) => new Date(clock.now() + days * day).toISOString();
const show = () => server.admin.prices.show.query({ partnerId: partner.partnerId });
const set = (cents: number, from?: string) =>
  server.admin.prices.set.mutate({ partnerId: partner.partnerId, kind: 'token', cents, from });

describe('a planned price', () => {
  it('applies from its time on, and the last one that has begun counts', () => {
    const planned = [10, 20].map((at) => ({ kind: 'token' as const, cents: at, from: new Date(at) }));
    const prices = { token: 5, checkbox: 7, planned };
    expect(pricesAt(prices, 9)).toEqual(prices);
    expect(pricesAt(prices, 10)).toEqual({ token: 10, checkbox: 7, planned: [planned[1]] });
    expect(pricesAt(prices, 20)).toEqual({ token: 20, checkbox: 7 });
  });

  it('is shown until it begins, and then charged', async () => {
    const from = inDays(1);
    expect(await set(35, from)).toMatchObject({ token: 50, planned: [{ kind: 'token', cents: 35, from }] });
    expect(await refusal(set(30, inDays(-1)))).toBe('refused');
    const before = await server.admin.wallets.show.query({ partnerId: partner.partnerId });
    clock.ahead += day;
    expect(await show()).toMatchObject({ token: 35, overridden: ['token'], planned: [] });
    const code = await verifyUser(server, partner);
    expect((await exchangeCode(server, partner, code)).status).toBe(200);
    const after = await server.admin.wallets.show.query({ partnerId: partner.partnerId });
    expect(before.balance - after.balance).toBe(35);
  });

  it('is replaced by another one for the same time, and removed by a price that begins now', async () => {
    const from = inDays(2);
    await set(20, from);
    expect((await set(25, from)).planned).toEqual([{ kind: 'token', cents: 25, from }]);
    expect(await set(45)).toMatchObject({ token: 45, planned: [] });
    const svcadmin = await commandLine(server.adminUrl);
    const plan = ['prices', 'set', partner.partnerId, '--kind', 'token', '--cents', '40'];
    const dry = await svcadmin.run([...plan, '--from', from, '--dry-run']);
    expect(dry.stdout).toMatch(
      /Would do: Every charge of .* from \d{4}-.* on, test and live: token 0.45 → 0.40 USD/,
    );
    expect((await svcadmin.run([...plan, '--from', 'soon'])).code).toBe(2);
  });

  it('is part of what a dry run says: the price at that time, what is removed, and until when it applies', async () => {
    const [first, second, later] = [inDays(10), inDays(20), inDays(30)];
    await set(50);
    await set(40, first);
    await set(30, second);
    const svcadmin = await commandLine(server.adminUrl);
    const preview = async (cents: number, ...options: string[]) => {
      const command = ['prices', 'set', partner.partnerId, '--kind', 'token', '--cents', String(cents)];
      return (await svcadmin.run([...command, ...options, '--dry-run'])).stdout;
    };
    const time = String.raw`20\d\d-\S+ [\d:+-]+`;
    const says = (text: string) => expect.stringMatching(new RegExp(text.replaceAll('TIME', time)));
    expect(await preview(50)).toEqual(
      says(
        'from now on, .* stays 0.50 USD. The planned price is removed: 0.40 from TIME, 0.30 from TIME\\.\n',
      ),
    );
    expect(await preview(20, '--from', later)).toEqual(says('from TIME on, .* token 0.30 → 0.20 USD\\.\n'));
    expect(await preview(20, '--from', inDays(15))).toEqual(
      says('from TIME until TIME, .* token 0.40 → 0.20 USD\\.\n'),
    );
    expect(await preview(35, '--from', first)).toEqual(
      says('until TIME, .* 0.40 → 0.35 USD. The planned price is removed: 0.40 from TIME\\.\n'),
    );
    expect(await preview(40, '--from', first)).toMatch(/nothing, because this is done already/);
    await set(40, first);
    const [newest] = await server.admin.auditLog.list.query({ target: partner.partnerId, limit: 1 });
    expect(newest).toMatchObject({ action: 'prices.set', outcome: 'unchanged' });
  });
});
