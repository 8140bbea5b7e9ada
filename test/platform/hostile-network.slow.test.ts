import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';

const mostTries = 5;
let server: TestServer;
let partner: TestPartner;
let healthUrl: string;

beforeAll(async () => {
  const healthPort = String(await freePort());
  healthUrl = `http://127.0.0.1:${healthPort}`;
  server = await startTestServer({ env: { SVC_HEALTH_PORT: healthPort } });
  partner = await createPartner(server, { client: { tokenRequestsPerMinute: 10_000 } });
  const { partnerId } = partner;
  await server.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 10_000, perHour: 10_000 });
});
afterAll(() => server.stop());

/** Connections of one attacker without credentials. */
function createAttacker(url: string) {
  const port = Number(new URL(url).port);
  const sockets: Socket[] = [];
  const open = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  return {
    open,
    many: (count: number) => Promise.all(Array.from({ length: count }, open)),
    end: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
type Attacker = ReturnType<typeof createAttacker>;

const head = (method: string, path: string, headers = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const bodyOf = (length: number) =>
  `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n`;

/** A complete request of an unknown client, which needs a database read. */
function whole(path: string): string {
  const fields = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'x', code_verifier: 'x' };
  const form = new URLSearchParams({ ...fields, client_id: 'cli_x', client_secret: 'x' }).toString();
  return head('POST', path, bodyOf(form.length)) + form;
}

/** The attacks on `path`. Their connections stay open until the test has exchanged a code. */
const attacks: Record<string, (attacker: Attacker, path: string) => Promise<void>> = {
  async 'pipelined requests and resets'({ many }, path) {
    for (const [n, socket] of (await many(40)).entries()) {
      socket.write(whole(path).repeat(16));
      await sleep(n % 4);
      socket.resetAndDestroy();
    }
  },
  async 'pipelined requests and half-closed connections'({ many }, path) {
    for (const socket of await many(10)) socket.end(whole(path).repeat(16));
  },
  async 'pipelined requests whose answers are not read'({ many }, path) {
    for (const socket of await many(10)) socket.pause().write(whole(path).repeat(400));
  },
  async 'one request after another whose answers are not read'({ many }, path) {
    for (const socket of await many(10)) {
      socket.pause();
      for (let n = 0; n < 50; n += 1) {
        socket.write(head('GET', path));
        await sleep(1);
      }
    }
  },
  async 'heads without bodies'({ many }, path) {
    for (const socket of await many(600)) socket.write(head('POST', path, bodyOf(100)));
  },
  async 'heads that do not end'({ many }, path) {
    for (const socket of await many(600)) socket.write(`POST ${path} HTTP/1.1\r\nHost: loc`);
  },
  async 'slow bodies'({ many }, path) {
    for (const socket of await many(300)) {
      socket.write(head('POST', path, bodyOf(1_000)));
      const drip = setInterval(() => socket.write('a'), 50);
      socket.once('close', () => clearInterval(drip));
    }
  },
  async 'resets within bodies'({ many }, path) {
    for (const socket of await many(50)) {
      socket.write(`${head('POST', path, bodyOf(1_000))}grant_type=`);
      await sleep(1);
      socket.resetAndDestroy();
    }
  },
};

const everyAttack = Object.keys(attacks);
/** The attacks that reach the route. A listener handles the others in the same way for all its routes. */
const atRoute = ['pipelined requests whose answers are not read', 'heads without bodies', 'slow bodies'];

const targets = [
  ['the OAuth endpoints', () => server.publicUrl, '/api/oauth/userinfo', '/api/oauth/token', everyAttack],
  [
    'the storefront endpoint',
    () => server.publicUrl,
    '/api/oauth/userinfo',
    '/api/integrations/storefront/verify/exchange',
    atRoute,
  ],
  [
    'the checkbox endpoint',
    () => server.publicUrl,
    '/api/checkbox/resolve',
    '/api/checkbox/resolve',
    atRoute,
  ],
  [
    'the hosted pages',
    () => server.publicUrl,
    '/verify/start',
    '/verify/session/ses_unknown/consent',
    atRoute,
  ],
  ['the admin listener', () => server.adminUrl, '/ops', '/trpc/partners.create', everyAttack],
  ['the health listener', () => healthUrl, '/metrics', '/metrics', everyAttack],
] as const;

/** Gauges of running work, by name and labels. */
async function busyGauges(): Promise<Record<string, number>> {
  const answer = await fetch(`${healthUrl}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } });
  const lines = (await answer.text()).matchAll(
    /^(svc_requests_in_flight\S*|svc_database_connections\{state="in_use"\}) (\d+)$/gm,
  );
  return Object.fromEntries([...lines].map(([, name, value]) => [name, Number(value)]));
}

/** Exchanges a code. A 503 of a busy machine is retried (interface 7.6). @returns the last status */
async function exchange(): Promise<number> {
  const code = await completeSession(server, partner);
  for (let tries = 1; ; tries += 1) {
    const answer = await exchangeCode(server, partner, code);
    await answer.body?.cancel();
    if (answer.status !== 503 || tries === mostTries) return answer.status;
    await sleep(500);
  }
}

describe.each(targets)('an attack on %s', (_, url, reads, writes, names) => {
  it.each(names)(
    'does not stop exchanges, and leaves no connection or request counted as open, if it consists of %s',
    async (name) => {
      const attacker = createAttacker(url());
      onTestFinished(attacker.end);
      await attacks[name]?.(attacker, name.startsWith('one request') ? reads : writes);
      expect(await exchange()).toBe(200);
      attacker.end();
      await expect
        .poll(async () => Object.entries(await busyGauges()).filter(([, value]) => value > 0))
        .toEqual([]);
      expect(Object.keys(await busyGauges()).length).toBeGreaterThan(1);
      expect(await exchange()).toBe(200);
      expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
    },
  );
});
