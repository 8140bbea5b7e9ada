import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderEnv } from '../../cli/onboarding/credentials.ts';
import { codeFor, createShop, shopDomain } from '../api/storefront/shop.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, redirectUri, verifyUser } from '../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { createBrowser, passFlow } from '../journey/browser.ts';
import { codeBlocks, fileBlock } from './markdown.ts';
import { cacheOf, hasProgram, start } from './programs.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

function save(directory: string, file: string, text: string): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), text);
}

describe('docs/quickstart.md', () => {
  const blocks = codeBlocks('quickstart.md');
  /** Writes the files of the page to a directory, unchanged except for the port. */
  async function follow() {
    const [cwd, port] = [temporaryFolder('docs'), await freePort()];
    // Another test may use the page's port.
    const adapted = (text: string) => text.replaceAll('3000', String(port));
    for (const { file, code } of blocks) if (file) save(cwd, file, adapted(code));
    return { cwd, port, adapted };
  }
  type Place = Awaited<ReturnType<typeof follow>>;

  /** Starts the page's application, and checks it as its user, for other browsers and for a forged event. */
  async function use({ cwd, port, adapted }: Place, file: string, events: readonly string[]) {
    const { code = '' } =
      blocks.find(({ role, code: text }) => role === 'start' && text.includes(file)) ?? {};
    const app = await start(['bash', '-euc', adapted(code)], { cwd, env: { TMPDIR: cwd }, port });
    const verified = async (person: string) => {
      const begin = await fetch(`http://localhost:${port}/`, { redirect: 'manual' });
      const cookie = begin.headers.get('set-cookie')?.split(';')[0] ?? '';
      const location = begin.headers.get('location') ?? '';
      return { end: await passFlow(createBrowser(server.baseUrl), location, person), headers: { cookie } };
    };
    for (const event of events) {
      const { end, headers } = await verified('adult');
      expect((await fetch(end)).status).toBe(400);
      const page = await fetch(end, { headers });
      expect(await page.json()).toMatchObject({ claims: { age_18_plus: true, country: 'DE' } });
      if (event) await expect.poll(app.lines).toContain(`event ${event}`);
      expect((await fetch(end, { headers })).status).toBe(400);
    }
    const { end, headers } = await verified('rejected');
    expect(await (await fetch(end, { headers })).text()).toBe('Not verified: verification_failed');
    const forged = await fetch(`http://localhost:${port}/hooks`, {
      method: 'POST',
      headers: { 'x-svc-signature': `sha256=${'0'.repeat(64)}` },
      body: '{}',
    });
    expect(forged.status).toBe(401);
  }

  const applications = [
    { file: 'app.mjs', program: 'node', events: ['enrollment.created', 'vae.resolved'] },
    // The user returns.
    { file: 'app.py', program: 'python3', events: ['vae.resolved'] },
    { file: 'app.php', program: 'php', events: ['vae.resolved'] },
  ];

  describe('copied with its commands', () => {
    let place: Place;
    beforeAll(async () => {
      place = await follow();
      const { cwd, adapted } = place;
      symlinkSync(join(repository, 'cli'), join(cwd, 'cli'));
      const env = { ...process.env, SVCADMIN_URL: server.adminUrl, SVCADMIN_TOKEN: adminToken };
      for (const { role, code } of blocks)
        if (role === 'run') await promisify(execFile)('bash', ['-euc', adapted(code)], { cwd, env });
    });

    it.for(applications)(
      'has an application $file that shows the first claim and an event',
      async ({ file, program, events }, { skip }) => {
        if (!hasProgram(program)) skip(`this machine has no ${program}`);
        await use(place, file, events);
      },
    );
  });

  it.for(applications)(
    'has an application $file that, copied without its webhook settings, shows the first claim',
    async ({ file, program }, { skip }) => {
      if (!hasProgram(program)) skip(`this machine has no ${program}`);
      const place = await follow();
      const redirectUris = [`http://localhost:${place.port}/callback`];
      const { clientId, clientSecret, apiKey } = await createPartner(server, { client: { redirectUris } });
      const sent = {
        SVC_BASE_URL: server.baseUrl,
        SVC_CLIENT_ID: clientId,
        SVC_CLIENT_SECRET: clientSecret,
        SVC_API_KEY: apiKey,
        SVC_REDIRECT_URI: redirectUris[0] ?? '',
      };
      save(place.cwd, 'my-shop/.env', renderEnv(sent).join('\n'));
      await use(place, file, ['']);
    },
  );
});

describe('docs/webhooks.md', () => {
  it.for([
    { file: 'receiver.mjs', command: ['node', 'receiver.mjs'], version: '--version' },
    { file: 'receiver.py', command: ['python3', 'receiver.py'], version: '--version' },
    { file: 'receiver.php', command: ['php', '-S', '127.0.0.1:PORT', 'receiver.php'], version: '--version' },
    { file: 'receiver.go', command: ['go', 'run', 'receiver.go'], version: 'version' },
  ])(
    'has a receiver $file that prints each resent event only once, and answers 401 to forged requests',
    async ({ file, command, version }, { skip }) => {
      const code = fileBlock('webhooks.md', file);
      if (!hasProgram(command[0] ?? '', version)) skip(`this machine has no ${command[0]}`);
      const [cwd, port] = [temporaryFolder('docs'), await freePort()];
      save(cwd, file, code);
      const partner = await createPartner(server);
      const url = `http://localhost:${port}/hooks`;
      const { keyId, partnerId } = partner;
      const { signingSecret } = await server.admin.webhooks.set.mutate({ keyId, url });
      // Files of a program are removed with the workspace.
      const litter = { TMPDIR: cwd, GOCACHE: cacheOf('go'), GOPROXY: 'off' };
      const env = { ...litter, SVC_WEBHOOK_SECRET: signingSecret, PORT: String(port) };
      const whole = command.map((part) => part.replace('PORT', String(port)));
      const receiver = await start(whole, { cwd, env, port });

      await verifyUser(server, partner);
      const list = () => server.admin.deliveries.list.query({ partnerId });
      const delivered = async () => (await list()).filter(({ status }) => status === 'delivered').length;
      await expect.poll(delivered).toBe(2);
      const [first] = await list();
      await server.admin.deliveries.resend.mutate({ deliveryIds: [first?.id ?? ''] });
      await expect.poll(delivered).toBe(3);
      const printed = () => receiver.lines().filter((line) => / evt_/.test(line));
      await expect.poll(() => printed().length).toBe(2);
      for (const { event, eventId } of await list()) expect(printed()).toContain(`${event} ${eventId}`);

      const forged = { 'x-svc-signature': `sha256=${'0'.repeat(64)}` };
      for (const headers of [{}, forged, { 'x-svc-signature': 'sha256=' }])
        expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(401);
    },
  );
});

describe('docs/storefront.md', () => {
  const caller = {
    mjs: `import { exchange } from './exchange.mjs';
      const [account, ...all] = JSON.parse(process.argv[2]);
      const answers = [];
      for (const fields of all) answers.push(await exchange(account, fields));
      console.log(JSON.stringify(answers));`,
    py: `import json, sys
from exchange import exchange
account, *all = json.loads(sys.argv[1])
answers = [exchange(account["baseUrl"], account["integrationId"], account["integrationSecret"], fields) for fields in all]
print(json.dumps([{"status": status, "body": body} for status, body in answers]))`,
    php: `<?php
require 'exchange.php';
$all = json_decode($argv[1], true);
$account = array_shift($all);
foreach ($all as $fields) {
  [$status, $body] = exchange($account['baseUrl'], $account['integrationId'], $account['integrationSecret'], $fields);
  $answers[] = ['status' => $status, 'body' => $body];
}
echo json_encode($answers);`,
  };

  it.for([
    ['node', 'mjs'],
    ['python3', 'py'],
    ['php', 'php'],
  ] as const)(
    'has a program for %s that exchanges a code twice with the same result, and gets 404 for an unknown code',
    async ([program, ending], { skip }) => {
      if (!hasProgram(program)) skip(`this machine has no ${program}`);
      const cwd = temporaryFolder('docs');
      save(cwd, `exchange.${ending}`, fileBlock('storefront.md', `exchange.${ending}`));
      save(cwd, `caller.${ending}`, caller[ending]);
      const shop = await createShop(server);
      const account = { baseUrl: server.baseUrl, ...shop };
      const purchase = { redirect_uri: redirectUri, shop_domain: shopDomain, customer_id: '40217' };
      const code = await codeFor(server, shop);
      const all = [code, code, 'svc_code_unknown'].map((each) => ({ code: each, ...purchase }));
      const parameters = [`caller.${ending}`, JSON.stringify([account, ...all])];
      const { stdout } = await promisify(execFile)(program, parameters, { cwd });
      const [first, again, unknown] = JSON.parse(stdout) as unknown[];
      expect(first).toMatchObject({ status: 200, body: { verified: true } });
      // A second call sends the same bytes.
      expect(again).toEqual(first);
      expect(unknown).toMatchObject({ status: 404, body: { success: false } });
    },
  );
});
