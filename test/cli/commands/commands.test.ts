import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientView } from '../../../contracts/admin/clients.ts';
import { EndpointView, KeyView } from '../../../contracts/admin/keys.ts';
import { PartnerView } from '../../../contracts/admin/partners.ts';
import { LimitsView, PricesView, WalletView } from '../../../contracts/admin/wallets.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

/** Creates a partner through the admin API, for tests of other commands. */
const create = () => server.admin.partners.create.mutate({ name: 'Acme Ltd' });

describe('svcadmin partners', () => {
  it('creates, activates, suspends, shows and lists a partner', async () => {
    const { id, status } = PartnerView.parse(await svcadmin.json('partners', 'create', 'Acme Ltd'));
    expect(status).toBe('pending');
    expect(await svcadmin.json('partners', 'activate', id)).toMatchObject({ id, status: 'active' });
    expect(await svcadmin.json('partners', 'suspend', id)).toMatchObject({ status: 'suspended' });
    expect(PartnerView.parse(await svcadmin.json('partners', 'show', id))).toMatchObject({
      name: 'Acme Ltd',
    });
    const suspended = await svcadmin.json<PartnerView[]>(
      ...['partners', 'list', '--status', 'suspended', '--limit', '1'],
    );
    expect(suspended).toMatchObject([{ id }]);
  });

  it('show prints one field a line, and times in local time', async () => {
    const { id, createdAt } = await create();
    const { stdout, stderr, code } = await svcadmin.run(['partners', 'show', id]);
    const day = new Date(createdAt);
    const clock = day.toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' });
    const zone = day
      .toLocaleString('en', { timeZone: 'Europe/Berlin', timeZoneName: 'longOffset' })
      .slice(-6);
    const local = `${clock}${zone}`;
    expect(stdout.split('\n')).toEqual([
      `ID          ${id}`,
      'Name        Acme Ltd',
      'Status      pending',
      'Logo        -',
      'Contacts    -',
      'VAT ID      -',
      'Address     -',
      `Created at  ${local}`,
      '',
    ]);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  it('list prints column names and tab-separated rows if stdout is not a terminal', async () => {
    const { id } = await create();
    const { stdout } = await svcadmin.run(['partners', 'list', '--limit', '1']);
    const [names, row] = stdout.split('\n').map((line) => line.split('\t').slice(0, 3));
    expect(names).toEqual(['id', 'name', 'status']);
    expect(row).toEqual([id, 'Acme Ltd', 'pending']);
  });
});

describe('svcadmin', () => {
  it('creates a key, a client and an endpoint, changes them, unsets the endpoint and revokes the key', async () => {
    const { id: partner } = await create();
    const { apiKey, ...key } = await svcadmin.json<KeyView & { apiKey: string }>(
      ...['keys', 'create', '--partner', partner],
    );
    expect(apiKey).toMatch(/^svc_test_/);
    expect(KeyView.parse(key)).toMatchObject({ mode: 'test', status: 'active' });
    const uris = ['https://shop.example/a', 'http://localhost:3000/b'];
    const { clientSecret, ...client } = await svcadmin.json<ClientView & { clientSecret: string }>(
      ...['clients', 'create', '--partner', partner, '--key', key.id, '--name', 'Shop'],
      ...uris.flatMap((uri) => ['--redirect-uri', uri]),
      ...['--claims', 'age_18_plus country'],
    );
    expect(clientSecret).toMatch(/^svc_secret_/);
    expect(ClientView.parse(client)).toMatchObject({
      kind: 'oauth',
      redirectUris: uris,
      claims: ['age_18_plus', 'country'],
    });
    const updated = await svcadmin.json(
      ...['clients', 'update', client.id, '--claims', 'country', '--token-requests-per-minute', '90'],
    );
    expect(ClientView.parse(updated)).toMatchObject({ claims: ['country'], tokenRequestsPerMinute: 90 });
    const reset = await svcadmin.json('clients', 'update', client.id, '--token-requests-per-minute', '0');
    expect(reset).toMatchObject({ tokenRequestsPerMinute: null });
    const openid = ['--openid', 'on', '--default-claims', 'country', '--id-token-alg', 'ES256'];
    expect(await svcadmin.json('clients', 'update', client.id, ...openid)).toMatchObject({
      openid: true,
      defaultClaims: ['country'],
      idTokenAlg: 'ES256',
    });
    const without = ['--openid', 'off', '--default-claims', 'default'];
    expect(await svcadmin.json('clients', 'update', client.id, ...without)).toMatchObject({
      openid: false,
      defaultClaims: [],
    });
    expect(await svcadmin.json('clients', 'disable', client.id)).toMatchObject({ status: 'disabled' });
    expect(await svcadmin.json('clients', 'enable', client.id)).toMatchObject({ status: 'active' });
    // The default source of a test client.
    for (const where of ['source=sandbox', 'source!=other'])
      expect(await svcadmin.json('clients', 'list', '--key', key.id, '--where', where)).toHaveLength(1);
    expect(await svcadmin.json('clients', 'list', '--key', key.id, '--where', 'source=')).toEqual([]);
    expect(await svcadmin.json('clients', 'list', '--key', key.id)).toMatchObject([{ id: client.id }]);
    const { signingSecret, ...hook } = await svcadmin.json<EndpointView & { signingSecret: string }>(
      ...['webhooks', 'set', key.id, '--url', 'https://shop.example/hooks'],
    );
    expect(signingSecret).toMatch(/^whsec_/);
    expect(EndpointView.parse(hook)).toMatchObject({ url: 'https://shop.example/hooks' });
    expect(await svcadmin.json('keys', 'list', '--partner', partner)).toMatchObject([
      { webhookUrl: hook.url },
    ]);
    expect(await svcadmin.json('webhooks', 'unset', key.id, '--yes')).toMatchObject({ url: null });
    expect(await svcadmin.json('keys', 'revoke', key.id, '--yes')).toMatchObject({ status: 'revoked' });
  });

  it('clients rotate-secret --keep-old 24h lists the old client secret beside the new one', async () => {
    const { id: partner } = await create();
    const { id: key } = await server.admin.keys.create.mutate({ partnerId: partner, mode: 'test' });
    const { id } = await server.admin.clients.create.mutate({
      ...{ partnerId: partner, keyId: key, name: 'Shop' },
      ...{ redirectUris: ['https://shop.example/'], claims: ['country'] },
    });
    const rotated = await svcadmin.json<ClientView>(
      ...['clients', 'rotate-secret', id, '--keep-old', '24h', '--yes'],
    );
    expect(rotated.secrets).toHaveLength(2);
  });
});

describe('svcadmin keys list', () => {
  it('lists with --unused-since only keys that were not used since that time, nor by their clients', async () => {
    const { id: partnerId } = await create();
    const dayMs = 86_400_000;
    const ago = (days: number) => new Date(Date.now() - days * dayMs);
    const made = async (fields: object): Promise<string> => {
      const { id } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
      const keys = server.db.collection<{ _id: string }>('apiKeys');
      await keys.updateOne({ _id: id }, { $set: { createdAt: ago(90), ...fields } });
      return id;
    };
    const never = await made({});
    const longAgo = await made({ lastUsedAt: ago(40), createdAt: ago(91) });
    await made({ lastUsedAt: ago(2) });
    await made({ oldSecrets: [{ hash: 'h', last4: 'aB3d', expiresAt: ago(-1), lastUsedAt: ago(1) }] });
    await made({ createdAt: ago(3) });
    await made({ rotatedAt: ago(4) });
    await made({ webhook: { url: 'https://shop.example/', secretVersion: 1, lastUsedAt: ago(5) } });
    const clientOf = async (kind: 'oauth' | 'storefront', secrets: object[]) => {
      const wanted = {
        partnerId,
        keyId: await made({ createdAt: ago(89) }),
        kind,
        name: 'Shop',
        claims: ['age_18_plus' as const],
      };
      const redirectUris = ['https://shop.example/callback'];
      const { id, keyId } = await server.admin.clients.create.mutate({ ...wanted, redirectUris });
      const clients = server.db.collection<{ _id: string }>('clients');
      await clients.updateOne({ _id: id }, { $set: { createdAt: ago(90), secrets } });
      return { clientId: id, keyId };
    };
    await clientOf('oauth', [{ hash: 'used', lastUsedAt: ago(6) }]);
    const idle = await clientOf('oauth', [{ hash: 'idle', lastUsedAt: ago(40) }]);
    const { clientId } = await clientOf('storefront', [{ hash: 'shop' }]);
    await server.admin.integrations.create.mutate({ partnerId, clientId, shops: ['shop.example'] });
    const unused = ['keys', 'list', '--partner', partnerId, '--unused-since', '30d'];
    expect(await svcadmin.json(...unused)).toMatchObject([
      { id: idle.keyId },
      { id: never },
      { id: longAgo },
    ]);
    expect(await svcadmin.json(...unused, '--count')).toEqual({ total: 3, exact: true });
  });
});

describe('svcadmin wallets, limits and prices', () => {
  it('fund a wallet once for each reference, set spend caps and prices, and show them', async () => {
    const { id } = await create();
    const fund = ['wallets', 'fund', id, '--mode', 'test', '--amount', '50.25', '--reference', 'INV-1'];
    expect(await svcadmin.json(...fund)).toMatchObject({ amount: 5025, balanceAfter: 5025, repeated: false });
    expect(await svcadmin.json(...fund)).toMatchObject({ balanceAfter: 5025, repeated: true });
    expect(WalletView.parse(await svcadmin.json('wallets', 'show', id))).toMatchObject({
      balance: 5025,
      currency: 'USD',
    });
    const { stdout } = await svcadmin.run([...fund.slice(0, -1), 'INV-2']);
    expect(stdout.split('\n')[0]).toBe('50.25 → 100.50 USD');
    const limits = await svcadmin.json('limits', 'set', id, '--per-minute', '300');
    expect(LimitsView.parse(limits)).toMatchObject({ perMinute: 300, used: { minute: 0, hour: 0 } });
    expect(LimitsView.parse(await svcadmin.json('limits', 'show', id))).toEqual(limits);
    const prices = await svcadmin.json('prices', 'set', id, '--kind', 'token', '--cents', '40');
    expect(PricesView.parse(prices)).toMatchObject({ token: 40, overridden: ['token'] });
    expect(await svcadmin.json('prices', 'show')).toMatchObject({ partnerId: null, token: 50 });
  });
});

describe('the secret of a new API key', () => {
  it('is written by --out-file to a new file that only its owner can read, and not to stdout', async () => {
    const { id: partner } = await create();
    const shown = await svcadmin.run(['keys', 'create', '--partner', partner, '--out-file', 'key.txt']);
    const file = join(svcadmin.cwd, 'key.txt');
    expect(await readFile(file, 'utf8')).toMatch(/^svc_test_\w+\n$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(shown.stdout + shown.stderr).not.toContain('svc_test_');
    const again = await svcadmin.run([
      ...['keys', 'create', '--partner', partner, '--out-file', 'key.txt', '--json'],
    ]);
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(await svcadmin.json('keys', 'list', '--partner', partner)).toHaveLength(1);
  });

  it('leaves no file of --out-file behind, and exits with 3, if there is no operator token', async () => {
    const create = ['keys', 'create', '--partner', 'ptr_1', '--out-file', 'no-key.txt'];
    expect(await svcadmin.run(create, { env: { SVCADMIN_TOKEN: '' } })).toMatchObject({ code: 3 });
    await expect(stat(join(svcadmin.cwd, 'no-key.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is printed once, on stdout only', async () => {
    const { id: partner } = await create();
    const { stdout, stderr } = await svcadmin.run(['keys', 'create', '--partner', partner]);
    expect(stdout.match(/svc_test_/g)).toHaveLength(1);
    expect(stderr).not.toContain('svc_test_');
  });
});
