import { randomBytes } from 'node:crypto';
import { basename, resolve } from 'node:path';
import type { TokenResponse } from '../../contracts/oauth.ts';
import type { IdTokenAlg } from '../../contracts/openid.ts';
import type { DatabaseServer } from '../database.ts';
import type { Load } from '../load/load.ts';
import { freePort, launch, type Program, root, temporaryDirectory } from '../processes.ts';
import { nodeFlags } from '../remote.ts';
import { oursWith } from '../subject-names.ts';
import { type Contender, manyPartners, tokenRequest, userinfoRequest } from './contender.ts';
import { insertCodes } from './our-codes.ts';
import { checkLedgers } from './our-ledgers.ts';
import { type Owner, openPartners } from './our-partners.ts';

interface Settings {
  database: DatabaseServer;
  load: Load;
  /** The name of its database. */
  name: string;
  /** Options of node for the first server, such as `--cpu-prof`. */
  nodeOptions?: readonly string[];
  /** Numbers of server processes on the one database. Each number is a contender, and they share the processes. */
  processes: readonly number[];
  /** The number of partners besides the hot one. */
  partnerCount?: number | undefined;
  /** The number of partners with default limits. */
  usual?: number | undefined;
  /** The webhook URL of the nth partner; by default none. */
  webhook?: (n: number) => string;
  /** The algorithm of ID tokens, if the clients speak OpenID Connect. */
  idToken?: IdTokenAlg | undefined;
  /** Root of another build to start. */
  beside?: string | undefined;
  /** Additional environment variables of the server. */
  environment?: NodeJS.ProcessEnv;
}

interface Ours {
  /** In the order of `processes`. */
  contenders: Contender[];
  /** The address of its admin API, and its owner's token. */
  admin: { url: string; token: string };
  /** The clients of the partners. */
  owners: readonly Owner[];
  /** Stops the servers, which write their profile then. */
  stop(): Promise<void>;
}

const answers = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** SVC Gateway as installed: `dist/server/main.js`, configured through its admin API. */
export async function startOurs(settings: Settings): Promise<Ours> {
  const { database, load, name, nodeOptions = [], processes, partnerCount = manyPartners } = settings;
  const { webhook, usual, beside, idToken, environment = {} } = settings;
  const dataDir = temporaryDirectory();
  const db = database.db(name);
  const adminToken = `svc_admin_${randomBytes(24).toString('hex')}`;
  const masterKey = randomBytes(32).toString('base64');
  const [adminPort, ...ports] = await Promise.all([
    freePort(),
    ...Array.from({ length: Math.max(...processes) }, freePort),
  ]);
  const origins = ports.map((port) => `http://127.0.0.1:${port}`);

  function startServer(port: number, n: number): Promise<Program> {
    const env = {
      MONGODB_URI: database.uri(name),
      // Plain HTTP on loopback, because only development allows a base URL without https.
      SVC_ENVIRONMENT: 'development',
      SVC_DEMO_PORT: 'off',
      SVC_ROLES: n === 0 ? 'api,admin,worker' : 'api,worker',
      SVC_PORT: String(port),
      SVC_ADMIN_PORT: String(adminPort),
      SVC_BASE_URL: origins[0],
      SVC_DATA_DIR: dataDir,
      SVC_MASTER_KEY: masterKey,
      SVC_ADMIN_TOKEN: adminToken,
      SVC_STARTS_PER_MINUTE: 'off',
      SVC_LOG_LEVEL: 'error',
      SVC_LEGAL_NAME: 'Bench',
      SVC_PRIVACY_URL: 'https://bench.example/privacy',
      SVC_TERMS_URL: 'https://bench.example/terms',
      SVC_HELP_ADDRESS: 'help@bench.example',
      ...environment,
    };
    const args = [
      ...nodeFlags,
      ...(n === 0 ? nodeOptions : []),
      resolve(beside ?? root, 'dist/server/main.js'),
    ];
    return launch({ args, env, ready: () => answers(`http://127.0.0.1:${port}/readyz`) });
  }

  const programs: Program[] = [];
  for (const [n, port] of ports.entries()) programs.push(await startServer(port, n));
  const admin = { url: `http://127.0.0.1:${adminPort}`, token: adminToken };
  const partners = await openPartners(admin, { many: partnerCount, usual, webhook, idToken });
  let redeemed = 0;

  function contender(servers: number): Contender {
    const self: Contender = {
      name: `${oursWith(servers)}${beside === undefined ? '' : `, ${basename(beside)}`}${idToken ? `, ID token ${idToken}` : ''}`,
      origins: origins.slice(0, servers),
      pids: programs.slice(0, servers).map(({ pid }) => pid),
      tokenPath: '/api/oauth/token',
      userinfoPath: '/api/oauth/userinfo',

      async prepareExchanges(count, partnerSet) {
        const owners = partnerSet === 'one' ? [partners.hot] : partners[partnerSet];
        const codes = await insertCodes(db, { count, owners, openid: idToken !== undefined });
        return codes.map(({ code, owner }) => tokenRequest(owner, code));
      },

      async prepareUserinfo(count) {
        const requests = await self.prepareExchanges(count, 'one');
        const { origins: at, tokenPath: path } = self;
        const { bodies } = await load.run({ origins: at, path, requests, callers: 64, keepBodies: true });
        await self.settle(count);
        return bodies.map((body) => userinfoRequest((JSON.parse(body) as TokenResponse).access_token));
      },

      async settle(count) {
        redeemed += count;
        await checkLedgers(db, { tokens: redeemed, funded: partners.funded, price: partners.price });
      },
    };
    return self;
  }

  return {
    admin,
    owners: partners.many,
    contenders: processes.map(contender),
    async stop() {
      await Promise.all(programs.map((program) => program.stop()));
    },
  };
}
