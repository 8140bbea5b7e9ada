import { BSON } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandProcedures } from '../../../cli/roles/procedures.ts';
import { dryRunnable } from '../../../server/platform/admin-api/dry-runs.ts';
import { createPartner } from '../../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { loadCommands } from '../reference.ts';
import { memberLine } from '../svc/member-line.ts';
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
    // These take `dryRun` in their input.
    const byInput = ['deliveries.resend', 'wallets.repair'];
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
      expect(withoutTimes(real.stderr)).toContain(withoutTimes(would));
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
      }
    },
  );
});

describe('a dry run of svc', () => {
  it('is refused for a role that may not make the change, and changes nothing for one that may', async () => {
    const { partnerId, clientId } = await createPartner(server);
    const disable = ['clients', 'disable', clientId];
    const viewer = await memberLine(server, partnerId, 'viewer');
    const refused = await viewer.run([...disable, '--dry-run']);
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refusalOf(refused)).toEqual(refusalOf(await viewer.run([...disable, '--yes'])));
    const owner = await memberLine(server, partnerId, 'owner');
    expect(await owner.run([...disable, '--dry-run'])).toMatchObject({ code: 0 });
    expect(await server.admin.clients.show.query({ clientId })).toMatchObject({ status: 'active' });
    expect(await owner.run([...disable, '--yes'])).toMatchObject({ code: 0 });
    const again = await owner.run([...disable, '--dry-run']);
    expect(again.stdout).toContain('Would do: nothing, because this is done already.');
  });
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
