import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, fileBlock } from '../contract/markdown.ts';
import { cacheOf, hasProgram, start } from '../contract/programs.ts';
import { freePort } from '../harness/free-port.ts';
import { createOpenidPartner } from '../harness/openid-client.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { openApp, save } from '../sdk/apps.ts';
import { type Forgery, startForger } from './forger.ts';

const libraries = fileURLToPath(new URL('./node_modules', import.meta.url));
let server: TestServer;
let forger: Awaited<ReturnType<typeof startForger>>;
beforeAll(async () => {
  const [outside, inside] = [await freePort(), await freePort()];
  forger = await startForger(outside, () => inside);
  server = await startTestServer({
    env: { SVC_PORT: String(inside), SVC_BASE_URL: `http://localhost:${outside}` },
  });
});
afterAll(() => Promise.all([forger.stop(), server.stop()]));

/** Debian's place of Go packages. */
const goPackages = '/usr/share/gocode';
const apacheModules = '/usr/lib/apache2/modules';

/** The parts of a configuration of Apache that are no concern of the recipe. */
const apache = `
ServerRoot "\${PWD}"
ServerName localhost
User www-data
Group www-data
Listen 127.0.0.1:\${PORT}
PidFile httpd.pid
DefaultRuntimeDir .
ErrorLog error.log
DocumentRoot "\${PWD}/site"
${['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'auth_openidc', 'dir', 'headers']
  .map((name) => `LoadModule ${name}_module ${apacheModules}/mod_${name}.so`)
  .join('\n')}
# The fetch of Node says that it is no navigation of a browser.
RequestHeader unset Sec-Fetch-Mode early
Include openidc.conf
`;

interface Recipe {
  file: string;
  /** Files or folders that must be there. */
  needs: string[];
  command: string[];
  callback?: string;
  /** Forged ID tokens that the program does not refuse, as docs/connect.md says; `all` if it reads no ID token. */
  accepts?: Forgery[] | 'all';
}
const node = (file: string, ...modules: string[]) => ({
  file,
  needs: modules.map((name) => join(libraries, name)),
  command: [process.execPath, file],
});
const recipes: Recipe[] = [
  {
    file: 'openidc.conf',
    needs: [join(apacheModules, 'mod_auth_openidc.so')],
    command: ['bash', '-c', 'exec apache2 -X -f "$PWD/httpd.conf"'],
  },
  {
    ...node('express-openid-connect.mjs', 'express', 'express-openid-connect'),
    accepts: ['key'],
  },
  { ...node('hono.mjs', 'hono', '@hono/oidc-auth', '@hono/node-server'), accepts: ['key'] },
  node('h3.mjs', 'h3', 'openid-client'),
  {
    file: 'main.go',
    needs: ['github.com/coreos/go-oidc', 'golang.org/x/oauth2'].map((name) => join(goPackages, 'src', name)),
    command: ['go', 'run', 'main.go'],
  },
  { ...node('grant.mjs', 'grant', 'express-session', 'jose'), callback: '/connect/svc/callback' },
  { ...node('fastify-oauth2.mjs', '@fastify/oauth2', '@fastify/cookie', 'fastify'), accepts: 'all' },
  {
    file: 'config.rb',
    needs: ['/usr/share/doc/ruby-omniauth-oauth2', '/usr/share/doc/ruby-webrick'],
    command: ['ruby', 'config.rb'],
    callback: '/auth/svc/callback',
    accepts: 'all',
  },
];

/** Starts the program of a recipe, with the settings of the page only. @returns its port */
async function run({ file, command, callback = '/callback' }: Recipe): Promise<number> {
  const [cwd, port] = [temporaryFolder('connect'), await freePort()];
  save(cwd, file, fileBlock('connect.md', file));
  save(cwd, 'httpd.conf', apache);
  save(cwd, 'site/index.html', '{"age_18_plus": true}');
  if (file.endsWith('.mjs')) symlinkSync(libraries, join(cwd, 'node_modules'));
  // Apache reads the site as another user.
  chmodSync(cwd, 0o755);
  const redirectUri = `http://localhost:${port}${callback}`;
  const { clientId, clientSecret } = await createOpenidPartner(server, { redirectUris: [redirectUri] });
  const env = {
    ...{ SVC_BASE_URL: server.baseUrl, SVC_CLIENT_ID: clientId, SVC_CLIENT_SECRET: clientSecret },
    ...{ SVC_REDIRECT_URI: redirectUri, PORT: String(port), PWD: cwd },
    ...{ GOPATH: goPackages, GO111MODULE: 'off', GOCACHE: cacheOf('go'), GOFLAGS: '' },
  };
  await start(command, { cwd, env, port });
  return port;
}

const shows = /"age_18_plus": ?true/;
const forgeries: Forgery[] = ['nonce', 'audience', 'expiry', 'key'];

describe('docs/connect.md', () => {
  it.for(recipes)(
    'has the program $file, which shows the claims of an adult, and refuses a forged ID token',
    async (recipe, { skip }) => {
      const { needs, command, accepts = [] } = recipe;
      const missing = needs.find((path) => !existsSync(path));
      if (
        missing !== undefined ||
        !hasProgram(command[0] ?? '', command[0] === 'go' ? 'version' : '--version')
      )
        skip(`this machine lacks ${missing ?? command[0]}`);
      const port = await run(recipe);
      const openAs = async (how?: Forgery, person = 'adult') => {
        forger.forge(how);
        const { page } = await openApp({ port }, server.baseUrl, person);
        return page();
      };
      for (const how of [undefined, 'right'] as const) {
        const { html, status } = await openAs(how);
        expect(html, `${how} ${status}`).toMatch(shows);
      }
      const accepted: Forgery[] = [];
      for (const how of forgeries) if (shows.test((await openAs(how)).html)) accepted.push(how);
      expect(accepted).toEqual(accepts === 'all' ? forgeries : accepts);
      for (const person of ['teen', 'rejected'])
        expect((await openAs(undefined, person)).html).not.toMatch(shows);
    },
  );

  it('has only files that this test runs', () => {
    const files = codeBlocks('connect.md').flatMap(({ file }) => file ?? []);
    expect(recipes.map(({ file }) => file)).toEqual(files);
  });
});
