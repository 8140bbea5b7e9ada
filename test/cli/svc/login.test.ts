import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { awaitToken, createDeviceEndpoints } from '../../../cli/svc/device-flow.ts';
import { actOnDevices } from '../../console/portal/device/device-harness.ts';
import { type SignedInMember, signedIn } from '../../console/portal/signed-in.ts';
import { createPartner } from '../../harness/partner.ts';
import { listen } from '../../harness/receiver.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { svcCommandLine } from './member-line.ts';

describe('awaitToken', () => {
  const started = { device_code: 'c', user_code: 'u', verification_uri: 'v', expires_in: 600, interval: 5 };
  type Answer = Parameters<typeof awaitToken>[0]['poll'] extends (code: string) => Promise<infer A>
    ? A
    : never;
  const answer = (status: number, body: Record<string, unknown>, retryAfter = 0): Answer => ({
    status,
    body,
    retryAfter,
  });
  const refusal = (error: string, retryAfter?: number) => answer(400, { error }, retryAfter);

  /** Waits for a token while polls get these answers in order. The answer `lost` is a failed request. */
  async function poll(answers: readonly (Answer | 'lost')[]) {
    const waits: number[] = [];
    let [at, now] = [0, 0];
    const endpoints = {
      poll: async () => {
        const next = answers[at] ?? refusal('authorization_pending');
        at += 1;
        if (next === 'lost') throw new Error('fetch failed');
        return next;
      },
    };
    const wait = async (seconds: number) => {
      waits.push(seconds);
      now += seconds * 1000;
    };
    const ended = await awaitToken(endpoints, started, { wait, now: () => now }).then(
      (token) => ({ token }),
      (error: { failure: { code: string; exit: number } }) => error.failure,
    );
    return { ended, waits };
  }
  const token = answer(200, { access_token: 't' });

  it('waits 5 s longer after slow_down, and twice as long after each failed request', async () => {
    const { ended, waits } = await poll([
      refusal('authorization_pending'),
      refusal('slow_down'),
      'lost',
      'lost',
      token,
    ]);
    expect(ended).toEqual({ token: 't' });
    expect(waits).toEqual([5, 5, 10, 20, 40]);
  });

  it('does not take an answer of a proxy without a token for the login', async () => {
    expect(await poll([answer(200, {}), answer(200, { status: 'ok' }), token])).toEqual({
      ended: { token: 't' },
      waits: [5, 10, 20],
    });
  });

  it('waits 30 s before its next request if a 429 has "Retry-After: 30"', async () => {
    const { waits } = await poll([refusal('rate_limited', 30), token]);
    expect(waits).toEqual([5, 30, 5]);
  });

  it('throws if the member denies the login, if it has expired or was already used, or after 600 s', async () => {
    expect((await poll([refusal('access_denied')])).ended).toMatchObject({
      code: 'device_login_denied',
      exit: 3,
    });
    expect((await poll([refusal('expired_token')])).ended).toMatchObject({ code: 'expired_token', exit: 1 });
    expect((await poll([refusal('invalid_grant')])).ended).toMatchObject({ code: 'invalid_grant', exit: 1 });
    const { ended, waits } = await poll([]);
    expect(ended).toMatchObject({ code: 'expired_token' });
    expect(waits).toHaveLength(120);
  });
});

describe('a server that answers 200 to every request', () => {
  it.each(['<!doctype html>', '', 'null', '[]', '5', '{"status":"ok"}'])(
    'has no partner portal for svc if it sends %s',
    async (body) => {
      const other = createServer((_request, response) => response.end(body));
      const url = `http://127.0.0.1:${await listen(other)}`;
      const { start, show, end } = createDeviceEndpoints({ url });
      for (const call of [start, show, end])
        await expect(call('x')).rejects.toMatchObject({
          failure: { code: 'not_the_admin_api', message: `${url} has no partner portal (answered 200)` },
        });
    },
  );
});

describe('svc login', () => {
  let server: TestServer;
  let member: SignedInMember;
  beforeAll(async () => {
    server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
    const { partnerId } = await createPartner(server);
    member = await signedIn(server, partnerId, 'developer');
  }, within(30_000));
  afterAll(() => server.stop());

  const executable = fileURLToPath(new URL('../../../cli/bin/svc.js', import.meta.url));

  /** Starts `svc login`, and confirms its code in the portal as soon as the code is printed. */
  function login() {
    const { cwd, env } = svcCommandLine(server.publicUrl);
    const child = spawn(process.execPath, [executable, 'login', '--name', 'test box', '--json'], {
      cwd,
      env,
    });
    let [stdout, stderr, answered] = ['', '', false];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      const [code] = /[B-Z]{4}-[B-Z]{4}/.exec(stderr) ?? [];
      if (!code || answered) return;
      answered = true;
      void actOnDevices(member.browser, 'confirm', { code });
    });
    return new Promise<{ cwd: string; code: number | null; stdout: string; stderr: string }>((resolve) =>
      child.on('close', (code) => resolve({ cwd, code, stdout, stderr })),
    );
  }

  it(
    'saves a token that it never prints in a profile that only its owner can read',
    async () => {
      const { cwd, code, stdout, stderr } = await login();
      expect([code, stderr.includes(`${server.baseUrl}/portal/devices`)]).toEqual([0, true]);
      const shown = JSON.parse(stdout) as Record<string, string>;
      expect(shown).toMatchObject({ role: 'developer', memberId: member.id, name: 'test box' });
      const file = join(cwd, 'config', 'svc', 'profiles.json');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const { token } = (
        JSON.parse(readFileSync(file, 'utf8')) as { profiles: { default: { token: string } } }
      ).profiles.default;
      expect(token).toMatch(/^svc_login_/);
      expect(`${stdout}${stderr}`).not.toContain(token);
    },
    within(30_000),
  );

  it('exits with 7 if the server has no portal, and if no server answers', async () => {
    const off = await startTestServer();
    for (const url of [off.publicUrl, 'http://127.0.0.1:1'])
      expect((await svcCommandLine(url).run(['login'])).code).toBe(7);
    await off.stop();
  });
});
