import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Remainder } from '../../../contracts/retention.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

const day = 86_400_000;

describe('svcadmin partners close', () => {
  it('names the money that is left and what stops, and lists what is kept until when, as partners show does', async () => {
    const { admin } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    await admin.partners.activate.mutate({ partnerId });
    await admin.keys.create.mutate({ partnerId, mode: 'live' });
    await admin.wallets.fund.mutate({ partnerId, mode: 'live', amount: 5_000, reference: 'INV-1' });
    const close = ['partners', 'close', partnerId, '--reason', 'end of contract'];
    const { stdout } = await svcadmin.run([...close, '--dry-run']);
    expect(stdout).toMatch(
      /1 API key \(1 live\).* 50\.00.* are left on its live wallet, .*0\.00.* on its test/,
    );
    expect(await admin.partners.show.query({ partnerId })).toMatchObject({ closedAt: null });
    expect((await svcadmin.run(['partners', 'close', partnerId, '--yes'])).code).toBe(2);
    const closed = await svcadmin.json<{ closedAt: string; remainders: Remainder[] }>(...close, '--yes');
    expect(closed).toMatchObject({ status: 'closed', liveBalance: 5_000, testBalance: 0 });
    const until = (what: string) => closed.remainders.find((one) => one.what.startsWith(what))?.until ?? null;
    const daysUntil = (what: string) => (Date.parse(until(what) ?? '') - Date.parse(closed.closedAt)) / day;
    expect(['requests', 'events', 'sessions', 'bulk jobs'].map(daysUntil)).toEqual([7, 30, 30, 60]);
    expect(until('ledger')).toBeNull();
    const shown = await svcadmin.run(['partners', 'show', partnerId]);
    expect(shown.stdout).toMatch(/closed[\s\S]*Closed at[\s\S]*ledger and audit log/);
    expect(await svcadmin.json('partners', 'list', '--status', 'closed')).toMatchObject([{ id: partnerId }]);
    expect(await svcadmin.json('partners', 'list', '--status', 'suspended')).toEqual([]);
    expect((await svcadmin.run(['partners', 'list', '--status', 'gone'])).code).toBe(2);
    expect(await svcadmin.json('partners', 'suspend', partnerId)).toMatchObject({ status: 'closed' });
    expect(await svcadmin.json('partners', 'activate', partnerId)).toMatchObject({ closedAt: null });
    expect((await svcadmin.run(['partners', 'show', partnerId])).stdout).not.toContain('Closed at');
  });
});
