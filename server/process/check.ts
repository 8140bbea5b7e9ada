import { readConfig } from '../platform/config/config.ts';
import { hostInUrl } from '../platform/http/listen.ts';

const answerWithinMs = 4_000;

/** Addresses that mean every interface, each with the loopback address to send requests to. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * Asks the process that runs with this environment whether it can serve, and writes the answer to stdout.
 * @returns false if it cannot serve. A process without a listener cannot be asked, so it counts as able
 */
export async function check(environment: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const { roles, public: api, admin, health } = readConfig(environment);
  // Another process of this machine may have the default health port, so that port is the last choice.
  const configuredHealth = health?.byDefault ? undefined : health;
  const ofRoles = [roles.has('api') ? api : undefined, roles.has('admin') ? admin : undefined];
  const listeners = [configuredHealth, ...ofRoles, health].filter((each) => each !== undefined);
  if (listeners.length === 0) {
    process.stdout.write('no listener to ask: set SVC_HEALTH_PORT\n');
    return true;
  }
  // Port 0 is any free port, which only the process itself knows.
  const listener = listeners.find(({ port }) => port !== 0);
  if (!listener) {
    process.stdout.write('no listener to ask, because each has the port 0: set SVC_HEALTH_PORT to a port\n');
    return false;
  }
  const { host, port } = listener;
  const url = `http://${hostInUrl(everywhere[host] ?? host)}:${port}/readyz`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(answerWithinMs) });
    process.stdout.write(`${url}: ${response.status} ${await response.text()}\n`);
    return response.ok;
  } catch (error) {
    process.stdout.write(`${url}: ${(error as Error).message}\n`);
    return false;
  }
}
