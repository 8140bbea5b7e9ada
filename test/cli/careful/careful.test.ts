import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseStep } from '../../../cli/careful/confirmation.ts';
import { contractSignature } from '../../../server/webhooks/egress/signature.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { commandLine } from '../svcadmin.ts';
import { alwaysAsked, carefulSince } from './careful-cases.ts';

/** Runs a command as an owner in a new directory. */
const svcadmin = async (url: string, args: readonly string[]) => (await commandLine(url)).run([...args]);

describe('confirmation of a command that has --yes and --dry-run', () => {
  const production = {
    confirm: 'only-at-terminal',
    isLive: true,
    hasYes: false,
    isInteractive: false,
    isProduction: true,
  } as const;

  it.each([
    ['a script without --yes is refused on production if live users are affected', {}, 'refuse'],
    ['a script without --yes continues on a server that is not production', { isProduction: false }, 'act'],
    ['a script without --yes continues if only test mode is affected', { isLive: false }, 'act'],
    [
      'a script without --yes is refused on every server if the change cannot be undone',
      { confirm: 'always', isProduction: false },
      'refuse',
    ],
    ['--yes confirms a change that affects live users on production', { hasYes: true }, 'act'],
    ['--yes confirms a change that cannot be undone', { confirm: 'always', hasYes: true }, 'act'],
    [
      'a person at a terminal is asked even on a server that is not production',
      { isInteractive: true, isProduction: false },
      'ask',
    ],
    [
      'a person at a terminal is asked even if only test mode is affected',
      { isInteractive: true, isLive: false },
      'ask',
    ],
    [
      'a person at a terminal is not asked about small changes in test mode',
      { confirm: 'only-live-at-terminal', isInteractive: true, isLive: false },
      'act',
    ],
    [
      'a person at a terminal is asked about small changes in live mode',
      { confirm: 'only-live-at-terminal', isInteractive: true },
      'ask',
    ],
  ] as const)('%s', (_title, difference, expected) => {
    expect(chooseStep({ ...production, ...difference })).toBe(expected);
  });
});

/** Some commands need a delivery that has had its first attempt. */
const replacements = { pace: { jobsEvery: 100 } };

const names = Object.keys(carefulSince);
const audited = (server: TestServer) =>
  server.db.collection('auditLog').countDocuments({ outcome: { $ne: 'read' } });
const prepare = async (server: TestServer, name: string) => [
  ...name.split(' '),
  ...((await carefulSince[name]?.(server)) ?? []),
];

const production = {
  SVC_ENVIRONMENT: 'production',
  SVC_BASE_URL: 'https://verify.example',
  SVC_LEGAL_NAME: 'Acme',
  SVC_PRIVACY_URL: 'https://verify.example/privacy',
  SVC_TERMS_URL: 'https://verify.example/terms',
  SVC_HELP_ADDRESS: 'help@verify.example',
  SVC_LOCALHOST_WEBHOOKS: 'on',
  SVC_PORTAL: 'on',
};

describe('svcadmin for a production server, without a terminal,', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: production, replacements });
  });
  afterAll(() => server.stop());

  it.each(names)(
    '%s changes nothing without --yes (exit 2) or with --dry-run, and acts with --yes',
    async (name) => {
      const command = await prepare(server, name);
      const before = await audited(server);
      const refused = await svcadmin(server.adminUrl, command);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(
        /^LIVE: .*\n(What is older .*\n)?Error: This needs --yes without a terminal; nothing was done\n./,
      );
      const dry = await svcadmin(server.adminUrl, [...command, '--dry-run']);
      expect(dry.code).toBe(0);
      expect(dry.stdout + dry.stderr).toMatch(/Would (do|be sent again): /);
      // Audit entries in ledger pages are copied after the answer.
      await server.services.admin.auditLog.sweep();
      expect(await audited(server)).toBe(before);
      expect(await svcadmin(server.adminUrl, [...command, '--yes', '--json'])).toMatchObject({ code: 0 });
      await expect.poll(() => audited(server)).toBeGreaterThan(before);
    },
  );

  it('prints "LIVE: <address>" once as the first line of stderr, if --url or SVCADMIN_URL names the server', async () => {
    const byFlag = await svcadmin('http://127.0.0.1:1', ['partners', 'list', '--url', server.adminUrl]);
    const byEnvironment = await svcadmin(server.adminUrl, ['limits', 'show', 'ptr_none', '--mode', 'test']);
    const notice = `LIVE: ${server.adminUrl} (production)\n`;
    expect(byFlag.stderr).toMatch(/^LIVE: .* \(production\)\n\d+ of \d+ shown\.\n$/);
    expect(byEnvironment.stderr.startsWith(notice)).toBe(true);
    expect(byEnvironment.stderr.match(/LIVE/g)).toHaveLength(1);
  });
});

describe('svcadmin for a development server, without a terminal,', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { SVC_PORTAL: 'on' }, replacements });
  });
  afterAll(() => server.stop());

  it.each(alwaysAsked)('%s exits with 2 if --yes is missing', async (name) => {
    expect(await svcadmin(server.adminUrl, await prepare(server, name))).toMatchObject({
      code: 2,
      stdout: '',
    });
  });

  const others = names.filter((name) => !alwaysAsked.includes(name));
  it.each(others)('%s makes the change without --yes, and describes it on stderr', async (name) => {
    const { code, stderr } = await svcadmin(server.adminUrl, await prepare(server, name));
    expect([code, stderr.split('\n').length]).toEqual([0, expect.any(Number)]);
    expect(stderr).toMatch(/\.\n/);
  });

  it('partners suspend --dry-run names the number of affected clients, keys and deliveries', async () => {
    const [, , partnerId = ''] = await prepare(server, 'partners suspend');
    const { admin } = server;
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    const client = { name: 'Shop', redirectUris: ['https://shop.example/'], claims: ['country' as const] };
    await admin.clients.create.mutate({ partnerId, keyId, ...client });
    const { stdout } = await svcadmin(server.adminUrl, ['partners', 'suspend', partnerId, '--dry-run']);
    expect(stdout).toContain('1 client (0 live), 2 API keys (1 live) and 0 pending deliveries.');
    expect((await admin.partners.show.query({ partnerId })).status).toBe('active');
  });

  it('keys revoke --dry-run and webhooks unset --dry-run name the number of clients and deliveries that stop', async () => {
    const { admin, db } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    await admin.webhooks.set.mutate({ keyId, url: 'https://partner.example/' });
    const client = { name: 'Shop', redirectUris: ['https://shop.example/'], claims: ['country' as const] };
    await admin.clients.create.mutate({ partnerId, keyId, ...client });
    const { id: disabled } = await admin.clients.create.mutate({ partnerId, keyId, ...client });
    await admin.clients.disable.mutate({ clientId: disabled });
    const waiting = { keyId, partnerId, mode: 'test', type: 'vae.resolved', attempt: 1, attempts: [] };
    await db.collection<{ _id: string }>('deliveries').insertMany(
      ['1', '2'].map((n) => ({
        ...{ ...waiting, _id: `dlv_${n.repeat(22)}`, eventId: `evt_${n.repeat(22)}`, trigger: 'event' },
        ...{
          status: 'pending',
          nextAttemptAt: new Date(Date.now() + 3_600_000),
          createdAt: new Date(),
          purgeAt: new Date(Date.now() + 7_200_000),
        },
      })) as never,
    );
    const revoke = await svcadmin(server.adminUrl, ['keys', 'revoke', keyId, '--dry-run']);
    expect(revoke.stdout).toContain('for good: 1 active client and 2 pending deliveries stop.');
    const unset = await svcadmin(server.adminUrl, ['webhooks', 'unset', keyId, '--dry-run']);
    expect(unset.stdout).toContain('are skipped: 2 pending deliveries.');
    const move = ['deliveries', 'reschedule', `dlv_${'1'.repeat(22)}`, '--at', '2034-01-02T03:04Z'];
    const refused = await svcadmin(server.adminUrl, [...move, '--dry-run']);
    expect(refused).toMatchObject({ code: 5 });
    const soon = await svcadmin(server.adminUrl, [...move.slice(0, 3), '--in', '0s', '--dry-run']);
    expect(soon.stdout).toMatch(/is due at \d{4}-\S+ \S+ instead of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S+\.\n/);
  });

  it('limits set --dry-run shows the present and the new spend caps', async () => {
    const [, , partnerId = ''] = await prepare(server, 'partners suspend');
    const wallet = { partnerId, mode: 'test' as const };
    await server.admin.limits.set.mutate({ ...wallet, perMinute: 60, perHour: 900 });
    const args = ['limits', 'set', partnerId, '--per-minute', '300', '--per-hour', '900', '--dry-run'];
    const { stdout } = await svcadmin(server.adminUrl, args);
    expect(stdout).toContain('per minute 60 → 300, per hour stays 900. Used now: minute 0, hour 0.');
    expect(await server.admin.limits.show.query(wallet)).toMatchObject({ perMinute: 60 });
  });

  it('webhooks set --keep-secret changes the URL, and the signing secret stays valid', async () => {
    const { admin } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    const move = ['webhooks', 'set', keyId, '--url', 'https://two.example/', '--keep-secret', '--json'];
    expect(await svcadmin(server.adminUrl, move)).toMatchObject({ code: 5 });
    const { signingSecret } = await admin.webhooks.set.mutate({ keyId, url: 'https://one.example/' });
    const body = '{"a":1}';
    const signature = contractSignature(body, signingSecret);
    const verified = async () => (await admin.webhooks.verify.query({ keyId, body, signature })).verified;
    const moved = await svcadmin(server.adminUrl, move);
    expect(JSON.parse(moved.stdout)).toMatchObject({ url: 'https://two.example/', secretVersion: 1 });
    expect([await verified(), moved.stdout.includes('whsec_')]).toEqual([true, false]);
    await svcadmin(server.adminUrl, move.slice(0, -2));
    expect(await verified()).toBe(false);
  });
});
