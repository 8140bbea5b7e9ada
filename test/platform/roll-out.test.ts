import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { databaseOfServer } from '../harness/database.ts';
import { freePort } from '../harness/free-port.ts';
import { adminToken } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { endOf, spawnServer } from './server-process.ts';

const masterKey = Buffer.alloc(32, 7).toString('base64');

/** One service process behind the load balancer. */
async function startProcess(mongodbUri: string) {
  const port = await freePort();
  const { child, output } = spawnServer({
    MONGODB_URI: mongodbUri,
    SVC_PORT: String(port),
    SVC_HEALTH_PORT: 'off',
    SVC_ROLES: 'api',
    SVC_DATA_DIR: '/proc/none',
    SVC_MASTER_KEY: masterKey,
    SVC_ADMIN_TOKEN: adminToken,
    SVC_DEMO_PORT: 'off',
    SVC_LOG_LEVEL: 'warn',
    SVC_DRAIN_DELAY: '800ms',
  });
  return { url: `http://127.0.0.1:${port}`, child, output };
}
type Process = Awaited<ReturnType<typeof startProcess>>;

const isReady = ({ url }: Process) =>
  fetch(`${url}/readyz`).then(
    (response) => response.status === 200,
    () => false,
  );

/** Acts as a load balancer: sends requests in turn to the processes that were ready at the last probe. */
function createBalancer() {
  const members = new Set<Process>();
  let ready: Process[] = [];
  const probe = async () => {
    const answers = await Promise.all(
      [...members].map(async (each) => ((await isReady(each)) ? [each] : [])),
    );
    ready = answers.flat();
  };
  let turn = 0;
  return {
    members,
    probe,
    ready: () => ready,
    next: () => ready[turn++ % ready.length],
  };
}

it('a client of the load balancer gets no connection error and no 5xx while two processes are replaced', {
  timeout: within(120_000),
}, async () => {
  const { uri, drop } = await databaseOfServer();
  onTestFinished(drop);
  const balancer = createBalancer();
  const ended = new AbortController();
  const failures: unknown[] = [];
  let answered = 0;

  async function request(): Promise<void> {
    const url = balancer.next()?.url;
    // An unknown API key is looked up in the database.
    const headers = { authorization: `Bearer svc_test_${'0'.repeat(43)}` };
    const path = answered % 2 === 0 ? '/.well-known/jwks.json' : '/api/verify/hvf-session/ses_none';
    try {
      const { status } = await fetch(`${url}${path}`, { headers });
      if (status >= 500) failures.push(status);
      answered += 1;
    } catch (error) {
      failures.push((error as Error).cause ?? error);
    }
  }
  const every = async (ms: number, work: () => Promise<void>): Promise<void> => {
    while (!ended.signal.aborted) {
      void work();
      await sleep(ms, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  };
  const whenReady = (each: Process) =>
    expect.poll(() => balancer.ready().includes(each), { timeout: within(30_000), interval: 50 }).toBe(true);

  const first = await Promise.all(Array.from({ length: 2 }, () => startProcess(uri)));
  for (const each of first) balancer.members.add(each);
  const probing = every(100, balancer.probe);
  for (const each of first) await whenReady(each);
  const requesting = every(50, request);
  for (const old of first) {
    const replacement = await startProcess(uri);
    balancer.members.add(replacement);
    await whenReady(replacement);
    old.child.kill('SIGTERM');
    expect(await endOf(old.child)).toBe(0);
    expect(old.output()).not.toContain('"level":');
    balancer.members.delete(old);
  }
  ended.abort();
  await Promise.all([probing, requesting]);
  expect(failures).toEqual([]);
  expect(answered).toBeGreaterThan(40);
});
