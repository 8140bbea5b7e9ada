import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';

/** An event that the partner's server has received with a right `X-SVC-Signature` (interface 5.5). */
export interface Received {
  at: Date;
  event: string;
  body: Record<string, unknown>;
}

/** The receiver keeps the newest events only. */
const mostKeptEvents = 100;
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

  async function listen(wantedPort: number): Promise<FastifyInstance> {
    const app = fastify({ bodyLimit: mostBodyBytes, forceCloseConnections: true });
    app.removeAllContentTypeParsers();
    // The signature covers the bytes of the body.
    app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, raw: Buffer) => raw);
    app.post<{ Body?: Buffer }>('/*', async ({ body: raw = Buffer.alloc(0), headers }, reply) => {
      if (!isSigned(raw, headers['x-svc-signature'], signingSecret())) return reply.status(401).send();
      // The signature shows that the service sent the body, so it is JSON.
      const body = JSON.parse(raw.toString()) as Record<string, unknown>;
      // An event can arrive more than once, for example after a timeout.
      const isRepeated = events.some((earlier) => earlier.body['event_id'] === body['event_id']);
      if (!isRepeated) events.push({ at: new Date(), event: String(body['event']), body });
      if (events.length > mostKeptEvents) events.shift();
      return reply.status(204).send();
    });
    await app.listen({ host: '127.0.0.1', port: wantedPort });
    return app;
  }
  // Port 0 means any free port.
  const app = await listen(port).catch(() => listen(0));
  const { port: actualPort } = app.server.address() as AddressInfo;

  return {
    port: actualPort,
    /** Returns the events that arrived since a time, in the order of arrival. */
    since: (at: Date): Received[] => events.filter((event) => event.at >= at),
    close: (): Promise<void> => app.close(),
  };
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
