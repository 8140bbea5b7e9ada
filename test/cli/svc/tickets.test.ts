import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { newStart, startUrl } from '../../journey/pkce.ts';
import { type MemberLine, memberLine } from './member-line.ts';

const clock = manualClock();
let server: TestServer;
let partner: TestPartner;
let svc: MemberLine;
beforeAll(async () => {
  const replacements = { pace: { jobsEvery: 100 } };
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' }, replacements });
  partner = await createPartner(server);
  svc = await memberLine(server, partner.partnerId, 'owner');
}, within(60_000));
afterAll(() => server.stop());

const failure = (stderr: string) =>
  (JSON.parse(stderr.trim().split('\n').at(-1) ?? '{}') as { error: { code: string; hint?: string } }).error;

describe('a member of a partner with svc', () => {
  it('changes redirect URIs and branding, and registers a second client, by svc clients', async () => {
    const { clientId, keyId } = partner;
    const uri = 'http://localhost:4000/second';
    expect(await svc.json('clients', 'update', clientId, '--add-redirect-uri', uri)).toMatchObject({
      redirectUris: expect.arrayContaining([uri]),
    });
    expect(await svc.json('clients', 'update', clientId, '--remove-redirect-uri', uri)).toMatchObject({
      redirectUris: [partner.redirectUri],
    });
    const branded = await svc.json(
      ...['clients', 'update', clientId, '--brand-name', 'Acme', '--brand-color', '#0a7f5c'],
    );
    expect(branded).toMatchObject({ brandName: 'Acme', brandColor: '#0a7f5c' });
    const made = await svc.json<{ id: string; clientSecret: string }>(
      ...[
        ...['clients', 'create', '--key', keyId, '--name', 'Second', '--redirect-uri', uri, '--claims'],
        'age_18_plus',
      ],
    );
    expect(made.clientSecret).toMatch(/^svc_secret_/);
    expect(await svc.json('clients', 'list')).toHaveLength(2);
    expect(await svc.json('clients', 'disable', made.id, '--yes')).toMatchObject({ status: 'disabled' });
  });

  it('lists and shows deliveries, and resends them singly and in bulk', async () => {
    const receiver = await startReceiver();
    const { keyId } = partner;
    await svc.json('webhooks', 'set', keyId, '--url', receiver.url, '--yes');
    expect(await svc.json('webhooks', 'test', keyId)).toMatchObject({ status: 'delivered' });
    const sent = await svc.json<{ id: string }>('trigger', 'vae.resolved');
    const [listed] = await svc.json<{ id: string }[]>('deliveries', 'list', '--event', 'vae.resolved');
    expect(listed?.id).toBe(sent.id);
    expect(await svc.json('deliveries', 'show', sent.id)).toMatchObject({ keyId, event: 'vae.resolved' });
    const arrived = () =>
      svc.json<unknown[]>('deliveries', 'list', '--event', 'vae.resolved', '--status', 'delivered');
    await expect.poll(async () => (await arrived()).length, { timeout: within(15_000) }).toBe(1);
    clock.advance(1_000);
    const span = ['--since', '1h', '--event', 'vae.resolved', '--status', 'delivered', '--yes'];
    const job = await svc.json<{ id: string }>('deliveries', 'resend', ...span);
    expect(await svc.json('bulk', 'show', job.id)).toMatchObject({ status: 'done', leftOut: 0 });
    expect(await svc.json('deliveries', 'resend', sent.id)).toMatchObject([{ resendOf: sent.id }]);
    expect(await svc.json('webhooks', 'health', keyId)).toMatchObject([{ keyId }]);
    receiver.close();
  });

  it('runs svc trigger flow for a rejected document, and sees the session, its event and a refused request', async () => {
    const walked = await svc.json<Record<string, string>>(
      ...[
        ...['trigger', 'flow', '--person', 'rejected', '--client', partner.clientId, '--reference'],
        'order-1734',
      ],
    );
    expect(walked).toMatchObject({ error: 'verification_failed', code: null, codeVerifier: null });
    const [found] = await svc.json<{ id: string }[]>('sessions', 'list', '--reference', 'order-1734');
    expect(found?.id).toBe(walked['sessionId']);
    expect(await svc.json('sessions', 'show', found?.id ?? '')).toMatchObject({
      failure: { reason: 'document_rejected' },
    });
    const [event] = await svc.json<{ id: string }[]>(
      'events',
      'list',
      '--session',
      found?.id ?? '',
      '--event',
      'verification.session.failed',
    );
    expect(await svc.json('events', 'show', event?.id ?? '')).toMatchObject({
      event: 'verification.session.failed',
    });
    const refused = await fetch(`${server.publicUrl}/verify/start?client_id=${partner.clientId}`);
    const id = refused.headers.get('x-request-id') ?? '';
    await expect.poll(async () => (await svc.run(['requests', 'show', id])).code).toBe(0);
    expect(await svc.json('requests', 'list', '--status', '4xx')).toMatchObject([{ id }]);
  });

  it('learns from svc requests show that its client is disabled, and since when', async () => {
    const { clientId, redirectUri } = partner;
    await server.admin.clients.disable.mutate({ clientId });
    const start = { baseUrl: server.baseUrl, clientId, redirectUri, scope: 'age_18_plus', ...newStart() };
    const refused = await fetch(startUrl(start));
    const id = refused.headers.get('x-request-id') ?? '';
    await expect.poll(async () => (await svc.run(['requests', 'show', id])).code).toBe(0);
    const { stdout, stderr } = await svc.run(['requests', 'show', id]);
    await server.admin.clients.enable.mutate({ clientId });
    expect(stdout).toMatch(new RegExp(`Refused because the client .* \\(${clientId}\\) is disabled since `));
    expect(stderr).toContain(`Next: svc clients enable ${clientId}`);
  });

  it('gets exit code 1 and the right base URL from svc trigger flow if --url is another address', async () => {
    const profile = join(svc.cwd, 'config', 'svc', 'profiles.json');
    const kept = readFileSync(profile, 'utf8');
    writeFileSync(profile, kept.replace(server.baseUrl, server.publicUrl));
    const args = ['trigger', 'flow', '--client', partner.clientId, '--url', server.publicUrl, '--json'];
    const { code, stderr } = await svc.run(args);
    writeFileSync(profile, kept);
    expect([code, failure(stderr).hint]).toEqual([1, expect.stringContaining(server.baseUrl)]);
  });

  it('gets a code and a code verifier from svc trigger flow, which can be exchanged for a token', async () => {
    const walked = await svc.json<Record<string, string>>(
      ...['trigger', 'flow', '--client', partner.clientId, '--claims', 'age_18_plus'],
    );
    const answer = await fetch(`${server.publicUrl}/api/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: walked['code'] ?? '',
        code_verifier: walked['codeVerifier'] ?? '',
        redirect_uri: walked['redirectUri'] ?? '',
        client_id: partner.clientId,
        client_secret: partner.clientSecret,
      }),
    });
    const granted = (await answer.json()) as { access_token: string };
    expect(granted).toMatchObject({ token_type: 'Bearer', scope: 'age_18_plus' });
    const { sub } = decodeJwt(granted.access_token);
    const [user] = await svc.json<{ id: string }[]>('enrollments', 'list', '--sub', String(sub));
    expect(await svc.json('enrollments', 'show', user?.id ?? '')).toMatchObject({
      clientId: partner.clientId,
      status: 'active',
    });
  });

  it('cannot change the request limit of a client, because svc clients update has no such flag (exit 2)', async () => {
    const limit = ['--token-requests-per-minute', '1000'];
    expect((await svc.run(['clients', 'update', partner.clientId, ...limit])).code).toBe(2);
    const { clientId } = partner;
    const { tokenRequestsPerMinute } = await server.admin.clients.show.query({ clientId });
    expect(tokenRequestsPerMinute).not.toBe(1_000);
  });

  it('sees balance, statement and prices, and changes spend caps, warnings and members', async () => {
    const { partnerId } = partner;
    expect(await svc.json('wallet')).toMatchObject({ partnerId, mode: 'test', balance: expect.any(Number) });
    expect(await svc.json('statement')).toMatchObject({ partnerId, entries: expect.any(Array) });
    expect(await svc.json('limits', 'set', '--per-minute', '30')).toMatchObject({ partnerId, perMinute: 30 });
    expect(await svc.json('limits', 'show')).toMatchObject({ perMinute: 30 });
    expect(await svc.json('prices')).toMatchObject({ partnerId });
    await svc.json('warnings', 'set', '--email', 'dev@shop.example');
    expect(await svc.json('warnings', 'show')).toMatchObject({ emails: ['dev@shop.example'] });
    const { id } = await svc.json<{ id: string }>(
      ...['members', 'invite', 'new@shop.example', '--role', 'viewer'],
    );
    expect(await svc.json('members', 'role', id, '--role', 'finance')).toMatchObject({ role: 'finance' });
    expect(await svc.json('members', 'remove', id, '--yes')).toMatchObject({ status: 'removed' });
  });
});

describe('svc', () => {
  it('exits with 2 for wrong usage, with 3 if no token belongs to the server, and with 4 for an unknown record', async () => {
    for (const [args, code] of [
      [['keys', 'conjure'], 2],
      [['keys', 'show', 'key_0000000000000000000000'], 4],
      [['keys', 'revoke', partner.keyId], 2],
      [['trigger', 'flow', '--person', 'nobody', '--client', partner.clientId], 2],
    ] as const)
      expect([args, (await svc.run([...args])).code]).toEqual([args, code]);
    const elsewhere = await svc.run(['wallet', '--url', 'http://127.0.0.1:1', '--json']);
    expect([elsewhere.code, failure(elsewhere.stderr).code]).toEqual([3, 'no_token']);
  });

  it('exits with 4 for a record of another partner, and with 3 for a change by a viewer', async () => {
    clock.advance(60_000);
    const other = await createPartner(server);
    const viewer = await memberLine(server, partner.partnerId, 'viewer');
    expect((await svc.run(['clients', 'show', other.clientId])).code).toBe(4);
    expect((await viewer.run(['keys', 'list'])).code).toBe(0);
    const refused = await viewer.run(['keys', 'create', '--json']);
    expect([refused.code, failure(refused.stderr).code]).toEqual([3, 'not_permitted']);
    expect(failure(refused.stderr).hint).toContain('svc whoami');
  });

  it('exits with 3 if the passkey sign-in is older than 30 minutes, and names the page to sign in again', async () => {
    clock.advance(30 * 60_000);
    const refused = await svc.run(['keys', 'create', '--json']);
    expect([refused.code, failure(refused.stderr).code]).toEqual([3, 'passkey_required']);
    expect(failure(refused.stderr).hint).toContain(`${server.baseUrl}/portal/devices`);
  });

  it('whoami shows the signed-in member, and logout makes the token invalid at the server', async () => {
    clock.advance(60_000);
    const line = await memberLine(server, partner.partnerId, 'developer');
    expect(await line.json('whoami')).toMatchObject({ role: 'developer', partner: 'Acme Cinema' });
    expect(await line.json('logout')).toEqual({ forgotten: 'default', ended: true });
    expect((await line.run(['whoami'])).code).toBe(3);
    const answer = await fetch(`${server.publicUrl}/portal/device/login`, {
      headers: { authorization: `Bearer ${line.token}` },
    });
    expect(answer.status).toBe(401);
  });
});
