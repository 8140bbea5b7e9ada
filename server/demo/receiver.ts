import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An event that the partner's server has received with a right `X-SVC-Signature` (interface 5.5). */
export interface Received {
  at: Date;
  event: string;
  body: Record<string, unknown>;
}

/** The receiver keeps the newest events only. */
const mostKeptEvents = 100;
/** The connection of a longer body is closed. */
const mostBodyBytes = 256 * 1024;

function isSigned(raw: Buffer, header: unknown, secret: string | undefined): boolean {
  if (secret === undefined || typeof header !== 'string') return false;
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
  const sent = Buffer.from(header);
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/**
 * Starts the webhook receiver of the demo's partner on a separate port.
 * @param port the port of the last run, so that the registered URL stays valid. If it is taken, another port is used
 */
export async function startReceiver(port: number, signingSecret: () => string | undefined) {
  const events: Received[] = [];

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostBodyBytes) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      if (!isSigned(raw, request.headers['x-svc-signature'], signingSecret())) {
        response.writeHead(401).end();
        return;
      }
      // The signature shows that the service sent the body, so it is JSON.
      const body = JSON.parse(raw.toString()) as Record<string, unknown>;
      // An event can arrive more than once, for example after a timeout.
      const isRepeated = events.some((earlier) => earlier.body['event_id'] === body['event_id']);
      if (!isRepeated) events.push({ at: new Date(), event: String(body['event']), body });
      if (events.length > mostKeptEvents) events.shift();
      response.writeHead(204).end();
    });
  });
  /** Opens the port. @throws if it is taken, because `once` rejects after an `error` event */
  async function listen(wantedPort: number): Promise<void> {
    server.listen(wantedPort, '127.0.0.1');
    await once(server, 'listening');
  }
  // Port 0 means any free port.
  await listen(port).catch(() => listen(0));
  const { port: actualPort } = server.address() as AddressInfo;

  return {
    port: actualPort,
    /** Returns the events that arrived since a time, in the order of arrival. */
    since: (at: Date): Received[] => events.filter((event) => event.at >= at),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
