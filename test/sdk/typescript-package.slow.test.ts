import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { createAccount } from './accounts.ts';
import { installPackage } from './apps.ts';

const run = promisify(execFile);
const mostBytes = 12_000;

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startTestServer();
  folder = temporaryFolder('sdk');
  writeFileSync(join(folder, 'package.json'), '{"name":"shop","private":true,"type":"module"}');
  installPackage(folder);
});
afterAll(() => server.stop());

const program = `
import { createClient, settingsFrom, type WebhookEvent } from '@svc/sdk';
import { walkFlow } from '@svc/sdk/testing';

const client = createClient(settingsFrom(process.env));
const { url, state, codeVerifier } = await client.authorizationUrl({ scope: ['age_18_plus'] });
const { code } = client.callback(await walkFlow(url, { person: 'adult' }), { state });
const { access_token } = await client.exchange({ code, codeVerifier });
const { claims } = await client.userinfo(access_token);
const isAdult: boolean | null | undefined = claims.age_18_plus;
export const describe = (event: WebhookEvent): string =>
  event.event === 'vae.resolved' ? String(event.claims.country) : event.event_id;
// @ts-expect-error: a token has no such field
export const wrong = (await client.exchange({ code, codeVerifier }).catch(() => undefined))?.refresh_token;
console.log(JSON.stringify({ isAdult }));
`;

/** Runs a program in the folder with the package, with a new account, and returns its JSON output. */
async function runShop(program: string, parameters: string[]): Promise<unknown> {
  const { settings } = await createAccount(server);
  const env = {
    ...process.env,
    ...{ DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' },
    SVC_BASE_URL: settings.baseUrl,
    SVC_CLIENT_ID: settings.clientId,
    SVC_CLIENT_SECRET: settings.clientSecret,
    SVC_REDIRECT_URI: settings.redirectUri,
  };
  const { stdout } = await run(program, parameters, { cwd: folder, env });
  return JSON.parse(stdout);
}

describe('the package @svc/sdk', () => {
  it('has no dependency, and contains only its built code', () => {
    const { dependencies } = JSON.parse(
      readFileSync(join(folder, 'node_modules/@svc/sdk/package.json'), 'utf8'),
    ) as { dependencies?: object };
    expect(dependencies).toBeUndefined();
    const files = readdirSync(join(folder, 'node_modules/@svc/sdk'));
    expect(files.sort()).toEqual(['README.md', 'dist', 'package.json']);
    expect(existsSync(join(folder, 'node_modules/@svc/sdk/dist/index.d.ts'))).toBe(true);
  });

  it('compiles in an empty folder with strict types, and exchanges a code', async () => {
    writeFileSync(join(folder, 'shop.ts'), program);
    const tsc = fileURLToPath(new URL('../../node_modules/@typescript/native/bin/tsc', import.meta.url));
    const types = fileURLToPath(new URL('../../node_modules/@types', import.meta.url));
    const strict = [
      ...['--strict', '--target', 'es2022', '--module', 'nodenext', '--typeRoots', types, '--types'],
      'node',
    ];
    await run(process.execPath, [tsc, ...strict, 'shop.ts'], { cwd: folder }).catch(
      (failed: { stdout: string }) => {
        throw new Error(failed.stdout);
      },
    );
    expect(await runShop(process.execPath, ['shop.js'])).toEqual({ isAdult: true });
  });

  it.for([
    { name: 'bun', parameters: ['run', 'shop.ts'] },
    { name: 'deno', parameters: ['run', '--allow-all', '--no-remote', 'shop.ts'] },
  ])('exchanges a code in $name', async ({ name, parameters }, { skip }) => {
    const runtime = fileURLToPath(new URL(`../recipes/node_modules/.bin/${name}`, import.meta.url));
    if (!existsSync(runtime)) skip(`this machine lacks ${name}`);
    writeFileSync(join(folder, 'shop.ts'), program);
    expect(await runShop(runtime, parameters)).toEqual({ isAdult: true });
  });

  it(`is smaller than ${mostBytes / 1000} kB when it is minified`, async () => {
    const bundle = await rolldown({ input: join(folder, 'node_modules/@svc/sdk/dist/index.js') });
    const { output } = await bundle.generate({ minify: true, format: 'esm' });
    expect(output).toHaveLength(1);
    expect(output[0].imports).toEqual([]);
    expect(Buffer.byteLength(output[0].code)).toBeLessThan(mostBytes);
  });
});
