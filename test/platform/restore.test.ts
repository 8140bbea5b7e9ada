import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { actOnDevices, createDevice } from '../console/portal/device/device-harness.ts';
import { openInvitation, signedIn, signInBy } from '../console/portal/signed-in.ts';
import { type Code, createPartner, exchangeCode, type TestPartner, verifyUser } from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';
import { createServerProcess, type ServerProcess } from './server-process.ts';

const program = fileURLToPath(new URL('../../dist/server/svc-gateway.js', import.meta.url));

/** Runs `svc-gateway` with a data directory. Resolves to its exit code and its output. */
const svcGateway = (dataDir: string, ...parameters: string[]) =>
  new Promise<{ code: number | string; output: string }>((resolve) => {
    const env = { SVC_DATA_DIR: dataDir };
    execFile(process.execPath, [program, ...parameters], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });

/** Exchanges a code. Resolves to the status, the token and the error. */
async function exchange(server: ServerProcess, partner: TestPartner, code: Code) {
  const answer = await exchangeCode(server, partner, code);
  const body = (await answer.json()) as { access_token?: string; error?: string };
  return { status: answer.status, ...body };
}

const codeOf = (server: ServerProcess, partner: TestPartner) => verifyUser(server, partner, 'new-adult');

const userinfo = async ({ baseUrl }: ServerProcess, token = '') =>
  (await fetch(`${baseUrl}/api/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;

/** Exchanges new codes, one after another, until `stop` is called. `granted` are their access tokens. */
function startTraffic(server: ServerProcess, partner: TestPartner) {
  let running = true;
  const granted: string[] = [];
  const traffic = (async () => {
    while (running) {
      const { access_token: token } = await exchange(server, partner, await codeOf(server, partner));
      if (token) granted.push(token);
    }
  })().catch(() => undefined); // the server was killed
  return {
    granted,
    async stop() {
      running = false;
      await traffic;
    },
  };
}

/** A partner whose members use the portal and `svc` while one of their bulk jobs runs. */
async function membersOf(server: ServerProcess) {
  const there = { ...server, publicUrl: server.baseUrl };
  const receiver = await createReceiver();
  const { partnerId, keyId } = await createPartner(server, { funds: 0 });
  await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
  for (let made = 0; made < 30; made += 1)
    await server.admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
  const { browser, authenticator, id: memberId, api } = await signedIn(there, partnerId, 'owner');
  const device = createDevice(there);
  const { user_code: code, device_code: deviceCode } = await device.start();
  await actOnDevices(browser, 'confirm', { code });
  const { token } = await device.poll(deviceCode);
  const wanted = { partnerId, email: 'kim@shop.example', role: 'viewer' } as const;
  const { id: invitedId, link } = await server.admin.members.invite.mutate(wanted);
  const delivered = () => server.admin.deliveries.count.query({ keyId, status: 'delivered' });
  await expect.poll(async () => (await delivered()).total, { timeout: within(20_000) }).toBe(30);
  const filter = {
    partnerId,
    keyId,
    status: 'delivered' as const,
    since: new Date(Date.now() - 600_000).toISOString(),
  };
  const { job } = await api.bulk.start.mutate({ action: 'resend', filter, rate: 1 });
  const bulkId = job?.id ?? expect.fail('no job');

  /** The access of members in this state: status codes of pages, logins and invitations. */
  const access = async () => [
    (await browser.open('/members')).status,
    (await device.withToken(token)).status,
    (await openInvitation(browser, link)).status,
  ];
  return {
    access,
    /** The members are unchanged, and the bulk job continues. */
    async requireKept() {
      const members = await server.admin.members.list.query({ partnerId });
      expect(members).toMatchObject([
        { id: invitedId, status: 'invited', invitedUntil: null },
        { id: memberId, status: 'active', role: 'owner' },
      ]);
      expect((await signInBy(browser, authenticator)).status).toBe(303);
      expect((await browser.open(`/bulk/${bulkId}`)).status).toBe(200);
      const before = await server.admin.bulk.show.query({ bulkId });
      expect(before).toMatchObject({ status: 'running', total: 30 });
      const done = async () => (await server.admin.bulk.show.query({ bulkId })).done;
      await expect.poll(done, { timeout: within(20_000) }).toBeGreaterThan(before.done);
      await server.admin.bulk.cancel.mutate({ bulkId });
    },
  };
}

/** Seconds of traffic between the backup and the loss of all data; configurable. */
const age = Number(process.env['RESTORE_AGE_SECONDS'] ?? 0);

it(
  'a restored backup has a correct ledger, and answers 401 to credentials that were issued after the backup',
  async () => {
    const server = await createServerProcess({ SVC_PORTAL: 'on' });
    const backup = join(temporaryFolder('backup'), 'backup');
    await server.start();
    const most = 100_000;
    const limits = { tokenRequestsPerMinute: most, userinfoRequestsPerMinute: most };
    const partner = await createPartner(server, { funds: 10_000_000, client: limits });
    const { partnerId } = partner;
    await server.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: most, perHour: most });
    const early = await exchange(server, partner, await codeOf(server, partner));
    const unused = await codeOf(server, partner);
    const whileRunning = svcGateway(server.dataDir, 'backup', backup);
    const members = await membersOf(server);
    expect(await whileRunning).toEqual({ code: 1, output: expect.stringContaining('in use by process') });
    expect(await members.access()).toEqual([200, 200, 200]);
    const before = startTraffic(server, partner);
    await expect.poll(() => before.granted.length, { timeout: within(20_000) }).toBeGreaterThan(3);
    await server.end('SIGTERM');
    await before.stop();
    expect((await svcGateway(server.dataDir, 'backup', backup)).output).toMatch(/^Copied \d+ files to /);

    await server.start();
    const late = await exchange(server, partner, unused);
    expect(late.status).toBe(200);
    const traffic = startTraffic(server, partner);
    await expect.poll(() => traffic.granted.length, { timeout: within(20_000) }).toBeGreaterThan(3);
    await sleep(age * 1_000);
    const lateCode = await codeOf(server, partner);
    await server.end('SIGKILL');
    await traffic.stop();

    const inPlace = await svcGateway(server.dataDir, 'restore', backup);
    expect([inPlace.code, inPlace.output]).toEqual([1, expect.stringContaining('exists: stop the server')]);
    renameSync(join(server.dataDir, 'db'), join(server.dataDir, 'lost'));
    expect((await svcGateway(server.dataDir, 'restore', backup)).output).toMatch(
      /^Restored the state of .* ended \d+ open sessions? and [1-9]\d* codes?/,
    );

    const compare = ['restored', '--compare', join(server.dataDir, 'lost')];
    const { output: json } = await svcGateway(server.dataDir, ...compare, '--json');
    const lost = JSON.parse(json) as { kind: string; partnerId: string; what: string }[];
    const charges = lost.filter(({ kind, what }) => kind === 'entry' && what === 'token');
    expect(charges.length).toBeGreaterThan(traffic.granted.length);
    expect(charges[0]).toMatchObject({ partnerId });

    await server.start();
    const after = startTraffic(server, partner);
    // The code was exchanged after the backup. Its charge is lost, and it yields no second token.
    expect(await exchange(server, partner, unused)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await exchange(server, partner, lateCode)).toMatchObject({ status: 400, error: 'invalid_grant' });
    for (const token of [late.access_token, ...traffic.granted])
      expect(await userinfo(server, token)).toBe(401);
    for (const token of [early.access_token, ...before.granted])
      expect(await userinfo(server, token)).toBe(200);
    await expect.poll(() => after.granted.length, { timeout: within(20_000) }).toBeGreaterThan(3);
    const reports = await server.admin.wallets.audit.query({ partnerId });
    expect(reports.flatMap(({ findings }) => findings)).toEqual([]);
    await after.stop();
    expect(await members.access()).toEqual([303, 401, 404]);
    await members.requireKept();
    expect(await server.admin.schema.finish.mutate()).toMatchObject({ left: 0 });
    expect((await server.admin.auditLog.list.query({})).map(({ action }) => action)).toContain(
      'database.restored',
    );

    appendFileSync(join(backup, 'db', 'WiredTiger.turtle'), ' ');
    const elsewhere = join(backup, '..', 'data');
    expect(await svcGateway(elsewhere, 'restore', backup)).toEqual({
      code: 1,
      output: `${join(backup, 'db', 'WiredTiger.turtle')} is not as the backup was taken\n`,
    });
    expect(existsSync(elsewhere)).toBe(false);
  },
  within(240_000 + age * 2_000),
);
