import { readConfig } from './platform/config/config.ts';

const answerWithinMs = 4_000;

/** Addresses that mean every interface, each with the loopback address to send requests to. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/**
 * Asks the process that runs with this environment whether it can serve, and writes the answer to stdout.
 * @returns true also if the process has no listener
 */
export async function check(environment: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const { roles, public: api, admin, health } = readConfig(environment);
  const others = [...(roles.has('api') ? [api] : []), ...(roles.has('admin') ? [admin] : [])];
  const listener = health?.byDefault === false ? health : (others[0] ?? health);
  if (!listener) {
    process.stdout.write('no listener to ask: set SVC_HEALTH_PORT\n');
    return true;
  }
  const { host, port } = listener;
  const url = `http://${everywhere[host] ?? (host.includes(':') ? `[${host}]` : host)}:${port}/readyz`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(answerWithinMs) });
    process.stdout.write(`${url}: ${response.status} ${await response.text()}\n`);
    return response.ok;
  } catch (error) {
    process.stdout.write(`${url}: ${(error as Error).message}\n`);
    return false;
  }
}
