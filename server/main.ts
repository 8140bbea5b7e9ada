#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTRPCClient, httpLink } from '@trpc/client';
import closeWithGrace from 'close-with-grace';
import { readVariables } from '../contracts/settings.ts';
import { type Demo, startDemo } from './demo/demo.ts';
import type { AdminRouter } from './operations/admin-router.ts';
import { type Config, misspeltSettings, readConfig } from './platform/config/config.ts';
import { ConfigError } from './platform/errors.ts';
import { StartFault } from './platform/http/listen.ts';
import { createLogger } from './platform/telemetry/logging.ts';
import { greetingOf } from './process/greeting.ts';
import { type RunningServer, startServer } from './process/start.ts';
import { startFailureText } from './process/start-failure.ts';

/** The exit code for a wrong configuration (EX_CONFIG of sysexits.h). */
const badConfiguration = 78;
/** The longest time that a stop may take after the drain delay, in milliseconds. */
const stopTimeoutMs = 20_000;

/** Reads the configuration. If it is not usable, writes the faults to stderr and ends the process. */
function configuration(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(badConfiguration);
  }
}

/** Starts the demo partner's site if it is configured. If its port is taken, the server runs without it. */
async function demoFor({ publicUrl, adminUrl }: RunningServer, config: Config): Promise<Demo | undefined> {
  const { demoPort: port, baseUrl, dataDir } = config;
  if (port === undefined || !publicUrl || !adminUrl || config.adminToken === 'off') return undefined;
  const adminToken = config.adminToken ?? readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();
  const link = httpLink({ url: `${adminUrl}/trpc`, headers: { authorization: `Bearer ${adminToken}` } });
  const admin = createTRPCClient<AdminRouter>({ links: [link] });
  try {
    const quiet = logger.child({ part: 'demo' }, { level: 'warn' });
    return await startDemo({ port, baseUrl, admin, dataDir, logger: quiet });
  } catch (err) {
    const isTaken = (err as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (isTaken) logger.warn({ port }, `no demo partner: port ${port} is taken, and SVC_DEMO_PORT names it`);
    else logger.warn({ err }, 'no demo partner: it could not start');
    return undefined;
  }
}

const config = configuration();
const logger = createLogger(config.logLevel, config.roles);
for (const { name, meant } of misspeltSettings(process.env))
  logger.warn({ name, meant }, `${name} is not a setting, and ${meant} is one`);

try {
  const server = await startServer(config, logger);
  let demo: Demo | undefined;
  closeWithGrace({ delay: config.drainDelay + stopTimeoutMs, logger: false }, async ({ signal, err }) => {
    if (err) logger.fatal({ err }, 'ended by an uncaught error');
    else logger.info({ signal }, 'stopping');
    await demo?.close();
    await server.stop();
  });
  demo = await demoFor(server, config);
  logger.info({ public: server.publicUrl, admin: server.adminUrl, roles: [...config.roles] }, 'listening');
  if (config.environment === 'development') {
    const typedDataDir = readVariables(process.env)['SVC_DATA_DIR'];
    process.stdout.write(greetingOf({ ...server, config, demoUrl: demo?.url, typedDataDir }));
  }
} catch (error) {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    process.exit(badConfiguration);
  }
  // A developer at a terminal gets only a sentence. In all other cases, the error is also logged.
  if (!(error instanceof StartFault && config.environment === 'development'))
    logger.fatal({ err: error }, 'the server could not start');
  process.stderr.write(`${startFailureText(error, config.dataDir)}\n`);
  process.exit(1);
}
