import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner, verifyUser } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
let partner: TestPartner;
const folder = temporaryFolder('export');
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
  partner = await createPartner(server);
  await verifyUser(server, partner, 'adult');
});
afterAll(() => server.stop());

/** Unpacks an archive with the `tar` of the system. Returns the parsed file of each name. */
function unpack(path: string): Record<string, Record<string, unknown>[]> {
  const names = execFileSync('tar', ['-tzf', path]).toString().trim().split('\n');
  return Object.fromEntries(
    names.map((name) => [
      name,
      JSON.parse(execFileSync('tar', ['-xzOf', path, name]).toString()) as Record<string, unknown>[],
    ]),
  );
}

describe('svcadmin partners export', () => {
  it('writes all records of the partner to a private archive, without secrets, and is in the audit log', async () => {
    const path = join(folder, 'partner.tar.gz');
    const exported = await svcadmin.json('partners', 'export', partner.partnerId, '--out-file', path);
    const files = unpack(path);
    expect(Object.keys(files)).toHaveLength(17);
    expect(files['partner.json']).toMatchObject({ id: partner.partnerId });
    expect(files['clients.json']).toMatchObject([{ id: partner.clientId }]);
    expect(files['sessions.json']).toMatchObject([{ partnerId: partner.partnerId, status: 'complete' }]);
    expect(files['statement-test.json']?.map(({ kind }) => kind)).toContain('funding');
    expect(exported).toMatchObject({ id: partner.partnerId, records: { enrollments: 1, keys: 1 } });
    const all = JSON.stringify(files);
    for (const secret of [partner.apiKey, partner.clientSecret]) expect(all).not.toContain(secret);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const reads = await server.admin.auditLog.list.query({ action: 'enrollments.list' });
    expect(reads[0]).toMatchObject({ outcome: 'read', target: partner.partnerId });
  });

  it('writes to no existing file, and nothing for an unknown partner', async () => {
    const path = join(folder, 'partner.tar.gz');
    const before = readFileSync(path);
    const again = await svcadmin.run(['partners', 'export', partner.partnerId, '--out-file', path]);
    expect([again.code, readFileSync(path).equals(before)]).toEqual([2, true]);
    const other = join(folder, 'none.tar.gz');
    expect((await svcadmin.run(['partners', 'export', 'ptr_none', '--out-file', other])).code).toBe(4);
    expect(() => statSync(other)).toThrow('ENOENT');
  });
});

describe('svcadmin partners export and users export', () => {
  it('refuse the name of a file of another format before anything is read, and name the right one', async () => {
    const { partnerId } = partner;
    const cases = ['partners', 'users'].flatMap((topic) =>
      ['x.json', 'x.tar', 'x.json.gz', 'x.ZIP'].map((name) => [topic, name] as const),
    );
    for (const [topic, name] of cases) {
      const of = topic === 'users' ? '0'.repeat(43) : partnerId;
      const ended = await svcadmin.run([topic, 'export', of, '--out-file', join(folder, name)]);
      expect(ended, name).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toContain(`${join(folder, name)} is not the name of a .tar.gz`);
      expect(ended.stderr).toContain(`Name it ${join(folder, 'x.tar.gz')}.`);
      expect(() => statSync(join(folder, name))).toThrow('ENOENT');
    }
    for (const name of ['plain', 'acme-2026.07', 'acme.tgz']) {
      const path = join(folder, name);
      await svcadmin.json('partners', 'export', partnerId, '--out-file', path);
      expect(Object.keys(unpack(path))).toHaveLength(17);
    }
  });
});

describe('svcadmin users export', () => {
  it('writes the user with enrollments, sessions, events and reads, and is in the audit log', async () => {
    const [enrollment] = await server.admin.enrollments.list.query({ partnerId: partner.partnerId });
    const sub = enrollment?.sub ?? '';
    const path = join(folder, 'user.tar.gz');
    const { id } = await svcadmin.json('users', 'export', sub, '--out-file', path);
    const files = unpack(path);
    expect(files['user.json']).toMatchObject({ id });
    expect(files['enrollments.json']).toMatchObject([{ id: enrollment?.id, sub }]);
    expect(files['sessions.json']).toMatchObject([{ enrollmentId: enrollment?.id }]);
    expect(files['events.json']?.length).toBeGreaterThan(0);
    const reads = await server.admin.auditLog.list.query({ user: String(id), action: 'users.show' });
    expect(reads[0]).toMatchObject({ outcome: 'read', target: id });
  });
});
