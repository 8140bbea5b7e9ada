#!/usr/bin/env node
import { join, relative } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { adminHostFault } from './admin/bind.ts';
import { type Config, ConfigError, readConfig } from './platform/config.ts';
import { createLogger } from './platform/logging.ts';
import { type RunningServer, startServer } from './start.ts';

/** sysexits.h: the configuration is wrong. */
const badConfiguration = 78;
/** Longest time in milliseconds that a stop may take. */
const graceful = 20_000;

function configuration(): Config {
  try {
    const read = readConfig(process.env);
    const fault = read.admin.allowPublic ? undefined : adminHostFault(read.admin.host);
    if (fault)
      throw new ConfigError([
        `SVC_ADMIN_HOST: ${fault}; SVC_ADMIN_ALLOW_PUBLIC=on says that a proxy adds TLS`,
      ]);
    return read;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(badConfiguration);
  }
}

/** What a person who has just typed `npm start` wants to know. */
function greeting({ publicUrl, adminUrl, embedded }: RunningServer, config: Config): string {
  const inDataDir = (name: string) => relative('', join(config.dataDir, name));
  const token = config.adminToken ? 'SVC_ADMIN_TOKEN' : inDataDir('admin-token');
  const lines = [
    ...(publicUrl ? [`  Public API    ${publicUrl}  (issuer ${config.baseUrl})`] : []),
    ...(adminUrl ? [`  Admin API     ${adminUrl}  (operator token: ${token})`] : []),
    embedded
      ? `  Database      embedded, in ${inDataDir('db')}: for development and trial only; production sets MONGODB_URI`
      : '  Database      MONGODB_URI',
  ];
  return `\nSVC Gateway is up.\n\n${lines.join('\n')}\n\nNext, in another terminal:\n\n  npm run journey\n\n`;
}

const config = configuration();
const logger = createLogger(config.logLevel);

try {
  const server = await startServer(config, logger);
  closeWithGrace({ delay: graceful, logger: false }, async ({ signal, err }) => {
    if (err) logger.fatal({ err }, 'ended by an error that nobody caught');
    else logger.info({ signal }, 'stopping');
    await server.stop();
  });
  logger.info({ public: server.publicUrl, admin: server.adminUrl, roles: [...config.roles] }, 'listening');
  if (config.environment === 'development') process.stdout.write(greeting(server, config));
} catch (error) {
  logger.fatal({ err: error }, 'the server could not start');
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
