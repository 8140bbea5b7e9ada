import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthentication } from '../../server/operations/operators/authentication.ts';
import type { Operator } from '../../server/operations/operators/operator-store.ts';
import type { DatabaseFault } from '../../server/platform/database/availability.ts';
import { createRememberedRead } from '../../server/platform/database/reads/remembered-read.ts';
import { randomSecret } from '../../server/platform/ids.ts';
import { adminToken, manualClock, refusal, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { type BehindProxy, startBehindProxy } from '../platform/behind-proxy.ts';

interface Environment {
  server: TestServer;
  ops: { token: string; admin: TestServer['admin'] };
  late: { token: string; admin: TestServer['admin'] };
  proxy: BehindProxy['proxy'];
  stop(): Promise<void>;
}

/** Starts a server behind a database proxy. The operator `ops` calls it before the outage, `late` does not. */
async function startEnvironment(): Promise<Environment> {
  const { server, proxy, stop } = await startBehindProxy();
  const make = async (name: string) => {
    const { token } = await server.admin.operators.create.mutate({ name, role: 'ops' });
    return { token, admin: server.as(token) };
  };
  return { ...{ server, proxy, stop, ops: await make('ops'), late: await make('late') } };
}

const page = ({ server }: Environment, token: string) =>
  fetch(`${server.adminUrl}/ops`, { headers: { authorization: `Bearer ${token}` } });

async function timed<T>(call: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const since = performance.now();
  const value = await call();
  return { value, ms: performance.now() - since };
}

describe.concurrent.each([
  ['refuses connections', 'cut'],
  ['does not answer', 'hang'],
] as const)('while the database %s', (_what, how) => {
  let environment: Environment;
  beforeAll(async () => {
    environment = await startEnvironment();
  });
  afterAll(() => environment.stop());

  it(
    'status and /ops answer from memory with reason and start of the outage, and recover with the database',
    async ({ expect }) => {
      const { server, ops, late, proxy } = environment;
      const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
      await server.admin.wallets.adjust.mutate({
        partnerId,
        mode: 'live',
        amount: 999,
        reason: 'nearly empty',
      });
      await server.admin.wallets.list.query({ below: 1_000 });
      const before = await ops.admin.status.query();
      expect(before).toMatchObject({ database: 'up', away: null, processes: [{}], queue: { pending: 0 } });
      expect(await (await page(environment, ops.token)).text()).toContain(
        'The live wallet of Acme has 9.99 USD left',
      );

      const cutAt = Date.now();
      await proxy[how]();
      // The driver notices the outage within seconds. Before that, a call waits for the database.
      await expect
        .poll(async () => (await server.admin.status.query()).database, { timeout: within(25_000) })
        .toBe('down');
      const first = await server.admin.status.query();
      const { value: status, ms } = await timed(() => ops.admin.status.query());
      expect(status).toMatchObject({
        database: 'down',
        processes: null,
        queue: null,
        version: before.version,
        away: {
          reason: expect.stringMatching(/\S/),
          last: { at: expect.any(String), processes: before.processes, queue: before.queue },
        },
      });
      const since = Date.parse(status.away?.since ?? '');
      expect(since).toBeGreaterThan(cutAt - 2_000);
      expect(since).toBeLessThan(Date.now() + 2_000);
      expect(Date.parse(first.away?.since ?? '')).toBe(since);

      const shown = await timed(async () => {
        const answer = await page(environment, ops.token);
        return { status: answer.status, html: await answer.text() };
      });
      expect(shown.value.status).toBe(200);
      expect(shown.value.html).toContain('The database is away since');
      expect(shown.value.html).toContain('Database away');
      expect(shown.value.html).toMatch(/What follows is of \d{4}-/);
      expect(shown.value.html).toContain('The live wallet of Acme has 9.99 USD left');

      // A call that needs the database waits for it.
      const asked = await timed(() => refusal(ops.admin.partners.list.query({})));
      expect(asked.value).toBe('service_unavailable');
      expect(ms).toBeLessThan(asked.ms / 2);
      expect(shown.ms).toBeLessThan(asked.ms / 2);

      expect(await ops.admin.operators.whoami.query()).toMatchObject({ name: 'ops', role: 'ops' });
      expect((await ops.admin.sources.list.query()).length).toBeGreaterThan(0);
      const unknown = await timed(() => late.admin.status.query().catch((error: Error) => error.message));
      expect(unknown.value).toContain('this process has not met your token lately');
      expect(unknown.ms).toBeLessThan(asked.ms / 2);
      expect((await page(environment, late.token)).status).toBe(503);
      expect((await page(environment, 'wrong')).status).toBe(401);
      expect(
        await server
          .as('wrong')
          .status.query()
          .catch((error: Error) => error.message),
      ).toContain('unknown');

      await proxy.restore();
      const again = async () => (await ops.admin.status.query()).database;
      await expect.poll(again, { timeout: within(25_000) }).toBe('up');
      expect(await ops.admin.status.query()).toMatchObject({ away: null, queue: { pending: 0 } });
      expect(await (await page(environment, ops.token)).text()).not.toContain('The database is away');
    },
    within(90_000),
  );
});

it.concurrent('/ops and status report an outage and contain no figures, if the process has read none since its start', async ({
  expect,
}) => {
  const environment = await startEnvironment();
  await environment.proxy.cut();
  const status = async () => environment.server.admin.status.query();
  await expect.poll(async () => (await status()).database, { timeout: within(25_000) }).toBe('down');
  expect((await status()).away).toMatchObject({ last: null });
  const answer = await page(environment, adminToken);
  expect(answer.status).toBe(200);
  const html = await answer.text();
  expect(html).toContain('This process has not shown its figures since it started.');
  expect(html).toContain('<code>svcadmin doctor</code>');
  await environment.stop();
});

describe('createRememberedRead', () => {
  it('returns the last value with the reason and start of the failure, until a read succeeds again', async () => {
    const clock = manualClock();
    let answer: () => Promise<number> = async () => 1;
    let asked = 0;
    let fault: DatabaseFault | undefined;
    const warnings: unknown[] = [];
    const remembered = createRememberedRead({
      read: () => {
        asked += 1;
        return answer();
      },
      databaseFault: () => fault,
      clock,
      log: { warn: (about: unknown) => warnings.push(about) },
    });
    const last = { value: 1, at: new Date(clock.now()) };
    expect(await remembered()).toEqual({ last, away: undefined });
    clock.advance(1_000);
    answer = () => Promise.reject(new Error('no rights'));
    const away = { reason: 'no rights', since: new Date(clock.now()) };
    expect(await remembered()).toEqual({ last, away });
    clock.advance(1_000);
    expect(await remembered()).toEqual({ last, away });
    // The log has no second entry for the same outage.
    expect(warnings).toHaveLength(2);
    fault = { reason: 'gone', since: new Date(clock.now()) };
    expect(await remembered()).toEqual({ last, away: fault });
    expect(asked).toBe(3);
    [fault, answer] = [undefined, async () => 2];
    expect(await remembered()).toEqual({ last: { value: 2, at: new Date(clock.now()) }, away: undefined });
  });
});

describe('an operator whose token was accepted before', () => {
  const token = randomSecret('operatorToken');
  const kim = { _id: 'opr_kim', name: 'Kim', role: 'ops', status: 'active' } as Operator;
  const away: DatabaseFault = { reason: 'gone', since: new Date() };

  function setUp(first: Partial<Operator> = {}) {
    const clock = manualClock();
    let [operator, fault]: [Operator | undefined, DatabaseFault | undefined] = [
      { ...kim, ...first },
      undefined,
    ];
    const asked: string[] = [];
    const authenticate = createAuthentication({
      store: {
        findByHash: async (hash) => {
          asked.push(hash);
          return operator;
        },
        touch: async () => undefined,
      },
      clock,
      firstToken: undefined,
      log: { warn: () => undefined },
      databaseFault: () => fault,
    });
    return {
      clock,
      asked,
      call: (path = 'status') => authenticate(`Bearer ${token}`, { address: '::1', path }),
      become(change: Partial<Operator> | undefined) {
        operator = change && { ...kim, ...change };
      },
      lose() {
        fault = away;
      },
    };
  }

  it('can call status, /ops and /metrics while the database is away, without a read of the operator', async () => {
    const { call, lose, asked } = setUp();
    await call();
    lose();
    for (const path of ['status', 'operators.whoami', 'operators.roles', 'sources.list', '/ops', '/metrics'])
      expect(await call(path)).toEqual({ id: 'opr_kim', name: 'Kim', role: 'ops', expiresAt: null });
    expect(asked).toHaveLength(1);
    for (const path of ['partners.list', 'partners.suspend', 'keyring.retire', 'sources.check', ''])
      await call(path);
    expect(asked).toHaveLength(6);
  });

  it('gets service_unavailable during an outage if the token was revoked and then refused before the outage', async () => {
    const { call, become, lose } = setUp();
    await call();
    become({ status: 'revoked' });
    await expect(call('partners.list')).rejects.toMatchObject({ code: 'operator_unknown' });
    lose();
    await expect(call()).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('gets operator_unknown during an outage after the token has expired', async () => {
    const { call, clock, lose } = setUp({ expiresAt: new Date(Date.now() + 60_000) });
    await call();
    lose();
    await call();
    clock.advance(61_000);
    await expect(call()).rejects.toMatchObject({ code: 'operator_unknown' });
  });
});
