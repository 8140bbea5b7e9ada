import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { BSON } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { chooseStep } from '../../../cli/careful/confirmation.ts';
import { commandProcedures } from '../../../cli/roles/procedures.ts';
import { origins } from '../../../cli/svc/commands.ts';
import { environmentHeader } from '../../../contracts/environment-header.ts';
import { dryRunnable } from '../../../server/platform/admin-api/dry-runs.ts';
import { contractSignature } from '../../../server/webhooks/egress/signature.ts';
import { freePort } from '../../harness/free-port.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { loadCommands } from '../reference.ts';
import { type MemberLine, memberLine } from '../svc/member-line.ts';
import { type CommandLine, commandLine, type Ended } from '../svcadmin.ts';
import { alwaysAsked, carefulCases } from './careful-cases.ts';

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

let server: TestServer;
/** Passes requests on to the server, and says in each answer that it is a production server. */
let door: Server;
let svcadmin: CommandLine;
/** `svcadmin` that calls the door. */
let production: CommandLine;
beforeAll(async () => {
  server = await startTestServer({
    env: { SVC_PORTAL: 'on', SVC_LOCALHOST_WEBHOOKS: 'on' },
    // Some commands need a delivery that has had its first attempt.
    replacements: { pace: { jobsEvery: 100 } },
  });
  const [{ port }, doorPort] = [server.config.admin, await freePort()];
  door = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const forwarded = request({ port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, [environmentHeader]: 'production' });
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  }).listen(doorPort, '127.0.0.1');
  production = await commandLine(`http://127.0.0.1:${doorPort}`);
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => {
  door.closeAllConnections();
  door.close();
  return server.stop();
});

const cases = Object.keys(carefulCases).sort();
const argumentsOf = async (name: string) => (await carefulCases[name]?.(server)) ?? [];

/** Collections that no process writes by itself. A delivery or a job that was changed could not be changed by the real run. */
const kept = [
  ...['partners', 'apiKeys', 'clients', 'integrations', 'members', 'operators', 'users', 'passkeys'],
  ...['enrollments', 'keys', 'meta'],
];
/** Fields that a process writes after the call: copied audit entries are removed, and uses of secrets are noted. */
const writtenLater = ['audit', 'auditAt', 'lastUsedAt'];
const withoutLater = (name: string, value: unknown) => (writtenLater.includes(name) ? undefined : value);

async function stored(): Promise<string> {
  const found = await Promise.all(
    kept.map((name) => server.db.collection(name).find().sort({ _id: 1 }).toArray()),
  );
  // Events of a page are published after the answer, which changes the page.
  const entries = await server.db.collection('ledger').distinct('entries.id');
  // A page without entries has new spend caps. A bulk job that runs changes by itself, but a dry run makes none.
  const made = ['ledger', 'bulkJobs'].map((name) => server.db.collection(name).distinct('_id'));
  return BSON.EJSON.stringify([...found, entries, ...(await Promise.all(made))], withoutLater);
}

const withoutTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\d[ T][\d:.]+(Z|[+-]\d\d:\d\d)?/g, 'TIME');
/** A bulk job sends deliveries between a dry run and the real run, so their counts may differ. */
const withoutProgress = (text: string) => withoutTimes(text).replace(/ends after \d+ of/, 'ends after N of');
/** The refusal of a run: its exit code and its error. */
const refusalOf = ({ code, stderr }: Ended) => ({
  code,
  error: withoutTimes(stderr.split('\n').find((line) => line.startsWith('Error: ')) ?? ''),
});

/** Counts the audit entries of calls with another outcome. */
async function audited(...outcomes: string[]): Promise<number> {
  // Audit entries in ledger pages are copied after the answer.
  await server.services.admin.auditLog.sweep();
  return server.db.collection('auditLog').countDocuments({ outcome: { $nin: ['read', ...outcomes] } });
}

/** Expects that the real run is refused as its dry run is. @returns the exit code of the dry run */
async function expectSameRefusal(args: readonly string[], env: Record<string, string> = {}) {
  const dry = await production.run([...args, '--dry-run'], { env });
  if (dry.code === 0) return dry.code;
  const real = await production.run([...args, '--yes'], { env });
  expect(refusalOf(real)).toEqual(refusalOf(dry));
  // The change is not announced.
  expect(real.stderr).toMatch(/^(LIVE: .*\n)*Error: /);
  return dry.code;
}

describe('svcadmin without a terminal', () => {
  const tokens: string[] = [];
  beforeAll(async () => {
    for (const role of ['support', 'ops'] as const)
      tokens.push((await server.admin.operators.create.mutate({ name: role, role })).token);
  });

  it.each(cases)(
    '%s changes nothing without --yes or with --dry-run, is refused as its dry run is, and then acts',
    async (name) => {
      const words = name.split(' ');
      const [id = '', ...flags] = await argumentsOf(name);
      const command = [...words, ...(id ? [id, ...flags] : [])];
      const before = { stored: await stored(), audited: await audited('unchanged') };
      const refused = await production.run(command);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(
        /^LIVE: .*\n(What is older .*\n)?Error: This needs --yes without a terminal; nothing was done\n./,
      );
      const dry = await production.run([...command, '--dry-run']);
      expect(dry, dry.stderr).toMatchObject({ code: 0 });
      expect(dry.stdout + dry.stderr).toMatch(/Would (do|be sent again): /);
      expect({ stored: await stored(), audited: await audited('unchanged') }).toEqual(before);

      if (!/^(keyring|schema|deliveries|webhooks replay)/.test(name)) {
        const unknown = id.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
        expect(await expectSameRefusal([...words, unknown, ...flags])).not.toBe(0);
        for (const SVCADMIN_TOKEN of tokens) await expectSameRefusal(command, { SVCADMIN_TOKEN });
      }

      // Scripts that were written before these commands asked continue on other servers.
      const isAsked = alwaysAsked.includes(name);
      const early = await audited();
      if (isAsked) expect(await svcadmin.run(command)).toMatchObject({ code: 2, stdout: '' });
      const real = await svcadmin.run([...command, ...(isAsked ? ['--yes'] : [])]);
      expect(real, real.stderr).toMatchObject({ code: 0 });
      // The real run describes the change in the words of the dry run, and with its numbers.
      const [, would = 'nothing'] = /Would do: (.+)\n/.exec(dry.stdout) ?? [];
      expect(withoutProgress(real.stderr)).toContain(withoutProgress(would));
      await expect.poll(() => audited()).toBeGreaterThan(early);
      // Now the change is made already, so that many commands are refused or change nothing.
      // A job is deleted at some time after its run.
      if (name !== 'jobs run' && (await expectSameRefusal(command)) === 0)
        expect(await production.run([...command, '--yes'])).toMatchObject({ code: 0 });
    },
  );

  it('prints "LIVE: <address>" once as the first line of stderr, if --url or SVCADMIN_URL names a production server', async () => {
    const real = await startTestServer({
      env: {
        SVC_ENVIRONMENT: 'production',
        SVC_BASE_URL: 'https://verify.example',
        SVC_LEGAL_NAME: 'Acme',
        SVC_PRIVACY_URL: 'https://verify.example/privacy',
        SVC_TERMS_URL: 'https://verify.example/terms',
        SVC_HELP_ADDRESS: 'help@verify.example',
      },
    });
    onTestFinished(() => real.stop());
    await real.admin.partners.create.mutate({ name: 'Acme' });
    const byFlag = await svcadmin.run(['partners', 'list', '--url', real.adminUrl]);
    const env = { SVCADMIN_URL: real.adminUrl };
    const byEnvironment = await svcadmin.run(['limits', 'show', 'ptr_none', '--mode', 'test'], { env });
    expect(byFlag.stderr).toMatch(/^LIVE: .* \(production\)\n\d+ of \d+ shown\.\n$/);
    expect(byEnvironment.stderr.startsWith(`LIVE: ${real.adminUrl} (production)\n`)).toBe(true);
    expect(byEnvironment.stderr.match(/LIVE/g)).toHaveLength(1);
  });

  it('partners suspend --dry-run names the number of affected clients, keys and deliveries', async () => {
    const [partnerId = ''] = await argumentsOf('partners suspend');
    const { admin } = server;
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    const client = { name: 'Shop', redirectUris: ['https://shop.example/'], claims: ['country' as const] };
    await admin.clients.create.mutate({ partnerId, keyId, ...client });
    const { stdout } = await svcadmin.run(['partners', 'suspend', partnerId, '--dry-run']);
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
    const revoke = await svcadmin.run(['keys', 'revoke', keyId, '--dry-run']);
    expect(revoke.stdout).toContain('for good: 1 active client and 2 pending deliveries stop.');
    const unset = await svcadmin.run(['webhooks', 'unset', keyId, '--dry-run']);
    expect(unset.stdout).toContain('are skipped: 2 pending deliveries.');
    const move = ['deliveries', 'reschedule', `dlv_${'1'.repeat(22)}`, '--at', '2034-01-02T03:04Z'];
    const refused = await svcadmin.run([...move, '--dry-run']);
    expect(refused).toMatchObject({ code: 5 });
    const soon = await svcadmin.run([...move.slice(0, 3), '--in', '0s', '--dry-run']);
    expect(soon.stdout).toMatch(/is due at \d{4}-\S+ \S+ instead of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S+\.\n/);
  });

  it('limits set --dry-run shows the present and the new spend caps', async () => {
    const [partnerId = ''] = await argumentsOf('partners suspend');
    const wallet = { partnerId, mode: 'test' as const };
    await server.admin.limits.set.mutate({ ...wallet, perMinute: 60, perHour: 900 });
    const args = ['limits', 'set', partnerId, '--per-minute', '300', '--per-hour', '900', '--dry-run'];
    const { stdout } = await svcadmin.run(args);
    expect(stdout).toContain('per minute 60 → 300, per hour stays 900. Used now: minute 0, hour 0.');
    expect(await server.admin.limits.show.query(wallet)).toMatchObject({ perMinute: 60 });
  });

  it('webhooks set --keep-secret changes the URL, and the signing secret stays valid', async () => {
    const { admin } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    const move = ['webhooks', 'set', keyId, '--url', 'https://two.example/', '--keep-secret', '--json'];
    expect(await svcadmin.run(move)).toMatchObject({ code: 5 });
    const { signingSecret } = await admin.webhooks.set.mutate({ keyId, url: 'https://one.example/' });
    const body = '{"a":1}';
    const signature = contractSignature(body, signingSecret);
    const verified = async () => (await admin.webhooks.verify.query({ keyId, body, signature })).verified;
    const moved = await svcadmin.run(move);
    expect(JSON.parse(moved.stdout)).toMatchObject({ url: 'https://two.example/', secretVersion: 1 });
    expect([await verified(), moved.stdout.includes('whsec_')]).toEqual([true, false]);
    await svcadmin.run(move.slice(0, -2));
    expect(await verified()).toBe(false);
  });
});

describe('a dry run', () => {
  it('has a case for each command with --dry-run', async () => {
    const commands = await loadCommands();
    const careful = commands.filter(({ flags }) => 'dry-run' in flags);
    expect(cases).toEqual(careful.map(({ id }) => id.replaceAll(':', ' ')).sort());
  });

  it('is allowed for every change that a command with --dry-run makes', async () => {
    const { procedures } = server.services.admin.router._def;
    const changes = cases
      .flatMap((name) => commandProcedures[name] ?? [])
      .filter((path) => (procedures[path as never]['_def'] as { type: string }).type === 'mutation');
    // It takes `dryRun` in its input, and sending one delivery again asks no question.
    const byInput = ['deliveries.resend'];
    expect(changes.filter((path) => !dryRunnable.has(path) && !byInput.includes(path))).toEqual([]);
  });
});

/** The collections of the records that the commands of `svc` name, by the prefix of their ids. */
const collectionOf: Readonly<Record<string, string>> = {
  ...{ blk: 'bulkJobs', cli: 'clients', dlv: 'deliveries', int: 'integrations', key: 'apiKeys' },
  mem: 'members',
};

interface Owned {
  _id: string;
  partnerId?: string;
  filter?: { partnerId?: string };
}

/** Returns the arguments of a careful command of `svc` with the partner of their record, which members do not name. */
async function argumentsOfMember(name: string): Promise<{ given: string[]; partnerId: string }> {
  const given = await argumentsOf(origins[name] ?? '');
  const id = given.find((text) => /^[a-z]{3}_\w{22}$/.test(text)) ?? expect.fail(`${name} names no record`);
  if (id.startsWith('ptr_')) return { given: given.filter((text) => text !== id), partnerId: id };
  const collection = server.db.collection<Owned>(collectionOf[id.slice(0, 3)] ?? '');
  const { partnerId, filter } = (await collection.findOne({ _id: id })) ?? expect.fail(`no ${id}`);
  return { given, partnerId: partnerId ?? filter?.partnerId ?? expect.fail(`${id} has no partner`) };
}

/** Makes a signed-in member one of another partner. */
async function moveTo(partnerId: string, { cwd, member }: MemberLine): Promise<void> {
  await server.db.collection<Owned>('members').updateOne({ _id: member.id }, { $set: { partnerId } });
  await server.db
    .collection<Owned & { memberId: string }>('memberSessions')
    .updateMany({ memberId: member.id }, { $set: { partnerId } });
  const path = join(cwd, 'config', 'svc', 'profiles.json');
  const profiles = JSON.parse(readFileSync(path, 'utf8'));
  profiles.profiles.default.partnerId = partnerId;
  writeFileSync(path, JSON.stringify(profiles));
}

const commandsOfSvc = (await loadCommands('svc'))
  .filter(({ flags }) => 'dry-run' in flags)
  .map(({ id }) => id.replaceAll(':', ' '));

describe('a dry run of svc', () => {
  /** The two members of each pair act for one partner after another, because sign-ins of one address are limited. */
  const pairs: Record<'viewer' | 'owner', MemberLine>[] = [];
  beforeAll(async () => {
    // The requests of one member are limited too.
    for (let pair = 0; pair < 3; pair += 1) {
      const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
      const line = (role: 'viewer' | 'owner') => memberLine(server, partnerId, role);
      pairs.push({ viewer: await line('viewer'), owner: await line('owner') });
    }
  });

  it('has a case for each command with --dry-run, from the command of svcadmin', () => {
    expect(commandsOfSvc.length).toBeGreaterThan(15);
    expect(commandsOfSvc.filter((name) => !cases.includes(origins[name] ?? ''))).toEqual([]);
  });

  it.each(commandsOfSvc)(
    '%s changes nothing, is refused as the real run is, and has its words and numbers',
    async (name) => {
      const { given, partnerId } = await argumentsOfMember(name);
      const command = [...name.split(' '), ...given];
      const { viewer, owner } = pairs[commandsOfSvc.indexOf(name) % pairs.length] ?? expect.fail('no member');
      for (const line of [viewer, owner]) await moveTo(partnerId, line);
      const before = await stored();
      const refused = await viewer.run([...command, '--dry-run']);
      expect(refused).toMatchObject({ code: 3, stdout: '' });
      expect(refusalOf(refused)).toEqual(refusalOf(await viewer.run([...command, '--yes'])));
      const dry = await owner.run([...command, '--dry-run']);
      expect(dry, dry.stderr).toMatchObject({ code: 0 });
      const [, would = 'nothing'] = /Would do: (.+)\n/.exec(dry.stdout) ?? [];
      expect(would).not.toMatch(/^nothing/);
      expect(await stored()).toBe(before);
      const real = await owner.run([...command, '--yes']);
      expect(real, real.stderr).toMatchObject({ code: 0 });
      expect(withoutTimes(real.stderr)).toContain(withoutTimes(would));
    },
  );
});
