import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RowResult } from '../../../cli/onboarding/from-file.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
let directory: string;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
  directory = temporaryFolder('cli');
});
afterAll(() => server.stop());

const row = (name: string, more: object = {}) => ({
  name,
  redirectUris: ['https://shop.example/callback'],
  claims: ['age_18_plus'],
  ...more,
});

/** Writes the rows to a file, and runs `partners onboard --from` with that file. */
async function onboard(rows: unknown, ...more: string[]) {
  return onboardText(JSON.stringify(rows), ...more);
}
async function onboardText(text: string, ...more: string[]) {
  const path = join(directory, 'partners.json');
  await writeFile(path, text);
  return svcadmin.run(['partners', 'onboard', '--from', path, ...more]);
}
/** The byte order mark that some editors write before a text. */
const mark = '\uFEFF';
const partners = () => server.admin.partners.list.query({ limit: 500 });

describe('svcadmin partners onboard --from', () => {
  it('reads a file with a byte order mark', async () => {
    const { code, stderr } = await onboardText(`${mark}${JSON.stringify([row('Marked')])}`, '--json');
    expect(code, stderr).toBe(0);
  });

  it('creates every partner once, even if a second file repeats the rows of the first', async () => {
    const rows = [
      row('Alpha', { webhookUrl: 'https://alpha.example/hooks' }),
      row('Beta', { amount: '75.00' }),
    ];
    const first = await onboard(rows, '--json');
    expect(first.code).toBe(0);
    const made = JSON.parse(first.stdout) as (RowResult & { env: Record<string, string> })[];
    expect(made.map(({ row, name, result }) => [row, name, result])).toEqual([
      [1, 'Alpha', 'onboarded'],
      [2, 'Beta', 'onboarded'],
    ]);
    expect(made[0]?.env).toMatchObject({ SVC_WEBHOOK_SECRET: expect.stringMatching(/^whsec_/) });
    const partnerId = made[1]?.partnerId ?? '';
    expect(await server.admin.wallets.show.query({ partnerId })).toMatchObject({ balance: 7_500 });
    const before = await partners();
    const again = await onboard([...rows, row('Gamma')], '--json');
    expect(again.code).toBe(0);
    expect((JSON.parse(again.stdout) as RowResult[]).map(({ result }) => result)).toEqual([
      'exists',
      'exists',
      'onboarded',
    ]);
    expect((await partners()).length).toBe(before.length + 1);
  });

  it('takes the name of a partner for the same in every form of its letters', async () => {
    const [nfd, nfc] = ['Zoe\u0308 Ltd', 'Zo\u00eb Ltd'];
    expect((await onboard([row(nfd), row(nfc)])).stderr).toContain(`name: ${nfc} is row 1 already`);
    const { id } = await server.admin.partners.create.mutate({ name: nfd });
    await server.admin.partners.activate.mutate({ partnerId: id });
    // As an older build stored it.
    await server.db.collection('partners').updateOne({ _id: id } as object, { $set: { name: nfd } });
    for (const name of [nfd, nfc]) {
      const { stdout } = await onboard([row(name)], '--json');
      expect(JSON.parse(stdout)).toMatchObject([{ result: 'exists', partnerId: id }]);
      expect(await svcadmin.json('partners', 'show', name)).toMatchObject({ id });
      expect(await svcadmin.json('partners', 'list', '--where', `name=${name}`)).toMatchObject([{ id }]);
    }
  });

  it('exits with 2 and creates no partner if a row is malformed, and names the fault of every row', async () => {
    const before = await partners();
    const { code, stderr } = await onboard([
      row('Delta'),
      row('Epsilon', { claims: ['age18'] }),
      row('Zeta', { amount: '20.00' }),
      row('Delta'),
      row('Eta', { redirectUris: ['shop.example'] }),
      row('Theta', { web: 'https://theta.example/' }),
    ]);
    expect(code).toBe(2);
    for (const fault of [
      ...['row 2: claims.0: unknown claim age18', 'row 3: amount: the least funding is 50.00 USD'],
      ...['row 4: name: Delta is row 1 already', 'row 5: ', 'row 6: row: Unrecognized key: "web"'],
    ])
      expect(stderr).toContain(fault);
    expect(stderr).not.toContain('row 1:');
    expect(await partners()).toEqual(before);
  });

  it('reports a partner that exists without a key and client as unfinished, onboards the other rows, and exits with 1', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Iota' });
    const { code, stdout } = await onboard([row('Iota'), row('Kappa')], '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      { result: 'unfinished', partnerId: id },
      { result: 'onboarded' },
    ]);
  });

  it('says of a partner that exists but is suspended or closed how it is served again, and prefers one that is not closed', async () => {
    const make = async (name: string) => {
      const { id: partnerId } = await server.admin.partners.create.mutate({ name });
      await server.admin.partners.activate.mutate({ partnerId });
      return partnerId;
    };
    const [suspended, closed, returned] = [await make('Nu'), await make('Xi'), await make('Omicron')];
    await server.admin.partners.suspend.mutate({ partnerId: suspended });
    await server.admin.partners.close.mutate({ partnerId: closed, reason: 'left' });
    const left = await make('Omicron');
    await server.admin.partners.close.mutate({ partnerId: left, reason: 'left' });
    const { code, stderr, stdout } = await onboard([row('Nu'), row('Xi'), row('Omicron')]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    const again = 'so it is not served; to serve it again: svcadmin partners activate';
    expect(stderr).toContain(`1  exists  ${suspended}  Nu  suspended, ${again} ${suspended}\n`);
    expect(stderr).toContain(
      `2  exists  ${closed}  Xi  closed, ${again} ${closed}; another company needs another name\n`,
    );
    expect(stderr).toContain(`3  exists  ${returned}  Omicron\n`);
  });

  it('writes with --out-dir the secrets of each partner to a separate file', async () => {
    const secrets = join(directory, 'secrets');
    const { stdout, stderr } = await onboard([row('Lambda'), row('Mu')], '--out-dir', secrets);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^1 {2}onboarded {2}ptr_\w{22} {2}Lambda$/m);
    const files = await readdir(secrets);
    expect(files).toHaveLength(2);
    const [file = ''] = files;
    expect((await stat(join(secrets, file))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(secrets, file), 'utf8')).toContain('SVC_CLIENT_SECRET=svc_secret_');
  });

  it('exits with 3 if the token is wrong, and reports no row as faulty', async () => {
    const path = join(directory, 'partners.json');
    await writeFile(path, JSON.stringify([row('Xi')]));
    const stranger = await commandLine(server.adminUrl, 'svc_admin_wrong');
    const { code, stderr } = await stranger.run(['partners', 'onboard', '--from', path]);
    expect([code, stderr.includes('row 1')]).toEqual([3, false]);
  });

  it('exits with 2 for flags of a single partner, and for a file without a list of rows', async () => {
    const both = await onboard([row('Nu')], '--claims', 'country');
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('leave out --claims') });
    expect(await onboard({ name: 'Nu' })).toMatchObject({ code: 2 });
    expect(await svcadmin.run(['partners', 'onboard', 'Nu'])).toMatchObject({ code: 2 });
  });
});
