import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPasskeyStore } from '../../../server/people/passkeys/passkey-store.ts';
import { randomId } from '../../../server/platform/ids.ts';
import { within } from '../../harness/time-limits.ts';
import { type CommandLine, type Ended, executable } from '../svcadmin.ts';
import { type Desk, openDesk } from './desk.ts';

const text = readFileSync(new URL('../../../docs/support.md', import.meta.url), 'utf8');

interface Question {
  number: number;
  title: string;
  /** The arguments of `svcadmin`. */
  commands: string[];
}

const questions: Question[] = [...text.matchAll(/^## (\d+)\. (.+)\n\n```\n([\s\S]*?)\n```/gm)].map(
  ([, number, title = '', block = '']) => ({
    number: Number(number),
    title,
    commands: block.split('\n').map((line) => line.replace(/^svcadmin /, '')),
  }),
);

/**
 * The values of a question's placeholders, and for each command the texts that it must print. A number is the exit code
 * of the command, by default 0.
 */
interface Case {
  values: Record<string, string>;
  answers: (string | number)[][];
}

/** Valid parameters of a start, without client and redirect URI. */
const parameters = new URLSearchParams({
  state: 'x'.repeat(16),
  scope: 'age_18_plus',
  code_challenge: 'c'.repeat(43),
  code_challenge_method: 'S256',
});

let desk: Desk;
let cases: Record<number, Case>;
beforeAll(async () => {
  desk = await openDesk();
  const { partner, sessions, entry, enrollment, sub, refused, deliveries, server } = desk;
  const key = await server.admin.keys.show.query({ keyId: partner.keyId });
  const redirectUri = 'http://localhost:9999/mistyped';
  const query = new URLSearchParams({ client_id: partner.clientId, redirect_uri: redirectUri });
  const start = await fetch(`${server.baseUrl}/verify/start?${query}&${parameters}`);
  const mistyped = start.headers.get('x-request-id') ?? '';
  const user = await server.admin.users.show.query({ user: sub });
  const passkey = randomId('passkey');
  await createPasskeyStore(server.db).insert({
    ...{ _id: passkey, userId: user.id, mode: user.mode, credentialId: 'AAAA', publicKey: '' },
    ...{ counter: 0, transports: [], synced: true, createdAt: new Date(), answeredAt: 0 },
  });
  await vi.waitFor(() => server.admin.requests.show.query({ requestId: mistyped }), {
    timeout: within(10_000),
  });
  const charged = await server.db
    .collection<{ _id: string; state: string }>('sessions')
    .findOne({ _id: sessions.charged });
  const state = charged?.state ?? '';
  await server.admin.limits.set.mutate({ partnerId: partner.partnerId, mode: 'test', perHour: 300 });
  const common = { PARTNER: partner.partnerId, MODE: 'test', KEY: partner.keyId, LAST4: key.last4 };
  const { failed, waiting, other } = deliveries;
  const charge = { ...common, ENTRY: entry, SESSION: sessions.charged };
  const found = (values: Record<string, string>, ...answers: Case['answers']): Case => ({
    values: { ...common, ...values },
    answers,
  });
  cases = {
    1: found(charge, [entry, 'token'], [sessions.charged, enrollment.active], [entry, 'completed']),
    2: found(
      { EVENT: failed.eventId, DELIVERY: failed.id },
      [failed.id, 'failed'],
      ['HTTP 500', "The receiver's own code fails", `svcadmin deliveries resend ${failed.id}`],
      ['Sent again: 1', failed.id],
    ),
    3: found(
      { HOST: 'localhost:9999', TIME: '', SESSION: sessions.rejected },
      [partner.partnerId, 'Acme Cinema'],
      [sessions.rejected, sessions.charged, sessions.expired],
      ['document_rejected', partner.clientId],
    ),
    4: found({ SESSION: sessions.expired }, [sessions.expired, 'session_expired'], ['expired', 'started']),
    5: found(
      { REQUEST: refused.invalid_grant },
      [refused.invalid_grant],
      ['already used at', entry],
      ['works once'],
    ),
    6: found({}, ['rate_limited', 'limits show'], ['Per minute', '60'], ['minute bucket', partner.partnerId]),
    7: found({}, [partner.partnerId, 'Acme Cinema'], [refused.payment_required, 'payment_required']),
    8: found({ DAYS: '60' }, [`${partner.partnerId}:test`]),
    9: found({}, [partner.partnerId, partner.keyId], [key.last4, partner.clientId]),
    10: found({ SUB: sub, ENROLLMENT: enrollment.active }, [enrollment.active], ['active', sessions.charged]),
    11: found(
      { ENROLLMENT: enrollment.blocked },
      [enrollment.blocked, 'duplicate_identity'],
      ['blocked', partner.clientId],
      ['active'],
    ),
    12: found(
      { SESSION: sessions.charged, EVENT: failed.eventId, DELIVERY: failed.id },
      [failed.eventId],
      ['HTTP 500'],
      ['Sent again: 1'],
    ),
    13: found({ DELIVERY: other.id }, [other.id, 'pending'], ['skipped', 'cancelled']),
    14: found({ DELIVERY: waiting.id }, [waiting.id, 'pending'], ['pending', waiting.id]),
    15: found(
      { SESSION: sessions.rejected },
      [sessions.rejected, 'document_rejected'],
      ['document_rejected', 'the user may try again'],
      ['another document may do'],
    ),
    16: found({ REQUEST: refused.rate_limited }, ['Spend limit exceeded: minute bucket', partner.clientId]),
    17: found({}, ['/api/verify/hvf-session/:session_id']),
    18: found({ DAYS: '60' }, ['deliveries.resend', 'enrollments.unblock', 'deliveries.cancel']),
    19: found(
      { SECRET: partner.apiKey },
      [2, `svc_test_…${key.last4}`, 'not sent anywhere'],
      [partner.partnerId],
      ['Would do:', partner.keyId],
    ),
    20: found({ ENTRY: entry }, ['Refundable', 'yes', sessions.charged], ['wallets entry']),
    21: found(
      { REQUEST: mistyped, CLIENT: partner.clientId, URI: redirectUri },
      [mistyped, 'invalid_request'],
      [redirectUri, 'must match exactly'],
      [redirectUri],
    ),
    22: found({ STATE: state }, [sessions.charged]),
    23: found(
      { DELIVERY: failed.id },
      ['1'],
      ['id,last_status', failed.id, '500'],
      ["receiver's own code fails", '500'],
    ),
    24: found({}, ['300', '1 of 1 shown']),
    25: { values: { USER: user.id, PASSKEY: passkey }, answers: [[passkey], [2, '--yes']] },
  };
}, within(90_000));
afterAll(() => desk.stop());

/** Splits `a "b c"` as a shell does, and replaces words in capitals by values. */
function argumentsOf(command: string, values: Record<string, string>): string[] {
  const times = ['1h', new Date(Date.now() + 60_000).toISOString()];
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = '']) => {
    if (quoted !== undefined) return quoted;
    if (word === 'TIME') return times.shift() ?? '';
    return values[word] ?? word;
  });
}

/** Runs a command that only Ctrl-C ends, until it has printed something. `act` causes that output. */
function follow({ cwd, env }: CommandLine, args: string[], act: () => Promise<unknown>): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [executable, ...args], { cwd, env });
    const ended: Ended = { code: null, stdout: '', stderr: '' };
    const giveUp = setTimeout(() => child.kill('SIGKILL'), within(30_000));
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      ended.stdout += chunk;
      child.kill('SIGINT');
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      ended.stderr += chunk;
      if (chunk.includes('Ctrl-C')) act().catch(reject);
    });
    child.on('error', reject).on('close', (code) => {
      clearTimeout(giveUp);
      resolve({ ...ended, code });
    });
  });
}

const query = () =>
  fetch(`${desk.server.baseUrl}/api/verify/hvf-session/${desk.sessions.charged}`, {
    headers: { authorization: `Bearer ${desk.partner.apiKey}` },
  });

describe('docs/support.md', () => {
  it('has 25 questions with at most three commands each', () => {
    expect(questions.map(({ number }) => number)).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
    for (const { commands } of questions) expect(commands.length).toBeLessThanOrEqual(3);
  });

  it('has a table of 37 commands, which all exit with 0 for an operator with the role support', {
    timeout: within(120_000),
  }, async () => {
    const [, table = ''] = /^## How many[\s\S]*?\n\n(\|[\s\S]*?)\n\n/m.exec(text) ?? [];
    const commands = [...table.matchAll(/`svcadmin (.*)` \|$/gm)].map(([, command = '']) => command);
    expect(commands).toHaveLength(38);
    const { partnerId, clientId, keyId } = desk.partner;
    const ids = { PARTNER: partnerId, CLIENT: clientId, KEY: keyId, SUB: desk.sub };
    const values = { ...ids, MODE: 'test', 'source=SOURCE': 'source=sandbox' };
    for (const command of commands) {
      const { code, stderr } = await desk.run(argumentsOf(command, values));
      expect(code, `${command}\n${stderr}`).toBe(0);
    }
    const failed = await desk.run(argumentsOf(commands[0] ?? '', values));
    expect(failed.stdout).toContain('Acme Cinema\t1');
  });

  it('has commands that print the answer to each question for an operator with the role support', {
    timeout: within(240_000),
  }, async () => {
    for (const { number, title, commands } of questions) {
      const { values, answers } = cases[number] ?? { values: {}, answers: [] };
      expect(answers, title).toHaveLength(commands.length);
      for (const [n, command] of commands.entries()) {
        const args = argumentsOf(command, values);
        const isFollowing = args[0] === 'tail';
        const ended = await (isFollowing ? follow(desk.svcadmin, args, query) : desk.run(args));
        const shown = `${number}. ${args.join(' ')}\n${ended.stdout}${ended.stderr}`;
        const expected = answers[n] ?? [];
        expect(ended.code, shown).toBe(expected.find((one) => typeof one === 'number') ?? 0);
        for (const words of expected) if (typeof words === 'string') expect(shown).toContain(words);
        if (values['SECRET']) expect(ended.stdout + ended.stderr).not.toContain(values['SECRET']);
      }
    }
  });
});
