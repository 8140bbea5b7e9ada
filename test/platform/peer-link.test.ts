import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPeerLink, peerRoutes, type Receive } from '../../server/platform/http/endpoints/peer-link.ts';
import { createHttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { within } from '../harness/time-limits.ts';

const wait = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));

/**
 * A private listener with this process behind it, and a link to it. Messages wait for `hold` before they are handled.
 */
async function open(receive: Receive, hold?: () => Promise<unknown>) {
  const app = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  if (hold) app.addHook('preHandler', async () => void (await hold()));
  await app.register(peerRoutes(receive));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const link = createPeerLink();
  onTestFinished(async () => {
    link.close();
    app.server.closeAllConnections();
    await app.close();
  });
  return { app, send: (body: string) => link.send({ address: `127.0.0.1:${port}` }, body) };
}

describe('a message to another process', () => {
  it('is answered, whether messages are sent in sequence or simultaneously', async () => {
    const { send } = await open(async (body) => body.toUpperCase());
    expect([await send('a'), await send('b')]).toEqual(['A', 'B']);
    expect(await Promise.all(['c', 'd', 'e'].map(send))).toEqual(['C', 'D', 'E']);
    expect(await send('ä'.repeat(500_000))).toBe('Ä'.repeat(500_000));
  });

  it('is read only with few other large ones; above these, it gets 503 before its body has arrived', async () => {
    const { app, send } = await open(async (body) => body);
    const { port } = app.server.address() as AddressInfo;
    const head =
      'POST /messages HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 4000000\r\n\r\n';
    const sockets = Array.from({ length: 9 }, () => connect(port, '127.0.0.1'));
    let refused = '';
    for (const socket of sockets) {
      socket
        .on('error', () => undefined)
        .on('data', (chunk) => {
          refused += String(chunk);
        });
      socket.write(head);
    }
    await expect.poll(() => refused).toMatch(/^HTTP\/1.1 503 /);
    expect(refused.match(/HTTP/g)).toHaveLength(1);
    expect(await send('small')).toBe('small');
    for (const socket of sockets) socket.destroy();
  });

  it('waits more than a second for its answer while the other process sends signs of life', async () => {
    const { send } = await open((body) => (body === 'late' ? wait(1_300, body) : Promise.resolve(body)));
    await send('first');
    expect(await send('late')).toBe('late');
  });

  it('throws, and closes its connection, if the other process sends neither an answer nor a sign of life', async () => {
    const closed: boolean[] = [];
    const receive: Receive = async (_body, isClosed) => {
      closed.push(isClosed());
      return 'seen';
    };
    const { send } = await open(receive, () => wait(2_000, undefined));
    await expect(send('a')).rejects.toThrow('another process does not answer');
    await expect.poll(() => closed, { timeout: within(5_000) }).toEqual([true]);
  });

  it('throws if the other process answers 401 or has ended', async () => {
    const { send, app } = await open(async () => 401);
    await expect(send('a')).rejects.toThrow('another process answers 401');
    app.server.closeAllConnections();
    await app.close();
    await expect(send('a')).rejects.toThrow();
  });
});
