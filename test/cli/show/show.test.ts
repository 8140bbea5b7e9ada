import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listedErrors, searchErrors } from '../../../cli/errors/search.ts';
import { findSecret, identify } from '../../../cli/show/identify.ts';
import { loaders } from '../../../cli/show/loaders.ts';
import { errorTable } from '../../../contracts/errors.ts';
import type { IdentifierKind } from '../../../contracts/identifiers.ts';
import { randomId, randomSecret } from '../../../server/platform/ids.ts';
import { signedIn } from '../../console/portal/signed-in.ts';
import { createPartner } from '../../harness/partner.ts';
import { startTestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { type Desk, openDesk } from '../commands/desk.ts';
import type { CommandLine } from '../svcadmin.ts';

interface Shown {
  kind: string;
  id: string;
  record: Record<string, unknown>;
  related: { kind: string; id: string; note: string }[];
}

let desk: Desk;
let svcadmin: CommandLine;
beforeAll(async () => {
  desk = await openDesk();
  svcadmin = desk.svcadmin;
}, within(90_000));
afterAll(() => desk.stop());

describe('an argument of svcadmin show', () => {
  const kinds = ['partner', 'client', 'apiKey', 'integration', 'session', 'enrollment', 'event'] as const;
  it.each([...kinds, 'delivery', 'entry', 'operator', 'user'] satisfies IdentifierKind[])(
    'is recognised as an id of the kind %s, also within a sentence or a URL',
    (kind) => {
      const id = randomId(kind);
      for (const text of [id, `see ${id}.`, `https://x.example/a/${id}?b=c`, `"${id}"`])
        expect(identify(text)).toEqual({ kind, id });
    },
  );

  it('is recognised as the id of a wallet, refund, user or job, but not if it is incomplete or malformed', () => {
    const [partner, entry] = [randomId('partner'), randomId('entry')];
    expect(identify(`${partner}:live`)).toEqual({ kind: 'wallet', id: `${partner}:live` });
    expect(identify(`rev_${entry}`)).toEqual({ kind: 'entry', id: `rev_${entry}` });
    expect(identify('a'.repeat(43))).toEqual({ kind: 'subject', id: 'a'.repeat(43) });
    expect(identify('0123456789abcdef01234567')).toMatchObject({ kind: 'job' });
    for (const text of ['', 'ptr_', 'ptr_short', `x${partner}`, `${partner}x`])
      expect(identify(text)).toBeUndefined();
  });

  it.each([
    ['a client secret', 'clientSecret'],
    ['a test API key', 'testKey'],
    ['a live API key', 'liveKey'],
    ['an authorization code', 'code'],
    ['a webhook signing secret', 'webhookSecret'],
    ['an integration secret', 'integrationSecret'],
    ['an operator token', 'operatorToken'],
  ] as const)(
    'is recognised as %s, of which the result contains at most the last characters',
    (name, kind) => {
      const secret = randomSecret(kind);
      for (const text of [secret, `Authorization: Bearer ${secret}`, `?code=${secret}&state=x`]) {
        const found = findSecret(text);
        expect(found).toMatchObject({ name });
        expect(JSON.stringify(found)).not.toContain(secret.slice(0, -4).slice(-8));
      }
    },
  );
});

describe('svcadmin show', () => {
  it('prints for each of twelve kinds of record the ids of its related records, each once', async () => {
    const { sessions, partner, enrollment, sub, entry, deliveries, refused, api } = desk;
    const { partnerId, clientId, keyId } = partner;
    const { id: deliveryId, eventId } = deliveries.failed;
    const all = [partnerId, clientId, keyId, enrollment.active, sub, entry, eventId, deliveryId];
    const leads: Record<string, string[]> = {
      [sessions.charged]: all,
      [entry]: [partnerId, clientId, sessions.charged, enrollment.active],
      [enrollment.active]: [partnerId, clientId, sub, sessions.charged, eventId],
      [sub]: [enrollment.active, partnerId, clientId],
      [eventId]: [partnerId, keyId, sessions.charged, deliveryId],
      [deliveryId]: [eventId, partnerId, keyId],
      [partnerId]: [keyId, clientId, `${partnerId}:test`, `${partnerId}:live`],
      [clientId]: [partnerId, keyId],
      [keyId]: [partnerId, clientId],
      [`${partnerId}:test`]: [partnerId],
      [refused.invalid_grant]: [partnerId, clientId],
      [desk.operatorId]: [],
    };
    for (const [id, expected] of Object.entries(leads)) {
      const identified = identify(id);
      expect(identified?.id).toBe(id);
      const shown = await loaders[identified?.kind ?? 'job'](api, id, {});
      const ids = shown.related.map((row) => row.id);
      expect(ids, id).toEqual(expect.arrayContaining(expected));
      expect(new Set(ids).size, id).toBe(ids.length);
    }
  });

  it('prints for a ledger entry and for a request the member or operator who made the change', async () => {
    const server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
    onTestFinished(() => server.stop());
    const { admin } = server;
    const { partnerId } = await createPartner(server);
    const member = await signedIn(server, partnerId, 'owner');
    await member.api.limits.set.mutate({ partnerId, mode: 'test', perMinute: 30 });
    const page = await server.db.collection('ledger').findOne({ 'entries.memo.actor': member.id });
    const memberRow = { kind: 'member', id: member.id, note: 'did it' };
    expect((await loaders.entry(admin, page?.['entries'][0].id, {})).related).toContainEqual(memberRow);

    const changeBy = (actor: string) =>
      vi.waitFor(async () => {
        const [change] = await admin.auditLog.list.query({ actor });
        if (!change?.requestId) throw new Error(`no change by ${actor} is in the audit log`);
        return loaders.request(admin, change.requestId, {});
      }, within(20_000));
    expect((await changeBy(member.id)).related).toContainEqual(memberRow);
    const operatorRow = { kind: 'operator', id: 'opr_first', note: 'did it' };
    expect((await changeBy('opr_first')).related).toContainEqual(operatorRow);
  });

  it('prints with --json the record and its related records', async () => {
    const { sessions, partner } = desk;
    const shown = await svcadmin.json<Shown>('show', sessions.charged);
    expect(shown).toMatchObject({ kind: 'session', id: sessions.charged, record: { status: 'complete' } });
    expect(shown.related).toContainEqual({ kind: 'partner', id: partner.partnerId, note: '' });
    expect(shown.related.filter(({ kind }) => kind === 'request').length).toBeGreaterThan(2);
  });

  it('names for a charge the command that shows who made its price', async () => {
    const { entry, partner } = desk;
    const { stderr } = await desk.run(['show', entry]);
    const changes = /Next: svcadmin (audit-log list --target \S+ --action prices\.set --until \S+)\n/.exec(
      stderr,
    );
    expect(changes?.[1]).toContain(`--target ${partner.partnerId} `);
    const { code, stderr: nothing } = await desk.run(changes?.[1]?.split(' ') ?? []);
    expect([code, nothing]).toEqual([0, expect.stringContaining('Nothing found, only')]);
  });

  it('accepts the URL of a hosted page, prints its session, and names the next command', async () => {
    const { sessions, partner } = desk;
    const url = `https://verify.example/verify/session/${sessions.rejected}?lang=de`;
    const { code, stdout, stderr } = await desk.run(['show', url]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^ID +${sessions.rejected}`));
    expect(stdout).toContain(`partner\t${partner.partnerId}`);
    expect(stderr).toContain('Next: svcadmin requests list --partner');
  });
});

describe('svcadmin', () => {
  it('prints with wallets statement --csv the session, client and enrollment of a charge', async () => {
    const { partner, entry, sessions, enrollment } = desk;
    const { stdout } = await desk.run(['wallets', 'statement', partner.partnerId, '--csv']);
    const line = stdout.split('\n').find((one) => one.includes(entry));
    const cause = [sessions.charged, partner.clientId, enrollment.active].join(',');
    expect(line?.endsWith(`,USD,,,${cause}`)).toBe(true);
  });

  it.each([
    ['show hello', 2, 'svcadmin partners list --search TEXT'],
    ['show invalid_grant', 2, 'svcadmin error invalid_grant'],
    ['show ses_0000000000000000000000', 4, 'No session ses_0000000000000000000000'],
    ['show 0123456789abcdef01234567', 3, 'ops or an owner may do it'],
    ['users find', 2, 'Name a person'],
    ['requests list --status 9xx', 2, 'such as 4xx'],
    ['requests refused --partner cli_1', 2, 'cli_1 is a client'],
    ['sessions list --since 1h --until 2h', 2, 'before it begins'],
    ['wallets list --days-left soon', 2, 'number of days'],
    ['partners list --search a', 2, 'at least two characters'],
  ])('%s exits with %i, and stderr says "%s"', async (args, exit, words) => {
    const { code, stdout, stderr } = await desk.run(args.split(' '));
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(words);
  });

  it.each([
    ...['show', 'partners list --search', 'users find', 'clients disable', 'sessions list --client'],
    'error',
  ])(
    '%s exits with 2 if its argument is a client secret, and says that the secret was not sent',
    async (words) => {
      const secret = desk.partner.clientSecret;
      const { code, stdout, stderr } = await desk.run([...words.split(' '), secret]);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(
        'svc_secret_… is a client secret: it was not looked up, and not sent anywhere',
      );
      expect(stderr).not.toContain(secret);
    },
  );
});

describe('svcadmin error', () => {
  it('lists every error code once, also those of redirects', async () => {
    const all = await svcadmin.json<{ code: string; kind: string }[]>('error');
    const codes = all.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining([...Object.keys(errorTable), 'document_rejected']));
    expect(new Set(codes).size).toBe(codes.length);
    expect(all.find(({ code }) => code === 'session_expired')).toMatchObject({ kind: 'redirect' });
  });

  it.each([
    ['rate_limited', 'Spend limit exceeded: hour bucket'],
    ['invalid_grant', 'Authorization code already used at 2026-07-01T09:00:00.000Z; charge txn_abc'],
    ['invalid_redirect_uri', 'redirect_uri differs from the one used at authorization'],
    ['payment_required', 'insufficient wallet balance'],
    ['foreign_session', 'Forbidden: this session belongs to a different API key'],
    ['invalid_scope', 'This client may no longer ask for age_18_plus'],
    ['abandoned', 'the user cancelled the verification'],
    ['session_not_found', 'Session not found or expired'],
  ])('finds %s by the message "%s"', (code, message) => {
    expect(searchErrors(message)[0]?.code).toBe(code);
  });

  it('finds the error of every text in the error table, and no error for other text', () => {
    for (const [code, { text }] of Object.entries(errorTable))
      expect(
        searchErrors(text).map((error) => error.code),
        text,
      ).toContain(code);
    expect(searchErrors('the printer is out of paper')).toEqual([]);
  });

  it('advises support about logins, idempotency keys and roles, and names svcadmin in no advice about roles', () => {
    const adviceOf = (code: string) => listedErrors.find((error) => error.code === code)?.advice;
    expect(adviceOf('expired_token')).toContain('the member starts `svc login` again');
    expect(adviceOf('device_login_denied')).toMatch(/^The member starts `svc login` again/);
    expect(adviceOf('idempotency_conflict')).toContain('a new Idempotency-Key');
    expect(adviceOf('not_permitted')).toContain('create an operator with another role');
    // It is advice of svcadmin, which needs no name there.
    expect(adviceOf('not_permitted')).not.toContain('svcadmin');
  });

  it('explains one matching error, lists several, exits with 4 for none, and needs no server', async () => {
    const env = { SVCADMIN_URL: 'http://127.0.0.1:1', SVCADMIN_TOKEN: '' };
    const run = (message: string) => svcadmin.run(['error', message, '--json'], { env });
    const one = await run('Invalid or inactive API key');
    expect(JSON.parse(one.stdout)).toMatchObject({ code: 'invalid_api_key', httpStatus: 401, exit: 3 });
    const several = await run('The enrollment of this user is blocked');
    const codes = (JSON.parse(several.stdout) as { code: string }[]).map(({ code }) => code);
    expect(codes.toSorted()).toEqual(['access_denied', 'enrollment_blocked']);
    expect((await run('out of paper')).code).toBe(4);
  });
});
