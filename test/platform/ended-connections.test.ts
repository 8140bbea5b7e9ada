import { once } from 'node:events';
import { createServer as createTcpServer, connect as dial, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, isUnavailable } from '../../server/platform/database/connect.ts';
import { freshDatabase } from '../harness/database.ts';
import { certificate, certificateKey } from '../webhooks/certificate.ts';

/** A proxy before the engine. `cut` closes every connection at once, as a killed server does; new ones are accepted. */
async function startForwarder(target: number, create: (forward: (from: Socket) => void) => Server) {
  const sockets = new Set<Socket>();
  const server = create((from) => {
    const to = dial(target, '127.0.0.1');
    sockets.add(from);
    from.on('error', () => undefined).pipe(to);
    to.on('error', () => undefined).pipe(from);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  return { port: (server.address() as { port: number }).port, cut };
}

const tls = { tls: 'true', tlsAllowInvalidCertificates: 'true', tlsAllowInvalidHostnames: 'true' };

describe('operations that start while their connections close', () => {
  it.each([
    ['TCP', createTcpServer, {}],
    ['TLS', createTlsServer.bind(undefined, { key: certificateKey, cert: certificate }), tls],
  ] as const)(
    'either return a result or fail as unavailable within the time limit, over %s',
    async (_, create, options) => {
      const { uri } = await freshDatabase();
      const url = new URL(uri);
      const forwarder = await startForwarder(Number(url.port), create);
      url.port = String(forwarder.port);
      for (const [name, value] of Object.entries({ directConnection: 'true', ...options }))
        url.searchParams.set(name, value);
      const { db, client } = await connect({ uri: url.href, embedded: false, appName: 'test' });
      onTestFinished(() => client.close());
      const things = db.collection('things');
      await Promise.all(Array.from({ length: 8 }, () => things.findOne()));

      forwarder.cut();
      const operations: Promise<unknown>[] = [];
      // One operation in every turn of the event loop, so that some use a socket that has ended but is not closed yet.
      for (const until = performance.now() + 60; performance.now() < until; await nextTurn())
        operations.push(things.findOne());
      expect(operations.length).toBeGreaterThan(10);
      const outcomes = await Promise.allSettled(operations);
      const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(errors.every(isUnavailable)).toBe(true);
    },
  );
});
