import { join, relative } from 'node:path';
import type { Config } from '../platform/config/config.ts';
import { processRoles } from '../platform/config/environment.ts';
import type { RunningServer } from './start.ts';

interface Greeted extends Pick<RunningServer, 'publicUrl' | 'adminUrl' | 'embedded'> {
  config: Pick<Config, 'baseUrl' | 'adminToken' | 'roles' | 'dataDir'>;
  /** The address of the demo partner; undefined if it does not run. */
  demoUrl: string | undefined;
  /** SVC_DATA_DIR, if the person has set it. */
  typedDataDir: string | undefined;
}

/** Returns a path in its shortest form: relative if it is below the current directory, else absolute. */
function shortPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere.startsWith('..') ? path : fromHere;
}

/**
 * Returns the greeting after `npm start`: addresses, the token's path and the next command. A process with some roles names them,
 * and only what it serves.
 */
export function greetingOf({
  publicUrl,
  adminUrl,
  embedded,
  config,
  demoUrl,
  typedDataDir,
}: Greeted): string {
  const { baseUrl, adminToken, roles, dataDir } = config;
  const inDataDir = (name: string) => shortPath(join(dataDir, name));
  const token = adminToken === 'off' ? 'none' : adminToken ? 'SVC_ADMIN_TOKEN' : inDataDir('admin-token');
  const lines = [
    ...(publicUrl ? [`  Public API    ${baseUrl}  (listens at ${publicUrl})`] : []),
    ...(adminUrl ? [`  Admin API     ${adminUrl}  (operator token: ${token})`] : []),
    ...(roles.has('worker') && !(publicUrl && adminUrl) ? ['  Webhooks      sent by this process'] : []),
    embedded
      ? `  Database      embedded, in ${inDataDir('db')}: for development and trial only; production sets MONGODB_URI`
      : '  Database      MONGODB_URI',
    ...(demoUrl ? [`  Demo partner  ${demoUrl}  (open it in a browser: "Verify my age")`] : []),
  ];
  const isWhole = processRoles.every((role) => roles.has(role));
  const title = isWhole ? 'SVC Gateway is up.' : `SVC Gateway is up: ${[...roles].join(', ')}.`;
  // The journey needs both listeners, and a worker for its webhooks.
  const journey = `${typedDataDir ? `SVC_DATA_DIR=${typedDataDir} ` : ''}npm run journey`;
  const next = isWhole ? `Next, in another terminal:\n\n  ${journey}\n\n` : '';
  return `\n${title}\n\n${lines.join('\n')}\n\n${next}`;
}
