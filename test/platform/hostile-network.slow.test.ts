import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { freePort } from '../harness/free-port.ts';
import { type Code, createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';

let server: TestServer;
let partner: TestPartner;
let healthUrl: string;

beforeAll(async () => {
  const healthPort = String(await freePort());
  healthUrl = `http://127.0.0.1:${healthPort}`;
  const pace = { beginWithin: within(2_500), answerWithin: within(4_500) };
  server = await startTestServer({ env: { SVC_HEALTH_PORT: healthPort }, replacements: { pace } });
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
  };
  return {
    /** Opens one after the other: the listener accepts one at a time, and its queue has 511 places. */
    async many(count: number) {
      while (sockets.length < count) await open();
      return sockets;
    },
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

/** The attacks. Their connections, each for the next path, stay open until the test has exchanged a code. */
const attacks: Record<string, (attacker: Attacker, next: () => string) => Promise<void>> = {
  async 'pipelined requests and resets'({ many }, next) {
    for (const [n, socket] of (await many(40)).entries()) {
      socket.write(whole(next()).repeat(16));
      await sleep(n % 4);
      socket.resetAndDestroy();
    }
  },
  async 'pipelined requests and half-closed connections'({ many }, next) {
    for (const socket of await many(12)) socket.end(whole(next()).repeat(16));
  },
  async 'pipelined requests whose answers are not read'({ many }, next) {
    for (const socket of await many(12)) socket.pause().write(whole(next()).repeat(120));
  },
  async 'one request after another whose answers are not read'({ many }, next) {
    const sockets = await many(12);
    for (const socket of sockets) socket.pause();
    for (let n = 0; n < 50; n += 1) {
      for (const socket of sockets) socket.write(head('GET', next()));
      await sleep(1);
    }
  },
  async 'heads without bodies'({ many }, next) {
    for (const socket of await many(600)) socket.write(head('POST', next(), bodyOf(100)));
  },
  async 'heads that do not end'({ many }, next) {
    for (const socket of await many(600)) socket.write(`POST ${next()} HTTP/1.1\r\nHost: loc`);
  },
  async 'slow bodies'({ many }, next) {
    for (const socket of await many(300)) {
      socket.write(head('POST', next(), bodyOf(1_000)));
      const drip = setInterval(() => socket.write('a'), 50);
      socket.once('close', () => clearInterval(drip));
    }
  },
  async 'resets within bodies'({ many }, next) {
    for (const socket of await many(52)) {
      socket.write(`${head('POST', next(), bodyOf(1_000))}grant_type=`);
      await sleep(1);
      socket.resetAndDestroy();
    }
  },
};

/** The listeners, with the paths that are read and those that are written to. */
const targets: [name: string, url: () => string, reads: string[], writes: string[]][] = [
  [
    'the public listener',
    () => server.publicUrl,
    ['/api/oauth/userinfo', '/api/checkbox/resolve', '/verify/start'],
    [
      ...['/api/oauth/token', '/api/integrations/storefront/verify/exchange', '/api/checkbox/resolve'],
      '/verify/session/ses_unknown/consent',
    ],
  ],
  ['the admin listener', () => server.adminUrl, ['/ops'], ['/trpc/partners.create']],
  ['the health listener', () => healthUrl, ['/metrics'], ['/metrics']],
];

/** Gauges of running work, by name and labels. */
async function busyGauges(): Promise<Record<string, number>> {
  const answer = await fetch(`${healthUrl}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } });
  const lines = (await answer.text()).matchAll(
    /^(svc_requests_in_flight\S*|svc_database_connections\{state="in_use"\}) (\d+)$/gm,
  );
  return Object.fromEntries([...lines].map(([, name, value]) => [name, Number(value)]));
}

/** Exchanges a code. @returns the status, and its description if it is an error */
async function exchange(code: Code): Promise<string> {
  const answer = await exchangeCode(server, partner, code);
  const { error_description: description = '' } = (await answer.json()) as { error_description?: string };
  return `${answer.status} ${description}`.trimEnd();
}

const overload = '503 Too many requests are in flight; try again shortly';
const retryAfterMs = 1_000;
const mostRefusals = 5;

/** Exchanges a code, again after each refusal for overload (interface 7.6). @returns the first other answer */
async function exchangeAfterOverload(code: Code): Promise<string> {
  for (let refusals = 0; ; refusals += 1) {
    const answer = await exchange(code);
    if (answer !== overload || refusals === mostRefusals) return answer;
    await sleep(retryAfterMs);
  }
}

describe.each(targets)('an attack on %s', (_, url, reads, writes) => {
  it.each(Object.keys(attacks))(
    'does not stop exchanges, and leaves no connection or request counted as open, if it consists of %s',
    async (name) => {
      const codes = [await completeSession(server, partner), await completeSession(server, partner)] as const;
      const attacker = createAttacker(url());
      onTestFinished(attacker.end);
      const paths = name.startsWith('one request') ? reads : writes;
      let turn = 0;
      await attacks[name]?.(attacker, () => paths[turn++ % paths.length] ?? '');
      // These can take all places of callers whose credentials are not checked yet.
      const canOverload = name.startsWith('pipelined') && url() === server.publicUrl;
      expect(await (canOverload ? exchangeAfterOverload : exchange)(codes[0])).toBe('200');
      attacker.end();
      await expect
        .poll(async () => Object.entries(await busyGauges()).filter(([, value]) => value > 0))
        .toEqual([]);
      expect(Object.keys(await busyGauges()).length).toBeGreaterThan(1);
      expect(await exchange(codes[1])).toBe('200');
      expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
    },
  );
});
