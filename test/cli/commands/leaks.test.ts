import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomSecret } from '../../../server/platform/ids.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { createReceiver, type Received } from '../../harness/receiver.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let partner: TestPartner;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  partner = await createPartner(server);
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

const find = (input: string, ...flags: string[]) => svcadmin.run(['secrets', 'find', ...flags], { input });

describe('svcadmin secrets find', () => {
  it('names the owner of the secret on stdin and the command that replaces it, and never prints the secret', async () => {
    const { clientSecret, clientId, partnerId } = partner;
    const { code, stdout, stderr } = await find(`CLIENT_SECRET="${clientSecret}"\n`);
    expect(code).toBe(0);
    for (const text of ['svc_secret_…', clientId, partnerId, 'Acme Cinema']) expect(stdout).toContain(text);
    expect(stdout).toMatch(/Active +yes/);
    expect(stderr).toContain(`Next: svcadmin clients rotate-secret ${clientId}`);
    expect(stdout + stderr).not.toContain(clientSecret);
    const json = JSON.parse((await find(clientSecret, '--json')).stdout);
    expect(json).toMatchObject({ kind: 'clientSecret', id: clientId, active: true, expiresAt: null });
    const next = json.next.replace('svcadmin ', '').split(' ');
    expect(await svcadmin.run([...next, '--yes'])).toMatchObject({ code: 0 });
    expect((await find(clientSecret)).code).toBe(4);
  });

  it('sends only the kind and the hash of a secret', async () => {
    const { apiKey } = partner;
    const { port, received } = await createReceiver();
    const elsewhere = await commandLine(`http://127.0.0.1:${port}`);
    await elsewhere.run(['secrets', 'find'], { input: apiKey });
    expect(received).toHaveLength(1);
    const [{ path, headers, body }] = received as [Received];
    expect(path).toContain('secrets.find');
    expect(decodeURIComponent(path) + JSON.stringify(headers) + body).not.toContain(apiKey.slice(0, 20));
  });

  it.each([
    [
      2,
      'not sent anywhere',
      'a secret as an argument',
      () => svcadmin.run(['secrets', 'find', partner.apiKey]),
    ],
    [2, 'No secret of this service', 'text without a secret', () => find('hello')],
    [2, 'No secret of this service', 'empty input', () => find('')],
    [2, 'More than 64 KiB', 'input of 70,000 characters', () => find('x'.repeat(70_000))],
    [2, 'has no owner', 'an authorization code', () => find(randomSecret('code'))],
    [4, 'Nothing here has this secret', 'an unknown secret', () => find(randomSecret('integrationSecret'))],
  ])('exits with %i and prints "%s", but no secret, for %s', async (exit, words, _name, run) => {
    const { code, stdout, stderr } = await run();
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain(partner.apiKey);
  });

  it('is suggested by `svcadmin show` if its argument is a secret', async () => {
    const { stderr } = await svcadmin.run(['show', randomSecret('webhookSecret')]);
    expect(stderr).toContain('`svcadmin secrets find` asks for it');
  });
});

describe('svcadmin keyring retire --compromised', () => {
  it('lists in a dry run what becomes invalid; with --yes, old access tokens get 401 and a new key signs', async () => {
    const token = async () => {
      const answer = await exchangeCode(server, other, await completeSession(server, other));
      return ((await answer.json()) as { access_token: string }).access_token;
    };
    const userinfo = async (bearer: string) =>
      (
        await fetch(`${server.baseUrl}/api/oauth/userinfo`, {
          headers: { authorization: `Bearer ${bearer}` },
        })
      ).status;
    const other = await createPartner(server);
    const before = await token();
    const retire = ['keyring', 'retire', 'signing-1', '--compromised'];
    const dry = await svcadmin.run([...retire, '--dry-run']);
    expect(dry.stdout).toContain(
      'Every token and every signed statement that it signed is refused from now on',
    );
    expect(dry.stdout).toContain('A new key is made, and signs immediately.');
    expect(await svcadmin.run(retire)).toMatchObject({ code: 2 });
    expect(await userinfo(before)).toBe(200);
    const done = await svcadmin.json(...retire, '--yes');
    expect(done).toMatchObject({ id: 'signing-1', state: 'retired', replacedBy: 'signing-2' });
    expect(await userinfo(before)).toBe(401);
    expect(await userinfo(await token())).toBe(200);
    for (const key of ['code-1', 'signing-9']) {
      const refused = ['keyring', 'retire', key, '--compromised'];
      const [tried, real] = [
        await svcadmin.run([...refused, '--dry-run']),
        await svcadmin.run([...refused, '--yes']),
      ];
      expect(tried.code).toBe(real.code);
      expect(tried).toMatchObject({ code: expect.toBeOneOf([4, 5]), stdout: '' });
    }
  });
});

describe('personal data of a live user', () => {
  let enrollment: { id: string; sub: string };
  let support: CommandLine;
  let ops: CommandLine;
  beforeAll(async () => {
    await completeSession(server, partner);
    const [found] = await server.admin.enrollments.list.query({ partnerId: partner.partnerId });
    enrollment = found ?? expect.fail('no enrollment');
    for (const name of ['users', 'enrollments', 'events'])
      await server.db.collection(name).updateMany({}, { $set: { mode: 'live' } });
    const as = async (role: 'support' | 'ops') =>
      commandLine(server.adminUrl, (await server.admin.operators.create.mutate({ name: role, role })).token);
    [support, ops] = [await as('support'), await as('ops')];
  });

  const commands = (): string[][] => [
    ['users', 'show', enrollment.sub],
    ['users', 'find', enrollment.sub],
    ['enrollments', 'show', enrollment.id],
    ['enrollments', 'list', '--partner', partner.partnerId],
    ['show', enrollment.id],
    ['show', enrollment.sub],
  ];

  it('are shown to support only with --reason (else exit code 5), and the audit log has this reason', async () => {
    for (const command of commands()) {
      const plain = await support.run(command);
      expect([command, plain.code, plain.stdout]).toEqual([command, 5, '']);
      expect(plain.stderr).toContain('--reason TEXT');
      const json = await support.run([...command, '--json']);
      expect(json.code).toBe(5);
      expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'reason_required' } });
      expect(plain.stderr + json.stderr).not.toContain(enrollment.sub);
      const told = await support.run([...command, '--reason', 'ticket 4711']);
      expect([command, told.code]).toEqual([command, 0]);
      expect(told.stdout).toContain(enrollment.sub);
    }
    type Entry = { action: string; outcome: string; input: { reason?: string } | null };
    // Support can read changes of partners there, too.
    const log = (await support.json<Entry[]>('audit-log', 'list', '--all')).filter(
      ({ outcome }) => outcome === 'read',
    );
    expect(log.length).toBeGreaterThanOrEqual(commands().length);
    for (const { input } of log) expect(input?.reason).toBe('ticket 4711');
    const { stdout } = await support.run(['audit-log', 'list', '--all']);
    expect(stdout).toContain('users.show: read');
    expect(stdout).toContain('ticket 4711');
  });

  it('are masked in `show` and in `enrollments list` for an operator with the role ops', async () => {
    const shown = await ops.json<{ record: { sub: string }; related: { kind: string }[] }>(
      'show',
      enrollment.id,
    );
    expect(shown.record.sub).toBe('(masked)');
    expect(shown.related.map(({ kind }) => kind)).toContain('event');
    expect(shown.related.map(({ kind }) => kind)).not.toContain('subject');
    expect((await ops.run(['enrollments', 'list', '--partner', partner.partnerId])).stdout).toContain(
      '(masked)',
    );
  });

  it('are read by `users erase` for the reason "erasure", and by `enrollments block` for the reason of the block', async () => {
    const erase = await svcadmin.json('users', 'erase', enrollment.sub, '--dry-run');
    expect(erase).toMatchObject({ dryRun: true });
    const block = ['enrollments', 'block', enrollment.id, '--reason', 'a report', '--dry-run'];
    expect(await svcadmin.json(...block)).toMatchObject({ dryRun: true });
    const entries = await server.admin.auditLog.list.query({ actor: 'opr_first' });
    const reasons = entries.filter(({ outcome }) => outcome === 'read').map(({ input }) => input?.['reason']);
    expect(reasons.slice(0, 2)).toEqual(['a report', 'erasure']);
  });
});
