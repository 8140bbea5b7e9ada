import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPartner, verifyUser } from '../../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { commandLine, executable } from '../svcadmin.ts';

const run = promisify(execFile);
const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const width = 100;
const timeLimit = { timeout: within(20_000), interval: 100 };

/** Opens a shell in a real terminal, whose input is typed and whose screen can be read. */
function openTerminal(env: Record<string, string>, cwd: string) {
  const socket = `svcadmin-${randomBytes(4).toString('hex')}`;
  const tmux = (...args: string[]) => run('tmux', ['-L', socket, ...args]);
  execFileSync(
    'tmux',
    ['-L', socket, '-f', '/dev/null', 'new-session', '-d', '-x', `${width}`, '-y', '50', '-c', cwd, 'sh'],
    {
      env: { ...env, PS1: 'ready> ', ENV: '', TERM: 'xterm-256color' },
    },
  );
  const type = async (text: string) => {
    await tmux('send-keys', '-l', text);
    await tmux('send-keys', 'Enter');
  };
  /** The text on the screen. With `colours`, it includes the escape sequences. */
  const screen = async ({ colours = false } = {}) =>
    (await tmux('capture-pane', '-p', '-J', ...(colours ? ['-e'] : []))).stdout.trimEnd();
  return {
    type,
    screen,
    interrupt: () => tmux('send-keys', 'C-c'),
    endInput: () => tmux('send-keys', 'C-d'),
    /** Clears the screen when a command has ended, and waits until it is clear. Text that is typed before would be lost. */
    clear: async () => {
      await expect.poll(() => screen(), timeLimit).toMatch(/(^|\n)(#|\$|ready>)$/);
      await type('clear');
      await expect.poll(() => screen(), timeLimit).toMatch(/^(#|\$|ready>)$/);
    },
    close: () => spawnSync('tmux', ['-L', socket, 'kill-server']),
  };
}

describe.skipIf(!hasTmux)('svcadmin on a terminal', () => {
  let server: TestServer;
  let terminal: ReturnType<typeof openTerminal>;
  let svcadmin: string;
  /** The screen after the sign-in. */
  let signedIn: string;
  const shows = (text: string | RegExp) =>
    vi.waitFor(async () => expect(await terminal.screen()).toMatch(text), timeLimit);

  beforeAll(async () => {
    server = await startTestServer();
    const { cwd, env } = await commandLine(server.adminUrl, undefined);
    const { SVCADMIN_URL: _url, ...rest } = env;
    terminal = openTerminal(rest, cwd);
    svcadmin = `${process.execPath} ${executable}`;
    await terminal.type(`${svcadmin} login --url ${server.adminUrl}`);
    await shows(`Operator token for ${server.adminUrl}`);
    await terminal.type(adminToken);
    await shows(/Role +owner/);
    signedIn = await terminal.screen();
  }, within(60_000));
  afterAll(() => {
    terminal.close();
    return server.stop();
  });

  it("signs in without showing the token, onboards a partner, and prints lists within the terminal's width", async () => {
    expect(signedIn).not.toContain(adminToken);
    await terminal.clear();
    await terminal.type(
      `${svcadmin} partners onboard "Acme" --redirect-uri http://localhost:3000/ --claims country --out-file .env`,
    );
    await shows('test wallet funded, partner active');
    await server.admin.partners.create.mutate({ name: 'A company with a very long name '.repeat(3) });
    await terminal.clear();
    await terminal.type(`${svcadmin} partners list`);
    await shows(/^ID +Name +Status +Created at/m);
    const rows = (await terminal.screen()).split('\n').filter((line) => line.startsWith('ptr_'));
    expect(rows.length).toBeGreaterThanOrEqual(2);
    for (const row of rows)
      expect(row).toMatch(
        /^ptr_\w{22} {2}.* (active|pending) +\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[+]\d{2}:\d{2}$/,
      );
    expect(rows.some((row) => row.includes('…'))).toBe(true);
  });

  it('wallets fund prints LIVE in red and asks for the partner\'s id in live mode; the answer "yes" moves no money', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const balance = async () =>
      (await server.admin.wallets.show.query({ partnerId: id, mode: 'live' })).balance;
    const fund = `${svcadmin} wallets fund ${id} --mode live --amount 50.00 --reference INV-1`;
    await terminal.clear();
    await terminal.type(fund);
    await shows(`Type ${id} to go on`);
    const coloured = (await terminal.screen({ colours: true })).replaceAll('\u001b', '<esc>');
    expect(coloured).toMatch(/<esc>\[[\d;]*31[\d;]*m.*LIVE/);
    expect(await terminal.screen()).toContain('0.00 → 50.00 USD');
    await terminal.type('yes');
    await shows('Not confirmed; nothing was done');
    expect(await balance()).toBe(0);
    await terminal.clear();
    await terminal.type(fund);
    await shows(`Type ${id} to go on`);
    await terminal.type(id);
    await shows(/Kind +funding/);
    expect(await balance()).toBe(5000);
  });

  it('asks before a partner is suspended, and exits with 130 after Ctrl-C', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    await server.admin.partners.activate.mutate({ partnerId: id });
    await terminal.clear();
    await terminal.type(`${svcadmin} partners suspend ${id}; echo "exit $?"`);
    await shows(`Type ${id} to go on`);
    expect(await terminal.screen()).toContain('stops in test and live mode until it is activated again');
    await terminal.interrupt();
    await shows(/^Cancelled$.*^exit 130$/ms);
    expect((await server.admin.partners.show.query({ partnerId: id })).status).toBe('active');
  });

  it.each([
    ['login --url URL', 'Operator token for'],
    ['partners suspend PARTNER', 'Type ptr_'],
    ['partners suspend PARTNER --json', 'Type ptr_'],
    ['secrets find', 'Leaked secret'],
  ])(
    '%s exits with 130 after Ctrl-D at its question, so that a script does not go on',
    async (words, question) => {
      const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
      await server.admin.partners.activate.mutate({ partnerId: id });
      const line = words.replace('URL', server.adminUrl).replace('PARTNER', id);
      await terminal.clear();
      await terminal.type(`${svcadmin} ${line} && echo went on; echo "exit $?"`);
      await shows(question);
      await terminal.endInput();
      await shows(/Cancelled.*^exit 130$/ms);
      expect(await terminal.screen()).not.toMatch(/^went on$/m);
      expect((await server.admin.partners.show.query({ partnerId: id })).status).toBe('active');
    },
  );

  it("asks why personal data of a live user are read, and records the operator's reason in the audit log", async () => {
    const partner = await createPartner(server);
    await verifyUser(server, partner);
    const [enrollment] = await server.admin.enrollments.list.query({ partnerId: partner.partnerId });
    await server.db.collection('enrollments').updateMany({}, { $set: { mode: 'live' } });
    await terminal.clear();
    await terminal.type(`${svcadmin} enrollments show ${enrollment?.id}`);
    await shows('Why do you read them?');
    expect(await terminal.screen()).not.toContain(enrollment?.sub);
    await terminal.type('ticket 4711');
    await shows(/Sub +\S/);
    const [entry] = await server.admin.auditLog.list.query({ action: 'enrollments.show' });
    expect(entry).toMatchObject({ outcome: 'read', input: { reason: 'ticket 4711' } });
  });

  it('secrets find asks for the leaked secret and does not show what is typed', async () => {
    const { clientId, clientSecret } = await createPartner(server);
    await terminal.clear();
    await terminal.type(`${svcadmin} secrets find`);
    await shows('Leaked secret');
    await terminal.type(clientSecret);
    await shows(clientId);
    expect(await terminal.screen()).toContain(`Next: svcadmin clients rotate-secret ${clientId}`);
    expect(await terminal.screen()).not.toContain(clientSecret);
  });
});
