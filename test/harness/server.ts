import { createTRPCClient, httpLink } from '@trpc/client';
import type { CommandStartedEvent } from 'mongodb';
import type { AdminRouter } from '../../server/operations/admin-router.ts';
import type { DatabaseClock } from '../../server/platform/clock.ts';
import { readConfig } from '../../server/platform/config/config.ts';
import { masterKeysOf } from '../../server/platform/config/local-secrets.ts';
import { createSealing } from '../../server/platform/keys/sealing.ts';
import { createLogger, type Logger } from '../../server/platform/telemetry/logging.ts';
import { type Replacements, startServer } from '../../server/process/start.ts';
import { databaseAt, databaseOfServer, isPrepared } from './database.ts';
import { freePort } from './free-port.ts';
import { quickFetch } from './quick-fetch.ts';
import { insertSigningKeys } from './signing-keys.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A clock that moves only when a test sets or advances it. */
export interface ManualClock extends DatabaseClock {
  set(now: number): void;
  advance(ms: number): void;
  distrust(): void;
}

export function manualClock(start = Date.now()): ManualClock {
  let now = start;
  let trusted = true;
  return {
    now: () => now,
    trusted: () => trusted,
    offset: () => 0,
    measure: async () => undefined,
    start: () => undefined,
    stop: () => undefined,
    set: (to) => {
      now = to;
    },
    advance: (ms) => {
      now += ms;
    },
    distrust: () => {
      trusted = false;
    },
  };
}

/** Creates a clock that shows the machine's time plus `ahead` milliseconds. A test sets `ahead`. */
export function shiftedClock() {
  const clock = { ...manualClock(), ahead: 0, now: () => Date.now() + clock.ahead };
  return clock;
}

export const adminToken = 'svc_admin_0123456789012345678901234567890123456789012';

/**
 * Shorter intervals than in production, so that tests wait less for background work. Requests are recorded five times a
 * second at most, because each record takes up to four commands.
 */
const testPace = { jobsEvery: 500, requestsEvery: 200 };

/** What a start on this database can omit: it has all indexes, and a sweep would find nothing in an empty one. */
const unneededWork = (givenUri: string | undefined): Replacements => {
  if (givenUri === undefined) return { sweepsByHand: true, indexes: [] };
  return isPrepared(givenUri) ? { indexes: [] } : {};
};

interface Settings {
  env?: Record<string, string>;
  clock?: DatabaseClock;
  replacements?: Replacements;
  /** Returns the address by which the server reaches its database. */
  through?: (uri: string) => string;
  /** Called with each command that the server sends to its database. */
  onCommand?: (event: CommandStartedEvent) => void;
  logger?: Logger;
}

/**
 * Starts the whole service in this process, with a database and ports of its own. The caller stops it. Its public address is
 * `http://localhost:<port>`.
 */
export async function startTestServer({
  env = {},
  clock,
  replacements = {},
  through,
  onCommand,
  logger,
}: Settings = {}) {
  const givenUri = env['MONGODB_URI'];
  const database = await (givenUri === undefined
    ? databaseOfServer({ once: through !== undefined })
    : databaseAt(givenUri));
  const dataDir = temporaryFolder('test');
  const config = readConfig({
    SVC_PORT: String(await freePort()),
    SVC_ADMIN_PORT: String(await freePort()),
    SVC_DATA_DIR: dataDir,
    SVC_ADMIN_TOKEN: adminToken,
    SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    SVC_LOG_LEVEL: 'silent',
    MONGODB_URI: (through ?? String)(onCommand ? `${database.uri}?monitorCommands=true` : database.uri),
    ...env,
  });
  if (givenUri === undefined && env['SVC_MASTER_KEY'] === undefined)
    await insertSigningKeys(database.db, createSealing(masterKeysOf(config)));
  const injected = clock ? { clock: () => clock } : {};
  const observed: Replacements = onCommand
    ? {
        foundation({ client }) {
          client.on('commandStarted', onCommand);
          return {};
        },
      }
    : {};
  const pace = { ...testPace, ...replacements.pace };
  const all = { ...unneededWork(givenUri), ...injected, ...observed, ...replacements, pace };
  const server = await startServer(config, logger ?? createLogger(config.logLevel), all);
  const url = `http://127.0.0.1:${config.admin.port}/trpc`;
  const as = (token: string) =>
    createTRPCClient<AdminRouter>({
      links: [httpLink({ url, headers: { authorization: `Bearer ${token}` }, fetch: quickFetch as never })],
    });
  return {
    baseUrl: config.baseUrl,
    /** The address of the public listener, which can differ from the address in links (`baseUrl`). */
    publicUrl: `http://127.0.0.1:${config.public.port}`,
    adminUrl: `http://127.0.0.1:${config.admin.port}`,
    dataDir,
    config,
    db: database.db,
    uri: database.uri,
    /** The given clock, or else the machine's. */
    clock: clock ?? Date,
    /** The admin API, called by the first operator, who is an owner. */
    admin: as(adminToken),
    /** Returns the admin API, called by the operator with this token. */
    as,
    services: server.services,
    sweep: server.sweep,
    async stop() {
      await server.stop();
      await database.drop();
    },
  };
}
export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

/** Returns the error code with which a call of the admin API is refused; `no refusal` if the call succeeds. */
export async function refusal(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return (error as { data?: { error?: unknown } }).data?.error ?? error;
  }
  return 'no refusal';
}
