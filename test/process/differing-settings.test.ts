import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../cli/svcadmin.ts';
import { freePort } from '../harness/free-port.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';
import { endOf, spawnServer } from '../platform/server-process.ts';

const shared = { SVC_BASE_URL: 'http://localhost:4000', SVC_PRICE_CENTS: '50' };
const masterKey = Buffer.alloc(32, 7).toString('base64');

describe('two processes with different prices on one database', () => {
  let servers: TestServer[];
  beforeAll(async () => {
    const first = await startTestServer({ env: shared });
    const env = { ...shared, SVC_PRICE_CENTS: '75', MONGODB_URI: first.uri };
    servers = [first, await startTestServer({ env })];
  });
  afterAll(async () => {
    for (const server of servers.toReversed()) await server.stop();
  });

  it('are in the status of both, with the ids of the processes', async () => {
    for (const { admin } of servers) {
      const { processes, differingSettings } = await admin.status.query();
      const ids = processes?.map(({ id }) => id);
      expect(ids).toHaveLength(2);
      expect(differingSettings).toEqual([
        {
          setting: 'SVC_PRICE_CENTS',
          values: expect.arrayContaining(
            ['50', '75'].map((value) => ({ value, processes: [expect.any(String)] })),
          ),
        },
      ]);
      expect(differingSettings?.[0]?.values.flatMap((each) => each.processes).toSorted()).toEqual(
        ids?.toSorted(),
      );
    }
  });

  it('are reported by svcadmin doctor, svcadmin status and /ops', async () => {
    const { adminUrl } = servers[0] as TestServer;
    const svcadmin = await commandLine(adminUrl);
    const doctor = await svcadmin.run(['doctor', '--json']);
    expect(doctor.code).toBe(1);
    const findings: { check: string; found: string }[] = JSON.parse(doctor.stdout);
    const finding = findings.find(({ check }) => check === 'processes');
    expect(finding).toMatchObject({
      ok: false,
      found: expect.stringMatching(
        new RegExp(
          `^SVC_PRICE_CENTS differs between processes: \\d+ at .* ${process.pid} .*; \\d+ at .* ${process.pid} `,
        ),
      ),
      fix: 'give all processes the same SVC_PRICE_CENTS, then restart those that had another',
    });
    const status = await svcadmin.run(['status']);
    expect(status.code).toBe(0);
    expect(status.stderr).toMatch(
      /^SVC_PRICE_CENTS differs between processes: .*\.\nNext: give all processes the same/,
    );
    expect(status.stdout).not.toContain('Differing');
    const page = await fetch(`${adminUrl}/ops`, { headers: { authorization: `Bearer ${adminToken}` } });
    expect(await page.text()).toContain(finding?.found);
  });
});

describe('a process of another environment than the live one', () => {
  it('exits with 78 before it listens, and names the environment of the live process', {
    timeout: within(30_000),
  }, async () => {
    const live = await startTestServer();
    const { child, output } = spawnServer({
      MONGODB_URI: live.uri,
      SVC_ENVIRONMENT: 'staging',
      SVC_BASE_URL: 'https://verify.example',
      SVC_MASTER_KEY: masterKey,
      SVC_ADMIN_TOKEN: adminToken,
      SVC_PORT: String(await freePort()),
      SVC_ADMIN_PORT: String(await freePort()),
      SVC_DATA_DIR: temporaryFolder('environment'),
      SVC_LOG_LEVEL: 'warn',
    });
    expect(await endOf(child)).toBe(78);
    expect(output()).toContain('SVC_ENVIRONMENT: it is staging here');
    expect(output()).toContain(`have development: ${hostname()} ${process.pid}. `);
    expect((await live.admin.status.query()).processes).toHaveLength(1);
    await live.stop();
  });
});
