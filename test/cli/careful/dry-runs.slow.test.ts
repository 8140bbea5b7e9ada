import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BSON } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandProcedures } from '../../../cli/roles/procedures.ts';
import { origins } from '../../../cli/svc/commands.ts';
import { dryRunnable } from '../../../server/platform/admin-api/dry-runs.ts';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { loadCommands } from '../reference.ts';
import { type MemberLine, memberLine } from '../svc/member-line.ts';
import { type CommandLine, commandLine, type Ended } from '../svcadmin.ts';
import { alwaysCareful } from './always-careful.ts';
import { carefulSince } from './careful-cases.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer({
    env: { SVC_PORTAL: 'on', SVC_LOCALHOST_WEBHOOKS: 'on' },
    replacements: { pace: { jobsEvery: 100 } },
  });
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

const cases = Object.keys({ ...carefulSince, ...alwaysCareful }).sort();
const argumentsOf = async (name: string) =>
  (await (carefulSince[name] ?? alwaysCareful[name])?.(server)) ?? [];

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

describe('a dry run', () => {
  it('has a case for each command with --dry-run', async () => {
    const commands = await loadCommands();
    const careful = commands
      .filter(({ flags }) => 'dry-run' in flags)
      .map(({ id }) => id.replaceAll(':', ' '));
    expect(cases).toEqual(careful.sort());
  });

  it('is allowed for every change that a command with --dry-run makes', async () => {
    const commands = await loadCommands();
    const careful = commands
      .filter(({ flags }) => 'dry-run' in flags)
      .map(({ id }) => id.replaceAll(':', ' '));
    const { procedures } = server.services.admin.router._def;
    const changes = careful
      .flatMap((name) => commandProcedures[name] ?? [])
      .filter((path) => (procedures[path as never]['_def'] as { type: string }).type === 'mutation');
    // It takes `dryRun` in its input, and sending one delivery again asks no question.
    const byInput = ['deliveries.resend'];
    expect(changes.filter((path) => !dryRunnable.has(path) && !byInput.includes(path))).toEqual([]);
  });

  it.each(cases)(
    '%s changes nothing, and is refused as the real run is, before and after it',
    async (name) => {
      const command = [...name.split(' '), ...(await argumentsOf(name))];
      const before = await stored();
      const dry = await svcadmin.run([...command, '--dry-run']);
      expect(dry, dry.stderr).toMatchObject({ code: 0 });
      expect(dry.stdout + dry.stderr).toMatch(/Would (do|be sent again): /);
      expect(await stored()).toBe(before);
      const real = await svcadmin.run([...command, '--yes']);
      expect(real, real.stderr).toMatchObject({ code: 0 });
      // The real run describes the change in the words of the dry run, and with its numbers.
      const [, would = 'nothing'] = /Would do: (.+)\n/.exec(dry.stdout) ?? [];
      expect(withoutProgress(real.stderr)).toContain(withoutProgress(would));
      // The job is deleted at some time after its run.
      if (name === 'jobs run') return;
      // Now the change is made already, so that many commands are refused or change nothing.
      const dryAgain = await svcadmin.run([...command, '--dry-run']);
      const realAgain = await svcadmin.run([...command, '--yes']);
      expect(refusalOf(dryAgain)).toEqual(refusalOf(realAgain));
    },
  );

  const withIds = cases.filter((name) => !/^(keyring|schema|deliveries|webhooks replay)/.test(name));
  it.each(withIds)(
    '%s is refused for a record that does not exist, and for an operator without the role',
    async (name) => {
      const [id = '', ...flags] = await argumentsOf(name);
      const unknown = id.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
      const dry = await svcadmin.run([...name.split(' '), unknown, ...flags, '--dry-run']);
      const real = await svcadmin.run([...name.split(' '), unknown, ...flags, '--yes']);
      expect(refusalOf(dry)).toEqual(refusalOf(real));
      expect(dry.code).not.toBe(0);
      for (const role of ['support', 'ops'] as const) {
        const { token } = await server.admin.operators.create.mutate({ name: `${name} ${role}`, role });
        const env = { SVCADMIN_TOKEN: token };
        const dryAs = await svcadmin.run([...name.split(' '), id, ...flags, '--dry-run'], { env });
        if (dryAs.code === 0) continue;
        const realAs = await svcadmin.run([...name.split(' '), id, ...flags, '--yes'], { env });
        expect(refusalOf(dryAs)).toEqual(refusalOf(realAs));
        // The change is not announced.
        expect(realAs.stderr).toMatch(/^(LIVE: .*\n)*Error: /);
      }
    },
  );
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
      const dryAgain = await owner.run([...command, '--dry-run']);
      expect(refusalOf(dryAgain)).toEqual(refusalOf(await owner.run([...command, '--yes'])));
    },
  );
});

describe('the server, in a dry run,', () => {
  it('refuses a change that has no dry run, and writes nothing', async () => {
    const response = await fetch(`${server.adminUrl}/trpc/dry-run/partners.create`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Dry' }),
    });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('has no dry run'),
    ]);
    expect(await server.db.collection('partners').countDocuments({ name: 'Dry' })).toBe(0);
  });
});
