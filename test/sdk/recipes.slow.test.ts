import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, fileBlock } from '../contract/markdown.ts';
import { type Program, start } from '../contract/programs.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, verifyUser } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';
import { type App, expectApp, installPackage, save } from './apps.ts';

const libraries = fileURLToPath(new URL('../recipes/node_modules', import.meta.url));
const routeHandlers = fileURLToPath(new URL('./route-handlers.mjs', import.meta.url));
const sdk = fileURLToPath(new URL('../../sdk', import.meta.url));
const python = { PYTHONPATH: join(sdk, 'python'), PYTHONDONTWRITEBYTECODE: '1' };
let server: TestServer;
beforeAll(async () => {
  // A development receiver may lose a connection. The service then sends the event again, here after a short delay.
  server = await startTestServer({ env: { SVC_WEBHOOK_RETRY_DELAYS: '1s,2s' } });
});
afterAll(() => server.stop());

interface Recipe extends Omit<App, 'port'> {
  file: string;
  /** Modules that must be installed. */
  needs: string[];
  callback?: string;
}
const recipes: Recipe[] = [
  { file: 'openid-client.mjs', needs: ['openid-client', 'express', 'express-session'] },
  { file: 'oauth4webapi.mjs', needs: ['oauth4webapi'] },
  { file: 'arctic.mjs', needs: ['arctic', 'fastify', '@fastify/cookie'] },
  { file: 'passport-oauth2.mjs', needs: ['passport', 'passport-oauth2', 'express'] },
  { file: 'simple-oauth2.mjs', needs: ['simple-oauth2', 'express'] },
  {
    ...{ file: 'auth-js.mjs', needs: ['@auth/express', 'express'], callback: '/auth/callback/svc' },
    ...{ begin: '/auth/signin', asksFirst: true, hidesReason: true },
  },
  { file: 'better-auth.mjs', needs: ['better-auth'], callback: '/api/auth/callback/svc' },
  { file: 'requests_oauthlib_app.py', needs: ['flask', 'requests_oauthlib'] },
  { file: 'authlib_app.py', needs: ['flask', 'authlib'] },
];

/** Next itself has over 300 MB, so this test calls the page's handlers with a `Request` and sends their `Response`. */
const handlers = [
  ...['next/lib/svc.js', 'next/app/route.js', 'next/app/callback/route.js', 'next/app/hooks/route.js'],
];

/** Webhook receivers with our own library. */
const receivers: Recipe[] = [
  { file: 'webhooks-express.mjs', needs: ['express'] },
  { file: 'webhooks-fastify.mjs', needs: ['fastify'] },
  { file: 'webhooks_flask.py', needs: ['flask'] },
];

/** Returns the first Python that has all modules. Debian's modules are not available to other installations. */
const pythonWith = (modules: readonly string[]): string | undefined =>
  ['python3', '/usr/bin/python3'].find(
    (program) => spawnSync(program, ['-c', `import ${modules.join(', ')}`]).status === 0,
  );

/** Returns the program that runs a recipe, or undefined if the program or a module is missing. */
function programFor({ file, needs }: Recipe): string | undefined {
  if (file.endsWith('.py')) return pythonWith(needs);
  return needs.every((name) => existsSync(join(libraries, name))) ? process.execPath : undefined;
}

/** Installs the SDK, and links the libraries of the recipes, in `node_modules` of a folder. */
function installLibraries(cwd: string): void {
  installPackage(cwd);
  const others = existsSync(libraries) ? readdirSync(libraries) : [];
  for (const name of others) symlinkSync(join(libraries, name), join(cwd, 'node_modules', name));
}

/** Checks that a receiver prints the events of a user's first verification, and refuses a forged one. */
async function expectReceiver(app: Program, url: string): Promise<void> {
  for (const event of ['enrollment.created', 'verification.session.completed'])
    await expect.poll(() => app.lines().join('\n'), { timeout: within(20_000) }).toContain(`event ${event}`);
  const headers = { 'x-svc-signature': `sha256=${'0'.repeat(64)}`, 'content-type': 'application/json' };
  const forged = await fetch(url, { method: 'POST', headers, body: '{}' });
  expect([forged.status, await forged.text()]).toEqual([401, expect.stringContaining('invalid_signature')]);
}

describe('docs/recipes.md', () => {
  it.for(recipes)(
    'has the application $file, which shows each user only their own claims',
    async (recipe, { skip }) => {
      const program = programFor(recipe);
      if (program === undefined) skip(`this machine lacks ${recipe.needs.join(' or ')}`);
      const [cwd, port] = [temporaryFolder('recipe'), await freePort()];
      save(cwd, recipe.file, fileBlock('recipes.md', recipe.file));
      if (program === process.execPath) symlinkSync(libraries, join(cwd, 'node_modules'));
      const redirectUri = `http://localhost:${port}${recipe.callback ?? '/callback'}`;
      const { clientId, clientSecret } = await createPartner(server, {
        client: { redirectUris: [redirectUri] },
      });
      const env = {
        ...{ SVC_BASE_URL: server.baseUrl, SVC_CLIENT_ID: clientId, SVC_CLIENT_SECRET: clientSecret },
        ...{ SVC_REDIRECT_URI: redirectUri, PORT: String(port), ...python },
      };
      await start([program ?? '', recipe.file], { cwd, env, port });
      await expectApp({ ...recipe, port }, server.baseUrl);
    },
  );

  it.for(receivers)(
    'has the receiver $file, which prints the events of the service and answers 401 to a forged one',
    async (recipe, { skip }) => {
      const program = programFor(recipe);
      if (program === undefined) skip(`this machine lacks ${recipe.needs.join(' or ')}`);
      const [cwd, port] = [temporaryFolder('recipe'), await freePort()];
      save(cwd, recipe.file, fileBlock('recipes.md', recipe.file));
      installLibraries(cwd);
      const partner = await createPartner(server);
      const url = `http://localhost:${port}/hooks`;
      const { signingSecret } = await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url });
      const env = { SVC_WEBHOOK_SECRET: signingSecret, PORT: String(port) };
      const app = await start([program ?? '', recipe.file], { cwd, env: { ...env, ...python }, port });
      await verifyUser(server, partner);
      await expectReceiver(app, url);
    },
  );

  it('has handlers for Next, which show each user only their own claims, and answer 401 to a forged event', async () => {
    const [cwd, port] = [temporaryFolder('recipe'), await freePort()];
    for (const file of handlers) save(cwd, file, fileBlock('recipes.md', file));
    save(cwd, 'package.json', '{"type":"module"}');
    installLibraries(cwd);
    const redirectUri = `http://localhost:${port}/callback`;
    const { clientId, clientSecret, keyId } = await createPartner(server, {
      client: { redirectUris: [redirectUri] },
    });
    const url = `http://localhost:${port}/hooks`;
    const { signingSecret } = await server.admin.webhooks.set.mutate({ keyId, url });
    const env = {
      ...{ SVC_BASE_URL: server.baseUrl, SVC_CLIENT_ID: clientId, SVC_CLIENT_SECRET: clientSecret },
      ...{ SVC_REDIRECT_URI: redirectUri, SVC_WEBHOOK_SECRET: signingSecret, PORT: String(port) },
    };
    const app = await start([process.execPath, routeHandlers], { cwd: join(cwd, 'next'), env, port });
    await expectApp({ port }, server.baseUrl);
    await expectReceiver(app, url);
  });

  it('has only files that this test runs', () => {
    const files = codeBlocks('recipes.md').flatMap(({ file }) => file ?? []);
    const named = (some: Recipe[]) => some.map(({ file }) => file);
    expect([...named(recipes), ...handlers, ...named(receivers)]).toEqual(files);
  });
});
