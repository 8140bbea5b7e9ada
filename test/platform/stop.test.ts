import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { soundLedger } from '../billing/ledger-snapshot.ts';
import { databaseOfServer, databasePort, uriThrough } from '../harness/database.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, exchangeCode, type Verified, verifyUser } from '../harness/partner.ts';
import { startTestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';
import type { Command } from '../proofs/faults/messages.ts';
import { startProxy } from '../proofs/faults/proxy.ts';
import { createServerProcess, endOf, spawnServer } from './server-process.ts';

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a server that is asked to stop during requests', () => {
  it('answers running requests and publishes pending events before it ends', async () => {
    const masterKey = Buffer.alloc(32, 3).toString('base64');
    const observer = await startTestServer({ env: { SVC_MASTER_KEY: masterKey } });
    onTestFinished(() => observer.stop());
    // Without hand-overs, the stopping server must publish the events of its own charges.
    const env = { SVC_MASTER_KEY: masterKey, MONGODB_URI: observer.uri, SVC_PEER_ADDRESS: 'off' };
    const stopping = await startTestServer({ env });
    const partner = await createPartner(observer, { client: { tokenRequestsPerMinute: 1_000 } });
    const verifications = await Promise.all(Array.from({ length: 20 }, () => verifyUser(observer, partner)));

    const exchange = async (of: Verified) => {
      const response = await exchangeCode(stopping, partner, of);
      return response.status;
    };
    const calls = verifications.map((each) => exchange(each).catch(() => 'refused' as const));
    await Promise.any(calls);
    await stopping.stop();
    const outcomes = await Promise.all(calls);
    expect(new Set(outcomes.filter((outcome) => outcome !== 'refused'))).toEqual(new Set([200]));

    const granted = outcomes.filter((outcome) => outcome === 200).length;
    const { pages, charges } = await soundLedger(observer.db, `${partner.partnerId}:test`);
    expect(charges).toHaveLength(granted);
    // Events of the charges were published before the stop.
    expect(pages.filter(({ unpublished }) => unpublished)).toEqual([]);
    await expect(fetch(`${stopping.baseUrl}/healthz`)).rejects.toThrow();
  });
});

describe('a server that is asked to stop and has a drain delay', () => {
  it('answers 503 to /readyz and 200 to other requests during the delay, and then ends', async () => {
    const server = await startTestServer({ env: { SVC_DRAIN_DELAY: '700ms' } });
    const stopped = server.stop();
    for (const base of [server.baseUrl, server.adminUrl]) {
      const readiness = await fetch(`${base}/readyz`);
      expect(readiness.status).toBe(503);
      expect(await readiness.json()).toEqual({ ready: false, reasons: ['the process is stopping'] });
    }
    const served = await fetch(`${server.baseUrl}/.well-known/jwks.json`);
    expect([served.status, served.headers.get('connection')]).toEqual([200, 'close']);
    await stopped;
    await expect(fetch(`${server.baseUrl}/readyz`)).rejects.toThrow();
  });
});

describe('the server process', () => {
  it('ends with its database when `npm start` gets SIGTERM', { timeout: within(90_000) }, async () => {
    const dataDir = temporaryFolder('npm');
    const port = await freePort();
    const npm = spawn('npm', ['start'], {
      env: { ...process.env, SVC_PORT: String(port), SVC_ROLES: 'api', SVC_DATA_DIR: dataDir },
      stdio: 'ignore',
    });
    onTestFinished(() => void npm.kill('SIGKILL'));
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isUp, { timeout: within(60_000), interval: 100 }).toBe(true);
    const enginePid = Number(readFileSync(join(dataDir, 'db', 'mongod.lock'), 'utf8'));
    npm.kill('SIGTERM');
    await endOf(npm);
    await expect.poll(isUp, { interval: 100 }).toBe(false);
    await expect.poll(() => isAlive(enginePid), { interval: 100 }).toBe(false);
  });

  it('greets with the path of its database, exits with 0 on SIGTERM and stops it; tokens stay valid after its next start', async () => {
    const demoPort = String(await freePort());
    const server = await createServerProcess({ SVC_LOG_LEVEL: 'info', SVC_DEMO_PORT: demoPort });
    await server.start();
    // The greeting comes after the start of the demo partner, and so after /readyz has answered 200.
    await expect.poll(server.output, { timeout: within(20_000) }).toContain('SVC Gateway is up');
    expect(server.output()).toContain(`:${demoPort}`);
    const partner = await createPartner(server);
    const answer = await exchangeCode(server, partner, await verifyUser(server, partner));
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const databasePid = server.databasePid();
    expect(isAlive(databasePid)).toBe(true);

    const kept = ['admin-url', 'db', 'master-key', 'mongodb-uri'];
    expect(readdirSync(server.dataDir)).toEqual(expect.arrayContaining(kept));
    for (const name of readdirSync(server.dataDir).filter((each) => each !== 'db')) {
      expect([name, statSync(join(server.dataDir, name)).mode & 0o077]).toEqual([name, 0]);
    }
    expect(await server.end('SIGTERM')).toBe(0);
    expect(isAlive(databasePid)).toBe(false);
    expect(() => server.databaseUri()).toThrow('ENOENT');

    await server.start();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers })).status).toBe(200);
    expect(await server.end('SIGTERM')).toBe(0);
    const lines = server.output().split('\n');
    expect(lines.find((line) => line.includes('Database'))).toContain(`in ${join(server.dataDir, 'db')}:`);
    const records = lines.filter((line) => line.startsWith('{'));
    expect(records.length).toBeGreaterThan(0);
    // A repeated field would make the line shorter after parsing and serialising.
    for (const record of records) expect(JSON.stringify(JSON.parse(record))).toBe(record);
    expect(server.output()).not.toMatch(/"level":(50|60)/);
  });

  it('exits with 0 on SIGTERM as soon as /readyz answers 200, before it is listed as ready', async () => {
    const database = await databaseOfServer();
    onTestFinished(database.drop);
    const proxy = await startProxy(databasePort());
    onTestFinished(() => proxy.close());
    const listsAsReady = ({ name, collection, text }: Command) =>
      name === 'update' && collection === 'processes' && text.includes('"reasons":[]');
    const beat = proxy.arm([{ matches: listsAsReady, action: { do: 'pause' } }], 1);
    const server = await createServerProcess({
      MONGODB_URI: uriThrough(proxy, { name: database.db.databaseName }),
      SVC_MASTER_KEY: Buffer.alloc(32, 3).toString('base64'),
    });
    await server.start();
    await beat.met;
    const ended = server.end('SIGTERM');
    await expect
      .poll(async () => (await fetch(`${server.baseUrl}/readyz`).catch(() => undefined))?.status)
      .not.toBe(200);
    await beat.release();
    expect(await ended).toBe(0);
  });

  it('exits with 78 and lists the malformed variables', async () => {
    const { child, output } = spawnServer({
      SVC_PORT: 'http',
      SVC_PRICE_CENTS: '-1',
      SVC_DATA_DIR: '/nonexistent',
    });
    expect(await endOf(child)).toBe(78);
    expect(output()).toMatch(/SVC_PORT: .*\n.*SVC_PRICE_CENTS: /);
  });

  it('exits with 1 and prints ECONNREFUSED if its database refuses the connection', async () => {
    const { child, output } = spawnServer({
      SVC_PORT: '0',
      SVC_ADMIN_PORT: '0',
      MONGODB_URI: 'mongodb://127.0.0.1:1/none',
      SVC_LOG_LEVEL: 'silent',
    });
    expect(await endOf(child)).toBe(1);
    expect(output()).toMatch(/ECONNREFUSED/);
  });
});
